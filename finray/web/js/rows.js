// Rows of tables in the text of a page. HTML filings have a row on a line, its cells divided by " | ". Text of PDF pages
// has every cell on a line of its own: lines of nothing but figures then belong to the words before them.

/** @typedef {{text: string, at: number}} Piece Part of the text; `at` counts code points. */
/** @typedef {{cells: Piece[][]}} Row One cell is a line of prose or a heading. */

const DIVIDER = " | ";
const FIGURES = /^[\s$€£¥()%.,\d—–-]+$/;
const LONGEST_HEADING = 90;
const MOST_HEADINGS = 2;

/** @param {string} text @returns {Row[]} */
export function readRows(text) {
  /** @type {Row[]} */
  const rows = [];
  let at = 0;
  const hasRows = text.includes(DIVIDER);
  for (const line of text.split("\n")) {
    const piece = { text: line, at };
    at += Array.from(line).length + 1;
    const last = rows.at(-1);
    if (!line.trim()) continue;
    if (line.includes(DIVIDER)) rows.push({ cells: divided(piece).map((cell) => [cell]) });
    else if (last && !hasRows && FIGURES.test(line)) last.cells = withFigures(last.cells, piece);
    else rows.push({ cells: [[piece]] });
  }
  return rows;
}

/** @param {Piece} line @returns {Piece[]} */
function divided(line) {
  let at = line.at;
  return line.text.split(DIVIDER).map((text) => {
    const piece = { text, at };
    at += Array.from(text).length + DIVIDER.length;
    return piece;
  });
}

/** A currency sign belongs to the figure after it, "%" and ")" to the one before. @param {Piece[][]} cells @param {Piece} line */
function withFigures(cells, line) {
  const next = [...cells];
  for (const match of line.text.matchAll(/\S+/g)) {
    const piece = { text: match[0], at: line.at + Array.from(line.text.slice(0, match.index)).length };
    const last = next.at(-1) ?? [];
    const open = next.length > 1 && /^[$€£¥(]+$/.test(last.map(({ text }) => text).join(""));
    if (next.length > 1 && (open || /^[)%]+$/.test(piece.text))) next[next.length - 1] = [...last, piece];
    else next.push([piece]);
  }
  return next;
}

/** Neighbors that make a table together, with the headings between them; everything else stands alone. */
/** @param {Row[]} rows @returns {Row[][]} */
export function groups(rows) {
  /** @type {Row[][]} */
  const found = [];
  for (let i = 0; i < rows.length;) {
    const end = isTabular(rows[i]) ? endOfTable(rows, i) : i + 1;
    found.push(rows.slice(i, end));
    i = end;
  }
  return found;
}

/** @param {Row[]} rows @param {number} start */
function endOfTable(rows, start) {
  let end = start + 1;
  for (let i = end; i < rows.length && i - end <= MOST_HEADINGS; i += 1) {
    if (isTabular(rows[i])) end = i + 1;
    else if ((rows[i]?.cells[0]?.[0]?.text.length ?? 0) > LONGEST_HEADING) break;
  }
  return end;
}

/** @param {Row|undefined} row */
const isTabular = (row) => (row?.cells.length ?? 0) > 1;
