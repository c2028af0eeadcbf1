// What can be chosen to narrow the filings down, as far as it goes with what is chosen already.

import { companyName } from "./names.js";
import { formName } from "./library.js";

/** @typedef {import("./types.js").Filters} Filters */
/** @typedef {import("./library.js").Library} Library */
/** @typedef {"companies"|"forms"|"fiscal_years"} Facet */
/** @typedef {{facet: Facet, value: string|number, label: string, hint: string, count: number}} Choice */

/** @returns {Filters} */
export const noFilters = () => ({ companies: [], forms: [], fiscal_years: [] });

/** @param {Filters} filters */
export const isNarrowed = ({ companies, forms, fiscal_years }) =>
  companies.length + forms.length + fiscal_years.length > 0;

/** @type {Record<Facet, string>} */
export const FACETS = { companies: "Company", forms: "Form", fiscal_years: "Fiscal year" };

/** @param {Library|null} library @param {Facet} facet @param {string|number} value */
export function labelOf(library, facet, value) {
  if (facet === "companies") return library?.company(String(value))?.name ?? companyName(String(value));
  return facet === "forms" ? formName(String(value)) : String(value);
}

/** Choices whose words begin like those of `typed`, grouped by facet. @param {Library} library @param {Filters} filters @param {string} typed @returns {Choice[]} */
export function choices(library, filters, typed) {
  const found = known(library, filters, typed);
  const company = typed.trim().slice(0, 200);
  if (found.length || library.complete || !company) return found;
  return [{ facet: "companies", value: company, label: company, hint: "as typed", count: 0 }];
}

/** @param {Library} library @param {Filters} filters @param {string} typed @returns {Choice[]} */
function known(library, filters, typed) {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  return /** @type {Facet[]} */ (Object.keys(FACETS)).flatMap((facet) =>
    counted(library, filters, facet).filter(({ value, label, hint }) => {
      const chosen = /** @type {(string|number)[]} */ (filters[facet]).includes(value);
      const text = ` ${label} ${hint} ${value} ${FACETS[facet]}`.toLowerCase();
      return !chosen && words.every((word) => text.includes(` ${word}`) || (word.length > 2 && text.includes(word)));
    }),
  );
}

/** @param {Library} library @param {Filters} filters @param {Facet} facet @returns {Choice[]} */
function counted(library, filters, facet) {
  const others = { ...filters, [facet]: [] };
  /** @type {Map<string|number, Choice>} */
  const found = new Map();
  for (const cover of library.matching(others)) {
    const company = library.company(cover.company);
    const value = { companies: company?.id ?? cover.company, forms: cover.form, fiscal_years: cover.fiscal_year }[
      facet
    ];
    if (!value) continue;
    const hint =
      facet === "companies"
        ? (company?.ticker ?? "")
        : facet === "forms" && formName(cover.form) !== cover.form
          ? cover.form
          : "";
    const known = found.get(value) ?? { facet, value, label: labelOf(library, facet, value), hint, count: 0 };
    found.set(value, { ...known, count: known.count + 1 });
  }
  const all = [...found.values()];
  if (facet === "fiscal_years") return all.sort((a, b) => Number(b.value) - Number(a.value));
  return facet === "forms"
    ? all.sort((a, b) => b.count - a.count)
    : all.sort((a, b) => a.label.localeCompare(b.label, "en"));
}

/** @param {Filters} filters @param {Facet} facet @param {string|number} value @returns {Filters} */
export const withChoice = (filters, facet, value) => ({ ...filters, [facet]: [...filters[facet], value] });

/** @param {Filters} filters @param {Facet} facet @param {string|number} value @returns {Filters} */
export const withoutChoice = (filters, facet, value) => ({
  ...filters,
  [facet]: /** @type {(string|number)[]} */ (filters[facet]).filter((each) => each !== value),
});
