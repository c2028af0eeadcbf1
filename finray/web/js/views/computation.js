// The program of an answer and the printed figures it was computed from, each with a link to its cell.

import { h, icon } from "../dom.js";
import { exact, number, period, shortNumber, statementName } from "../format.js";
import { isLookup, readable, substituted, tokens, typeset } from "../program.js";

/** @typedef {import("../types.js").Cell} Cell */
/** @typedef {import("../places.js").Places} Places */
/** @typedef {(place: import("../types.js").Place) => void} Open */

/** @param {import("../types.js").Prediction} prediction @param {Places} places @param {Open} open */
export function computationView(prediction, places, open) {
  const cells = prediction.operands ?? [];
  if (prediction.grid || (!cells.length && !prediction.program)) return null; // a grid links its cells itself
  const formula = tokens(prediction.program ?? "", cells);
  const lookup = isLookup(formula) || !prediction.program;
  return h(
    "section",
    { class: "card computation", "aria-labelledby": "computation-title" },
    h("h3", { id: "computation-title" }, lookup ? "Where the figure comes from" : "How it was computed"),
    !lookup && formulaView(formula, prediction, places, open),
    cells.length > 0 &&
      h(
        "ul",
        { class: "cells" },
        cells.map((cell) => cellView(cell, places, open, lookup)),
      ),
    !cells.length && h("pre", { class: "formula" }, prediction.program),
  );
}

/**
 * @param {import("../program.js").Token[]} formula
 * @param {import("../types.js").Prediction} prediction
 * @param {Places} places
 * @param {Open} open
 */
function formulaView(formula, prediction, places, open) {
  if (!prediction.operands?.length) return null;
  const parts = formula.map(({ text, cell }) =>
    cell
      ? h(
          "button",
          {
            type: "button",
            class: "token",
            title: `${cell.label}: ${cell.text}`,
            onclick: () => open(places.ofCell(cell)),
          },
          readable(text),
        )
      : typeset(text),
  );
  const numbers = substituted(formula);
  const result =
    prediction.value === null ? "" : ` = ${exact(Number(prediction.value.toPrecision(6)), prediction.unit)}`;
  return h(
    "div",
    { class: "program" },
    h("p", { class: "formula" }, parts),
    numbers.text && h("p", { class: "formula numbers" }, typeset(numbers.text), h("span", { class: "equals" }, result)),
    numbers.scale && h("p", { class: "dim scale" }, numbers.scale),
  );
}

/** @param {Cell} cell @param {Places} places @param {Open} open @param {boolean} alone */
function cellView(cell, places, open, alone) {
  const where = [
    cell.section && cell.section !== cell.label ? cell.section.replace(/:$/, "") : "",
    statementName(cell.statement),
  ]
    .filter(Boolean)
    .join(", ");
  const place = places.ofCell(cell);
  return h(
    "li",
    { class: "cell" },
    h(
      "div",
      { class: "what" },
      h("strong", {}, cell.label),
      where && h("span", { class: "dim" }, where),
      h("span", { class: "dim" }, period(cell)),
      !alone && h("code", { class: "name" }, readable(cell.name)),
    ),
    h(
      "div",
      { class: "figures" },
      h("span", { class: "value" }, shortNumber(cell.value)),
      h("span", { class: "dim" }, "printed ", h("span", { class: "printed", title: number(cell.value, 4) }, cell.text)),
    ),
    h("button", { type: "button", class: "cite", onclick: () => open(place) }, icon("page"), places.title(place)),
  );
}
