// The arithmetic behind an answer, in the two ways a person reads it: with names, and with numbers.

import { number } from "./format.js";

/** @typedef {import("./types.js").Cell} Cell */
/** @typedef {{text: string, cell?: Cell}} Token */

/** @param {string} program @param {Cell[]} cells @returns {Token[]} The formula, cut at the names of cells. */
export function tokens(program, cells) {
  const formula = program.split(/\s+where\s/)[0] ?? "";
  const byName = new Map(cells.map((cell) => [cell.name, cell]));
  return formula
    .split(/([\p{L}_][\p{L}\p{N}_]*)/u)
    .filter(Boolean)
    .map((text) => ({ text, cell: byName.get(text) }));
}

/** "revenue_fy2019" -> "revenue FY2019" @param {string} name */
export const readable = (name) =>
  name
    .replace(/_(fy|q[1-4]|h[12])(_?\d)/gi, (_, unit, rest) => ` ${unit.toUpperCase()}${rest.replace("_", " ")}`)
    .replaceAll("_", " ");

/**
 * The formula with the numbers put in, all in one scale. Empty where that would say nothing new.
 *
 * @param {Token[]} formula
 * @returns {{text: string, scale: string}}
 */
export function substituted(formula) {
  const values = formula.flatMap((token) => (token.cell ? [token.cell.value] : []));
  if (values.length < 2 || formula.some((token) => token.text.includes("\n"))) return { text: "", scale: "" };
  const least = Math.min(...values.map(Math.abs).filter(Boolean));
  const [divisor, scale] =
    least >= 1e6 ? [1e6, "Figures in millions"] : least >= 1e5 ? [1e3, "Figures in thousands"] : [1, ""];
  const text = formula
    .map((token) => {
      if (!token.cell) return token.text;
      const shown = number(token.cell.value / divisor, 3);
      return token.cell.value < 0 ? `(${shown})` : shown;
    })
    .join("");
  return { text, scale };
}

/** One name alone needs no explaining. @param {Token[]} formula */
export const isLookup = (formula) => formula.length === 1 && formula[0]?.cell !== undefined;

/** Signs of arithmetic as they are printed. @param {string} text */
export const typeset = (text) => text.replaceAll("*", "×").replaceAll(" - ", " − ").replaceAll(" / ", " ÷ ");
