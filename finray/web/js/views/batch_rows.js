// The questions of a batch with their answers. Rows that did not change stay, so that focus and selection do, too.

import { fill, h } from "../dom.js";

/** @typedef {import("../batch_types.js").BatchAnswer} BatchAnswer */

const LOW = 0.5;

export class BatchRows {
  /** @param {Element} root @param {{open: (number: number) => void, more: () => void}} does */
  constructor(root, does) {
    this._root = root;
    this._does = does;
    this._seen = "";
    /** @type {Map<number, {record: string, row: HTMLElement}>} */
    this._rows = new Map();
    this._current = 0;
  }

  /** @param {BatchAnswer[]} answers @param {boolean} more */
  show(answers, more) {
    const seen = JSON.stringify([answers, more]);
    if (seen === this._seen) return;
    this._seen = seen;
    const focused = /** @type {HTMLElement|null} */ (this._root.contains(document.activeElement) ? document.activeElement : null);
    const rows = answers.map((answer) => this._row(answer));
    this._rows = new Map(rows.map((each) => [each.number, each]));
    const head = ["", "Question", "Answer", "Sure", "Page"].map((text) => h("th", { scope: "col" }, text));
    fill(
      this._root,
      answers.length
        ? h("table", { class: "answers" }, h("thead", {}, h("tr", {}, head)), h("tbody", {}, rows.map(({ row }) => row)))
        : h("p", { class: "dim" }, "None."),
      more && h("button", { type: "button", class: "more-rows", id: "more-rows", onclick: this._does.more }, "Show more"),
    );
    if (focused?.isConnected) focused.focus();
    else if (focused?.id) document.getElementById(focused.id)?.focus();
  }

  /** @param {string} text What to say instead of rows. */
  clear(text) {
    this._seen = "";
    this._rows.clear();
    fill(this._root, h("p", { class: "dim" }, text));
  }

  /** Mark the row whose answer is shown. @param {number} number 0 for none. */
  mark(number) {
    this._current = number;
    for (const [each, { row }] of this._rows) row.classList.toggle("shown", each === number);
  }

  /** @param {BatchAnswer} answer */
  _row(answer) {
    const record = JSON.stringify(answer);
    const known = this._rows.get(answer.number);
    if (known?.record === record) return { number: answer.number, ...known };
    const shown = answer.number === this._current ? " shown" : "";
    const { number, question, confidence, page } = answer;
    const title =
      answer.status === "waiting"
        ? question
        : h("button", { type: "button", class: "link", id: `row-${number}`, onclick: () => this._does.open(number) }, question);
    const row = h(
      "tr",
      { class: answer.status + shown },
      h("td", { class: "number" }, number),
      h("td", { class: "asks" }, title),
      h("td", { class: "said" }, h("span", { class: "brief" }, said(answer)), flags(answer)),
      h("td", { class: "sure" }, confidence === null ? "" : `${Math.round(confidence * 100)}%`),
      h("td", { class: "number" }, page === null ? "" : `p. ${page + 1}`),
    );
    return { number, record, row };
  }
}

/** @param {BatchAnswer} answer */
function said({ status, answer, reason }) {
  if (status === "waiting") return "…";
  if (status === "answered") return answer;
  return status === "unanswerable" ? `Not in the filings: ${reason || answer}` : reason;
}

/** @param {BatchAnswer} answer */
const flags = ({ status, confidence, grounded }) =>
  status === "answered" && [
    confidence !== null && confidence < LOW && h("span", { class: "flag" }, "low confidence"),
    grounded === false && h("span", { class: "flag" }, "not grounded"),
  ];
