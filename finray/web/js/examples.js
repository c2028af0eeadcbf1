// Questions that the filings at hand should be able to answer, to begin with.

/** @typedef {import("./library.js").Library} Library */

/** @type {((company: string, year: number) => string)[]} */
const PHRASES = [
  (company, year) => `What was ${possessive(company)} revenue in fiscal ${year}?`,
  (company, year) => `What was ${possessive(company)} operating margin in fiscal ${year}?`,
  (company, year) =>
    `By how much did ${possessive(company)} net income change from fiscal ${year - 1} to fiscal ${year}?`,
  (company, year) => `What is ${possessive(company)} fiscal ${year} capex as a percentage of revenue?`,
];

const RECENT_YEARS = 4;

/** As many questions as phrases, spread over the companies. @param {Library} library @returns {string[]} */
export function examples(library) {
  const annual = library.companies.flatMap((company) => {
    const years = library
      .matching({ companies: [company.id], forms: ["10-K"], fiscal_years: [] })
      .flatMap((cover) => (cover.fiscal_year && !cover.is_amendment ? [cover.fiscal_year] : []));
    return years.length ? [{ name: company.name, year: Math.max(...years) }] : [];
  });
  const newest = Math.max(...annual.map(({ year }) => year));
  const recent = annual.filter(({ year }) => year > newest - RECENT_YEARS);
  const step = Math.max(1, Math.floor(recent.length / PHRASES.length));
  return PHRASES.flatMap((phrase, i) => {
    const chosen = recent[(i * step) % recent.length];
    return chosen ? [phrase(chosen.name, chosen.year)] : [];
  });
}

/** @param {string} name */
const possessive = (name) => (/s$/i.test(name) ? `${name}’` : `${name}’s`);
