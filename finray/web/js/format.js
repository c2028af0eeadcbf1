// Numbers, dates and names as people write them.

/** @typedef {import("./types.js").Cell} Cell */

const SCALES = /** @type {[number, string][]} */ ([
  [1e12, "trillion"],
  [1e9, "billion"],
  [1e6, "million"],
]);
const MONEY = /^([A-Z]{3})(\/share)?$/;
const STATEMENTS = new Map([
  ["income", "income statement"],
  ["balance", "balance sheet"],
  ["cash_flow", "cash flow statement"],
  ["comprehensive_income", "statement of comprehensive income"],
  ["equity", "statement of equity"],
]);
const PLACES = new Map([
  ["cover", "cover"],
  ["contents", "table of contents"],
  ["signatures", "signatures"],
  ["exhibit_index", "exhibit index"],
  ["exhibit", "exhibit"],
]);

/** @param {number} value @param {number} [decimals] */
export const number = (value, decimals = 2) =>
  value.toLocaleString("en-US", { maximumFractionDigits: decimals }).replace("-", "−");

/** A number as short as it can be said: "6.489 billion". @param {number} value */
export function shortNumber(value) {
  const [scale, word] = SCALES.find(([least]) => Math.abs(value) >= least) ?? [1, ""];
  return word ? `${number(value / scale, 3)} ${word}` : number(value, 4);
}

/** The exact value with its unit, "96,143,000 USD". @param {number} value @param {string|null} unit */
export function exact(value, unit) {
  const text = number(value, Math.abs(value) < 1000 ? 6 : 2);
  if (unit === "percent") return `${text}%`;
  if (unit === "ratio" || !unit) return text;
  return `${text} ${unit.replace("/share", " a share")}`;
}

/** @param {string|null} unit */
export function unitInWords(unit) {
  if (!unit) return "";
  const money = MONEY.exec(unit);
  const named = { percent: "percent", ratio: "ratio", shares: "shares" };
  if (unit in named) return named[/** @type {keyof typeof named} */ (unit)];
  return money ? `${money[1] === "USD" ? "US dollars" : money[1]}${money[2] ? " a share" : ""}` : unit;
}

/** @param {string} iso "2019-12-31" */
export function day(iso) {
  const date = new Date(`${iso}T00:00:00Z`);
  return Number.isNaN(date.getTime())
    ? iso
    : date.toLocaleDateString("en-US", { year: "numeric", month: "short", day: "numeric", timeZone: "UTC" });
}

/** @param {Cell} cell */
export function period(cell) {
  if (!cell.period_end) return "";
  if (cell.months === 0) return `at ${day(cell.period_end)}`;
  if (!cell.months) return day(cell.period_end);
  const length = cell.months === 12 ? "year" : `${cell.months} months`;
  return `${length} to ${day(cell.period_end)}`;
}

/** @param {number} value */
export function seconds(value) {
  if (value < 0.01) return "<0.01 s";
  return value < 10 ? `${value.toFixed(2)} s` : `${value.toFixed(1)} s`;
}

/** What kind of page it is: "Item 8 · balance sheet". */
/** @param {{item?: string|null, statement?: string|null, place?: string|null}} page */
export function kindOfPage(page) {
  const parts = [page.item ? itemName(page.item) : "", named(STATEMENTS, page.statement), named(PLACES, page.place)];
  return parts.filter(Boolean).join(" · ");
}

/** "7" of annual reports, "P2-1A" of quarterly ones. @param {string} item */
function itemName(item) {
  const [, part, rest] = /^P([12])-(.+)$/.exec(item) ?? [];
  return part ? `Part ${"I".repeat(Number(part))}, Item ${rest}` : `Item ${item}`;
}

/** @param {string|null|undefined} statement */
export const statementName = (statement) => named(STATEMENTS, statement);

/** @param {Map<string, string>} names @param {string|null|undefined} value */
const named = (names, value) => (value ? (names.get(value) ?? value.replaceAll("_", " ")) : "");

/** @param {number} count @param {string} one @param {string} [many] */
export const plural = (count, one, many = `${one}s`) => `${number(count)} ${count === 1 ? one : many}`;

/** How sure an answer is, in words: what was measured for figures of develop, FinQA and FinanceBench (n 241). At .9 and
 * more .90 of 79 were right, from .7 to .9 .77 of 137, below .60 of 25. @param {number} confidence */
export function confidenceInWords(confidence) {
  if (confidence >= 0.9) return "Likely right: 9 of 10 such figures are";
  if (confidence >= 0.7) return "May well be right: 3 of 4 such figures are";
  if (confidence >= 0.5) return "May be right";
  return "Doubtful";
}
