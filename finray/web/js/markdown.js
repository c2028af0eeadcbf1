// The Markdown that the service renders evidence as: bold text, and tables whose rows begin and end with "|". A character
// of the filing that would be read otherwise has a backslash before it.

/** @typedef {{heads: string[], rows: string[][]}} Table */
/** @typedef {{text: string, bold: boolean}[]} Line */

/** @param {string} markdown @returns {(Table|Line)[]} */
export function readMarkdown(markdown) {
  /** @type {(Table|Line)[]} */
  const found = [];
  /** @type {Table|null} */
  let table = null;
  for (const line of markdown.split("\n")) {
    if (!line.startsWith("|")) {
      table = null;
      if (line.trim()) found.push(readLine(line));
    } else if (!table) {
      table = { heads: cellsOf(line), rows: [] };
      found.push(table);
    } else if (!/^\|[-:|]+\|$/.test(line)) table.rows.push(cellsOf(line));
  }
  return found;
}

/** @param {string} line */
function cellsOf(line) {
  const cells = [""];
  const inside = line.slice(1, line.endsWith("|") ? -1 : undefined);
  for (let i = 0; i < inside.length; i += 1) {
    if (inside[i] === "|") cells.push("");
    else {
      if (inside[i] === "\\" && i + 1 < inside.length) i += 1;
      cells[cells.length - 1] += inside[i];
    }
  }
  return cells;
}

/** @param {string} line @returns {Line} */
const readLine = (line) =>
  line
    .split("**")
    .map((text, i) => ({ text: text.replace(/\\([\\|`<])/g, "$1"), bold: i % 2 === 1 }))
    .filter(({ text }) => text);
