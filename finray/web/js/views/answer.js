// The answer of a run, or why there is none.

import { h, icon } from "../dom.js";
import { confidenceInWords, exact, plural, seconds, unitInWords } from "../format.js";
import { refusal } from "./refusal.js";
import { actions } from "./actions.js";
import { followUp } from "./follow_up.js";
import { gridView } from "./grid.js";

/** @typedef {import("../types.js").Run} Run */
/** @typedef {import("../types.js").Prediction} Prediction */
/** @typedef {import("../types.js").Place} Place */
/** @typedef {import("../places.js").Places} Places */
/** @typedef {{open: (place: Place) => void, again: (run: Run) => void, widen: (run: Run) => void, follow?: (run: Run, question: string) => void}} Does */

const LONG = 48;
/** "-93.4% (net income: …)": the figure, and what stands behind it. */
const FIGURE_AND_MORE = /^(.{1,48}?) \((.+)\)$/s;

/** @param {Run} run @param {Places} places @param {Does} does @returns {HTMLElement} */
export function answerView(run, places, does) {
  const { prediction } = run;
  if (run.state === "failed") return failure(run, does);
  if (run.state === "cancelled") return cancelled(run, does);
  if (!prediction) return waiting(run);
  const title = h("h2", { class: "asked", id: "answer-title", tabIndex: -1 }, run.question);
  const body = prediction.status === "unanswerable" ? refusal(run, prediction, does) : found(prediction, places, does);
  const kind = prediction.status === "unanswerable" ? "refused" : prediction.status;
  return h(
    "article",
    { class: `card answer ${kind}`, "aria-labelledby": "answer-title" },
    title,
    prediction.resolved && h("p", { class: "read-as" }, h("span", { class: "dim" }, "Read as "), prediction.resolved),
    body,
    gridView(prediction, places, does.open),
    actions(run, places),
    does.follow && followUp(run, does.follow),
    foot(run),
  );
}

/** @param {Prediction} prediction @param {Places} places @param {Does} does */
function found(prediction, places, does) {
  if (prediction.status === "error") {
    return warning("This question could not be worked on", prediction.error ?? "The service did not say why.");
  }
  const [, figure = prediction.answer, more = ""] = FIGURE_AND_MORE.exec(prediction.answer) ?? [];
  const large = prediction.value !== null && figure.length <= LONG;
  return [
    notADirectAnswer(prediction) &&
      warning("No direct answer", "This is the passage that comes closest. It may not answer the question."),
    said(prediction, large ? figure : ""),
    large && more && h("p", { class: "more" }, more),
    valueLine(prediction) && h("p", { class: "exact" }, valueLine(prediction)),
    prediction.grounded === false &&
      warning(
        "Not grounded",
        "A number in this answer does not stand in the pages it cites. Check them before you use it.",
      ),
    h("ul", { class: "signs" }, confidence(prediction), grounded(prediction)),
    citations(places, does),
  ];
}

/** @param {Prediction} prediction @param {string} figure The answer, if it is short enough to be large. */
function said({ answer, grid }, figure) {
  if (grid) return grid.verdict && h("p", { class: "prose", "data-answer": "" }, grid.verdict);
  return h("p", { class: figure ? "figure" : "prose", "data-answer": "" }, figure || answer);
}

/** @param {Prediction} prediction */
const notADirectAnswer = (prediction) => !prediction.grid && prediction.value === null && (prediction.missing?.length ?? 0) > 0;

/** @param {Prediction} prediction */
function valueLine({ answer, value, unit }) {
  const isSaid = Number(answer.replace(/[,%\s]/g, "").replace("−", "-")) === value;
  if (value === null || isSaid) return "";
  const named = unit === "ratio" || unit === "shares" ? ` (${unitInWords(unit)})` : "";
  return `Exact value ${exact(value, unit)}${named}`;
}

/** @param {Prediction} prediction */
function confidence({ confidence: sure }) {
  if (sure === undefined || sure === null) return null;
  const percent = Math.round(sure * 100);
  const level = sure >= 0.75 ? "good" : sure >= 0.5 ? "fair" : "poor";
  return h(
    "li",
    { class: `sign ${level}` },
    h("span", { class: "bar", "aria-hidden": "true", vars: { "--part": sure } }),
    h("span", {}, `${confidenceInWords(sure)} `, h("span", { class: "dim" }, `(confidence ${percent}%)`)),
  );
}

/** @param {Prediction} prediction */
function grounded(prediction) {
  if (prediction.grounded === true) {
    return h("li", { class: "sign good" }, icon("check"), "Grounded: every number stands in the evidence");
  }
  const cells = prediction.operands?.length ?? 0;
  if (prediction.grounded === undefined && cells) {
    return h(
      "li",
      { class: "sign" },
      icon("page"),
      cells === 1 ? "Read from one printed figure" : `Computed from ${cells} printed figures`,
    );
  }
  return null;
}

/** @param {Places} places @param {Does} does */
function citations(places, does) {
  if (!places.evidence.length) return null;
  const links = places.evidence.map((place) =>
    h(
      "li",
      {},
      h(
        "button",
        { type: "button", class: "cite", onclick: () => does.open(place) },
        icon("page"),
        places.title(place),
      ),
    ),
  );
  return h("div", { class: "citations" }, h("h3", {}, "Where it stands"), h("ul", {}, links));
}

/** @param {string} title @param {string} text */
export const warning = (title, text) =>
  h("div", { class: "warning" }, icon("warn"), h("p", {}, h("strong", {}, `${title}. `), text));

/** @param {Run} run */
function waiting(run) {
  return h(
    "article",
    { class: "card answer waiting", "aria-busy": "true" },
    h("h2", { class: "asked" }, run.question),
    h("div", { class: "ghost big" }),
    h("div", { class: "ghost" }),
    h("div", { class: "ghost short" }),
  );
}

/** @param {Run} run @param {Does} does */
function cancelled(run, does) {
  return h(
    "article",
    { class: "card answer" },
    h("h2", { class: "asked", id: "answer-title", tabIndex: -1 }, run.question),
    h("p", {}, "Cancelled. Nothing is at work on it anymore."),
    h("p", {}, h("button", { type: "button", onclick: () => does.again(run) }, "Ask again")),
  );
}

/** @param {Run} run @param {Does} does */
function failure(run, does) {
  const failed = run.failure;
  const wait = failed?.retryAfter ? ` Try again in ${plural(Math.ceil(failed.retryAfter), "second")}.` : "";
  return h(
    "article",
    { class: "card answer failed" },
    h("h2", { class: "asked", id: "answer-title", tabIndex: -1 }, run.question),
    h(
      "div",
      { role: "alert" },
      warning("That did not work", `${sentence(failed?.message ?? "")}${wait}`),
      failed?.requestId && h("p", { class: "dim request-id" }, "Request id ", h("code", {}, failed.requestId)),
    ),
    h("p", {}, h("button", { type: "button", onclick: () => does.again(run) }, "Try again")),
  );
}

/** @param {string} message As the service says it: without a capital and a stop. */
const sentence = (message) => `${message.charAt(0).toUpperCase()}${message.slice(1)}`.replace(/([^.?!])$/, "$1.");

/** @param {Run} run */
function foot(run) {
  const prediction = run.prediction;
  if (!prediction) return null;
  const used = Object.values(prediction.usage ?? {});
  const tokens = used.reduce((sum, each) => sum + each.prompt_tokens + each.completion_tokens, 0);
  const parts = [
    `${seconds(prediction.seconds)}`,
    plural(prediction.iterations, "round"),
    tokens ? plural(tokens, "token") : "",
    run.indexVersion ? `index ${run.indexVersion}` : "",
  ];
  return h("p", { class: "foot dim" }, parts.filter(Boolean).join(" · "));
}
