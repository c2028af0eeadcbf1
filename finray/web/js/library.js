// The filings that are there: what filters can choose from, and names of companies.

import { listFilings } from "./api.js";
import { cased, companyName } from "./names.js";

/** @typedef {import("./types.js").Cover} Cover */
/** @typedef {import("./types.js").Filters} Filters */
/**
 * @typedef {object} Company One company, under every name that its filings give it.
 * @property {string} id A name, for links and requests.
 * @property {string} name
 * @property {string[]} names
 * @property {string|null} ticker
 */

const MOST_FILINGS = 5000;

export class Library {
  /** @param {Cover[]} covers @param {boolean} complete */
  constructor(covers, complete) {
    this.covers = covers;
    this.complete = complete;
    /** @type {Map<string, Cover>} */
    this.byId = new Map(covers.map((cover) => [cover.filing_id, cover]));
    this.companies = group(covers);
    this._ofName = new Map(this.companies.flatMap((company) => company.names.map((name) => [fold(name), company])));
  }

  /** @param {string} name */
  company(name) {
    return this._ofName.get(fold(name));
  }

  /** What to ask the service for: every name of each chosen company. @param {Filters} filters @returns {Filters} */
  spelledOut(filters) {
    const names = filters.companies.flatMap((name) => this.company(name)?.names ?? [name]);
    return { ...filters, companies: [...new Set(names)].slice(0, 50) };
  }

  /** @param {Filters} filters */
  matching(filters) {
    const wanted = new Set(filters.companies.map((name) => this.company(name)?.id ?? name));
    return this.covers.filter(
      (cover) =>
        (!wanted.size || wanted.has(this.company(cover.company)?.id ?? cover.company)) &&
        (!filters.forms.length || filters.forms.includes(cover.form)) &&
        (!filters.fiscal_years.length || filters.fiscal_years.includes(cover.fiscal_year ?? 0)),
    );
  }

  /** "Adobe Inc. 10-K, fiscal 2019"; the file's name where the cover is not known. */
  /** @param {string} filingId @param {{company?: string, form?: string, doc_name?: string}} [known] */
  title(filingId, known = {}) {
    const cover = this.byId.get(filingId);
    const company = cover?.company ?? known.company;
    if (!company) return known.doc_name ?? filingId;
    const form = formName(cover?.form ?? known.form ?? "");
    const when = cover?.fiscal_year ? `fiscal ${periodOf(cover)}${cover.fiscal_year}` : (cover?.period_end ?? "");
    return [`${companyName(company)} ${form}`.trim(), when].filter(Boolean).join(", ");
  }
}

/** @param {Cover} cover */
const periodOf = (cover) => (cover.fiscal_period && cover.fiscal_period !== "FY" ? `${cover.fiscal_period} ` : "");

/** @param {string} form */
export function formName(form) {
  const names = { "EX-99.1": "earnings release", ARS: "annual report to holders" };
  return names[/** @type {keyof typeof names} */ (form)] ?? form;
}

/** Names that differ in letter case and punctuation alone are one. @param {string} name */
const fold = (name) =>
  name
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();

/** Filings of one ticker, one CIK or one name are of one company. @param {Cover[]} covers @returns {Company[]} */
function group(covers) {
  /** @typedef {{covers: Set<Cover>, keys: Set<string>}} Group */
  /** @type {Map<string, Group>} */
  const of = new Map();
  for (const cover of covers) {
    const keys = [`n:${fold(cover.company)}`];
    if (cover.ticker) keys.push(`t:${cover.ticker}`);
    if (cover.cik) keys.push(`c:${cover.cik}`);
    const known = new Set(keys.flatMap((key) => of.get(key) ?? []));
    const [one = { covers: new Set(), keys: new Set() }, ...others] = known;
    for (const other of others) {
      for (const each of other.covers) one.covers.add(each);
      for (const key of other.keys) one.keys.add(key);
    }
    one.covers.add(cover);
    for (const key of keys) one.keys.add(key);
    for (const key of others.length ? one.keys : keys) of.set(key, one);
  }
  const groups = toldApart([...new Set(of.values())].map((each) => company(each.covers)));
  return groups.sort((a, b) => a.name.localeCompare(b.name, "en"));
}

/** Companies of one short name have their legal form, too. @param {Company[]} companies */
function toldApart(companies) {
  /** @type {Map<string, number>} */
  const count = new Map();
  for (const { name } of companies) count.set(name, (count.get(name) ?? 0) + 1);
  return companies.map((one) => ((count.get(one.name) ?? 0) > 1 ? { ...one, name: cased(one.id) } : one));
}

/** @param {Set<Cover>} covers @returns {Company} */
function company(covers) {
  const newest = [...covers].sort((a, b) => (b.fiscal_year ?? 0) - (a.fiscal_year ?? 0));
  const names = [...new Set(newest.map((cover) => cover.company))];
  const first = names[0] ?? "";
  const shown = names.find((name) => fold(name) === fold(first) && name !== name.toUpperCase()) ?? first;
  return { id: first, name: companyName(shown), names, ticker: newest.find((cover) => cover.ticker)?.ticker ?? null };
}

/** @returns {Promise<Library>} Throws Problem. */
export async function loadLibrary() {
  /** @type {Cover[]} */
  const covers = [];
  let cursor = "";
  do {
    const page = await listFilings(cursor);
    covers.push(...page.data);
    cursor = page.has_more ? page.next_cursor : "";
  } while (cursor && covers.length < MOST_FILINGS);
  return new Library(covers, !cursor);
}
