// A refusal: what is not there, and what comes nearest. Nothing went wrong, so it looks calm.

import { h, icon } from "../dom.js";

/** @typedef {import("../types.js").Run} Run */

/** @param {Run} run @param {import("../types.js").Prediction} prediction @param {import("./answer.js").Does} does */
export function refusal(run, prediction, does) {
  const missing = prediction.missing ?? [];
  const nearest = prediction.nearest ?? [];
  const { companies, forms, fiscal_years } = run.filters;
  if (prediction.unclear) return h("p", { class: "verdict", "data-answer": "" }, icon("info"), prediction.answer);
  const narrowed = companies.length + forms.length + fiscal_years.length > 0;
  return [
    h("p", { class: "verdict", "data-answer": "" }, icon("info"), "These filings do not hold the answer."),
    missing.length ? list("What is missing", missing) : h("p", {}, prediction.answer),
    nearest.length > 0 && list("What comes nearest", nearest),
    narrowed &&
      h(
        "p",
        { class: "hint" },
        "Only some filings were looked at. ",
        h("button", { type: "button", class: "link", onclick: () => does.widen(run) }, "Ask all filings"),
      ),
  ];
}

/** @param {string} title @param {string[]} items */
const list = (title, items) =>
  h(
    "div",
    { class: "list" },
    h("h3", {}, title),
    h(
      "ul",
      {},
      items.map((item) => h("li", {}, item)),
    ),
  );
