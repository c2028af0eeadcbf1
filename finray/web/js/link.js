// The address: `#q=question&company=…&form=…&year=…` puts a question that was shared into the box, `#key=…`
// brings a key.

/** @typedef {import("./types.js").Filters} Filters */

/** @returns {{question: string, filters: Filters, key: string}} */
export function readLink() {
  const values = new URLSearchParams(location.hash.slice(1));
  return {
    question: (values.get("q") ?? "").slice(0, 4000),
    filters: {
      companies: values.getAll("company").slice(0, 50),
      forms: values.getAll("form").slice(0, 50),
      fiscal_years: values.getAll("year").map(Number).filter(Number.isInteger).slice(0, 50),
    },
    key: values.get("key") ?? "",
  };
}

/** @param {string} question @param {Filters} filters */
export function linkTo(question, filters) {
  const values = new URLSearchParams();
  if (question) values.set("q", question);
  for (const company of filters.companies) values.append("company", company);
  for (const form of filters.forms) values.append("form", form);
  for (const year of filters.fiscal_years) values.append("year", String(year));
  return `${new URL("./", location.href)}${values.size ? `#${values}` : ""}`;
}

/** Put it in the address bar: `remember` as a new entry of the browser's history. */
/** @param {string} url @param {boolean} remember */
export function showLink(url, remember) {
  if (url === location.href) return;
  if (remember) history.pushState(null, "", url);
  else history.replaceState(null, "", url);
}
