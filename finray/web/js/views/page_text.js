// The text of a page with marks on it. What reads as rows of a table is laid out as one.

import { h } from "../dom.js";
import { groups, readRows } from "../rows.js";

/** @typedef {{start: number, end: number, kind: "passage"|"figure"|"focus"}} Mark A range of code points. */
/** @typedef {import("../rows.js").Piece} Piece */
/** @typedef {import("../rows.js").Row} Row */

/** @param {string} text @param {Mark[]} marks @returns {HTMLElement} */
export function pageText(text, marks) {
  const blocks = groups(readRows(text)).map((rows) =>
    rows.length > 1 ? table(rows, marks) : rows.map((row) => line(row, marks)),
  );
  return h("div", { class: "page-text" }, blocks);
}

/** @param {Row} row @param {Mark[]} marks */
const line = (row, marks) =>
  h(
    "p",
    {},
    row.cells.map((cell, i) => [i > 0 && "  ", pieces(cell, marks)]),
  );

/** @param {Row[]} rows @param {Mark[]} marks */
function table(rows, marks) {
  const width = Math.max(...rows.map((row) => row.cells.length));
  const body = rows.map((row) => {
    if (row.cells.length === 1)
      return h("tr", {}, h("td", { class: "heading", colspan: width }, pieces(row.cells[0] ?? [], marks)));
    const blank = Array.from({ length: width - row.cells.length }, () => h("td"));
    const [first, ...others] = row.cells.map((cell) => h("td", {}, pieces(cell, marks)));
    return h("tr", {}, startsWithDate(row) ? [blank, first, others] : [first, blank, others]);
  });
  return h(
    "div",
    { class: "table", tabIndex: 0, role: "group", "aria-label": "Table" },
    h("table", {}, h("tbody", {}, body)),
  );
}

/** The row of a table's head has nothing over the labels. @param {Row} row */
const startsWithDate = (row) => /^[^\d]*\d{0,2},? ?(19|20)\d\d$/.test(row.cells[0]?.[0]?.text.trim() ?? "");

/** @param {Piece[]} cell @param {Mark[]} marks */
const pieces = (cell, marks) => cell.map((piece, i) => [i > 0 && " ", marked(piece, marks)]);

/** The text of a piece, cut where marks begin and end. @param {Piece} piece @param {Mark[]} marks */
function marked(piece, marks) {
  const letters = Array.from(piece.text);
  const end = piece.at + letters.length;
  const here = marks.filter((mark) => mark.start < end && mark.end > piece.at);
  if (!here.length) return withoutLeaders(piece.text);
  const cuts = new Set([piece.at, end]);
  for (const mark of here) for (const cut of [mark.start, mark.end]) if (cut > piece.at && cut < end) cuts.add(cut);
  const places = [...cuts].sort((a, b) => a - b);
  return places.slice(0, -1).map((from, i) => {
    const to = places[i + 1] ?? end;
    const over = here.filter((mark) => mark.start <= from && mark.end >= to);
    const part = letters.slice(from - piece.at, to - piece.at).join("");
    if (!over.length) return i === places.length - 2 ? withoutLeaders(part) : part;
    const kind = ["focus", "figure", "passage"].find((each) => over.some((mark) => mark.kind === each));
    return h("mark", { class: `on-${kind}` }, withoutLeaders(part));
  });
}

/** Rows of dots lead the eye on paper; here they would take the room of a column. @param {string} text */
const withoutLeaders = (text) => text.replace(/(?: ?\.){4,}\s*$/, "");

/**
 * Where the figures of cells stand in the text: after the cell's label, the first that reads as printed.
 *
 * @param {string} text
 * @param {import("../types.js").Cell[]} cells
 * @param {import("../types.js").Cell} [focus]
 * @returns {Mark[]}
 */
export function cellMarks(text, cells, focus) {
  return cells.flatMap((cell) => {
    const label = text.indexOf(cell.label);
    const at = label < 0 ? -1 : wholeAt(text, bare(cell.text), label + cell.label.length);
    if (at < 0) return [];
    const start = Array.from(text.slice(0, at)).length;
    const kind = focus?.name === cell.name ? /** @type {const} */ ("focus") : /** @type {const} */ ("figure");
    return [{ start, end: start + Array.from(bare(cell.text)).length, kind }];
  });
}

/** Without a currency sign, which may stand apart. @param {string} figure */
const bare = (figure) => figure.replace(/^[\s$€£¥]+/, "");

/** Where `figure` stands as a whole number, not within another. @param {string} text @param {string} figure @param {number} from */
function wholeAt(text, figure, from) {
  for (let at = text.indexOf(figure, from); at >= 0 && at < from + 2000; at = text.indexOf(figure, at + 1)) {
    const around = (text[at - 1] ?? "") + (text[at + figure.length] ?? "");
    if (!/\d/.test(around)) return at;
  }
  return -1;
}
