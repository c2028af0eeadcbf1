// The figures of a question over several companies, periods or items, each with a link to the cell that prints it.

import { h } from "../dom.js";

/** @typedef {import("../types.js").Prediction} Prediction */
/** @typedef {import("../types.js").GridCell} GridCell */
/** @typedef {import("../places.js").Places} Places */
/** @typedef {(place: import("../types.js").Place) => void} Open */

/** @param {Prediction} prediction @param {Places} places @param {Open} open */
export function gridView(prediction, places, open) {
  const { grid } = prediction;
  if (!grid) return null;
  const head = ["", ...grid.periods, "Row in the filing"].map((text) => h("th", { scope: "col" }, text));
  const rows = grid.companies.flatMap((company) =>
    grid.items.map((item) => {
      const cells = grid.cells.filter((cell) => cell.company === company && cell.item === item);
      const printed = [...new Set(cells.map(({ row }) => row ?? "").filter(Boolean))];
      return h(
        "tr",
        {},
        h("th", { scope: "row" }, `${company}, ${item}`),
        cells.map((cell) => figure(cell, prediction, places, open)),
        h("td", { class: "dim" }, printed.join("; ")),
      );
    }),
  );
  const reasons = [...new Set(grid.cells.filter(({ reason }) => reason).map(missing))];
  return h(
    "div",
    { class: "grid-answer" },
    h(
      "div",
      { class: "table", tabIndex: 0, role: "group", "aria-label": "Figures" },
      h("table", {}, h("thead", {}, h("tr", {}, head)), h("tbody", {}, rows)),
    ),
    grid.cells.some((cell) => cell.other_row) &&
      h("p", { class: "dim" }, "† This row has another name and may be another line."),
    reasons.length > 0 &&
      prediction.status === "answered" &&
      h(
        "ul",
        { class: "dim" },
        reasons.map((reason) => h("li", {}, reason)),
      ),
  );
}

/** @param {GridCell} cell @param {Prediction} prediction @param {Places} places @param {Open} open */
function figure(cell, prediction, places, open) {
  if (cell.value === undefined) return h("td", { class: "absent", title: missing(cell) }, "no figure");
  const source = prediction.operands?.find(({ name }) => name === cell.operands?.[0]);
  const text = `${cell.text}${cell.other_row ? " †" : ""}`;
  if (!source) return h("td", {}, text);
  return h(
    "td",
    {},
    h(
      "button",
      { type: "button", class: "link", title: places.title(places.ofCell(source)), onclick: () => open(places.ofCell(source)) },
      text,
    ),
  );
}

/** @param {GridCell} cell */
const missing = ({ company, item, period, reason }) => `No figure for ${item} of ${company}, ${period}: ${reason}.`;
