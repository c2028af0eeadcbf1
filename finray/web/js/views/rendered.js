// Evidence as the service rendered it: tables with their titles, heads and units, and prose with its heading.

import { h } from "../dom.js";
import { readMarkdown } from "../markdown.js";

/** @typedef {import("../types.js").Block} Block */
/** @typedef {import("../types.js").Cell} Cell */

/** @param {Block[]} blocks @param {Cell[]} cells Marked where the tables print them. @returns {HTMLElement|null} */
export function renderedEvidence(blocks, cells) {
  if (!blocks.length) return null;
  return h(
    "section",
    { class: "rendered", "aria-label": "Evidence on this page" },
    h("h3", {}, "Evidence"),
    blocks.map((block) => readMarkdown(block.text).map((part) => ("rows" in part ? table(part, cells) : line(part)))),
    h("h3", {}, "Whole page"),
  );
}

/** @param {import("../markdown.js").Line} parts */
const line = (parts) =>
  h(
    "p",
    {},
    parts.map(({ text, bold }) => (bold ? h("strong", {}, text) : text)),
  );

/** @param {import("../markdown.js").Table} table @param {Cell[]} cells */
function table({ heads, rows }, cells) {
  const head = heads.map((text) => h("th", { scope: "col" }, text));
  return h(
    "div",
    { class: "table", tabIndex: 0, role: "group", "aria-label": "Table" },
    h("table", {}, h("thead", {}, h("tr", {}, head)), h("tbody", {}, rows.map((row) => tableRow(row, cells)))),
  );
}

/** @param {string[]} row @param {Cell[]} cells */
function tableRow([label = "", ...figures], cells) {
  if (!figures.some(Boolean)) return h("tr", {}, h("td", { class: "heading", colspan: figures.length + 1 }, label));
  const own = cells.filter((cell) => label.startsWith(cell.label));
  const shown = figures.map((text) => {
    const used = own.some((cell) => cell.text === text);
    return h("td", {}, used ? h("mark", { class: "on-figure" }, text) : text);
  });
  return h("tr", {}, h("td", {}, label), shown);
}
