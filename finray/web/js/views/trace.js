// How a run got to its answer: for each round how the question was read, why each filing ranked, which passages stayed.

import { h, icon } from "../dom.js";
import { plural } from "../format.js";
import { companyName } from "../names.js";
import { roundOf, rounds } from "./stages.js";

/** @typedef {import("../types.js").Run} Run */
/** @typedef {import("../types.js").Stage} Stage */
/** @typedef {import("../types.js").Passage} Passage */
/** @typedef {import("../places.js").Places} Places */
/** @typedef {(place: import("../types.js").Place) => void} Open */

/** @param {Run} run @param {Places} places @param {Open} open */
export function traceView(run, places, open) {
  if (!run.stages.length) return null;
  const numbers = Array.from({ length: rounds(run) }, (_, i) => i + 1);
  const lines = run.stages.flatMap((stage) => stage.trace ?? []);
  return h(
    "section",
    { class: "card trace", "aria-labelledby": "trace-title" },
    h(
      "details",
      { open: run.prediction?.status === "unanswerable" },
      h("summary", {}, h("h3", { id: "trace-title" }, "How it got there"), h("span", { class: "dim" }, summary(run))),
      numbers.map((number) => roundView(run, number, numbers.length, places, open)),
      lines.length > 0 &&
        h(
          "details",
          { class: "log" },
          h("summary", {}, "Log of the stages"),
          h("pre", { tabIndex: 0, "aria-label": "Log of the stages" }, lines.join("\n")),
        ),
    ),
  );
}

/** @param {Run} run */
function summary(run) {
  const filings = new Set(run.stages.flatMap((stage) => stage.documents ?? []).map((filing) => filing.filing_id)).size;
  const passages = run.stages.reduce((sum, stage) => sum + (stage.passages?.length ?? 0), 0);
  return `${plural(rounds(run), "round")}, ${plural(filings, "filing")}, ${plural(passages, "passage")}`;
}

/** @param {Run} run @param {number} number @param {number} of @param {Places} places @param {Open} open */
function roundView(run, number, of, places, open) {
  const stages = run.stages.filter((stage) => roundOf(stage) === number);
  const iteration = run.iterations.find((each) => each.iteration === number);
  const title = (/** @type {string} */ text) => h("h4", {}, text);
  return h(
    "section",
    { class: "iteration", "aria-label": `Round ${number}` },
    of > 1 && h("p", { class: "round" }, `Round ${number}`),
    stages.map((stage) => [
      stage.query && [title("How the question was read"), queryView(stage.query)],
      stage.documents && [title("Filings, best first"), filingsView(stage, places)],
      stage.passages && [title("Passages, best first"), passagesView(run, stage, places, open)],
    ]),
    iteration && [title("What was missing"), missingView(iteration)],
  );
}

/** @param {import("../types.js").ParsedQuestion} query */
function queryView(query) {
  const rows = /** @type {[string, string[]][]} */ ([
    ["Companies", query.companies.map(companyName)],
    ["Not in the index", query.unknown_companies],
    ["Periods", query.periods],
    ["Forms", query.forms],
    ["Figures", query.metrics.map(words)],
    ["Statements", query.statements.map(words)],
  ]);
  const known = rows.filter(([, values]) => values.length);
  if (!known.length) return h("p", { class: "dim" }, "No company, period or figure was recognized in it.");
  return h(
    "dl",
    { class: "reading" },
    known.map(([name, values]) =>
      h(
        "div",
        {},
        h("dt", {}, name),
        values.map((value) => h("dd", {}, value)),
      ),
    ),
  );
}

/** @param {string} name */
const words = (name) => name.replaceAll("_", " ");

/** @param {Stage} stage @param {Places} places */
function filingsView(stage, places) {
  const filings = stage.documents ?? [];
  if (!filings.length) return h("p", { class: "dim" }, "None fits.");
  const best = Math.max(...filings.map((filing) => filing.score), 1e-9);
  const items = filings.map((filing) =>
    h(
      "li",
      {},
      h("span", { class: "rank-title", title: filing.doc_name }, places.filing(filing.filing_id, filing.doc_name)),
      score(filing.score, best),
      h(
        "span",
        { class: "why" },
        (filing.reasons ?? []).map((reason) => h("span", { class: "reason" }, reason)),
      ),
    ),
  );
  return h("ol", { class: "ranking" }, items);
}

/** @param {number} value @param {number} best */
function score(value, best) {
  const part = Math.max(0, Math.min(1, value / best));
  return h(
    "span",
    { class: "score" },
    h("span", { class: "bar", "aria-hidden": "true", vars: { "--part": part } }),
    h("span", {}, h("span", { class: "visually-hidden" }, "score "), value.toFixed(2)),
  );
}

/** @param {Run} run @param {Stage} stage @param {Places} places @param {Open} open */
function passagesView(run, stage, places, open) {
  const passages = stage.passages ?? [];
  if (!passages.length) return h("p", { class: "dim" }, "None was found.");
  const best = Math.max(...passages.map((passage) => passage.score), 1e-9);
  const kept = [...run.kept, ...(run.prediction?.evidence ?? [])];
  const items = passages.map((passage) => {
    const place = places.ofPassage(passage);
    const stays = kept.some((each) => each.filing_id === passage.filing_id && each.page === passage.page);
    return h(
      "li",
      { class: stays ? "kept" : "" },
      h(
        "span",
        { class: "rank-title" },
        h("button", { type: "button", class: "cite", onclick: () => open(place) }, icon("page"), places.title(place)),
        stays && h("span", { class: "badge" }, icon("check"), "kept"),
      ),
      score(passage.score, best),
      h(
        "span",
        { class: "why" },
        reasons(stage, passage).map((reason) => h("span", { class: "reason" }, reason)),
      ),
    );
  });
  return h("ol", { class: "ranking" }, items);
}

/** Why a page ranked stands in the stage's log: "passage: NAME p. 70 0.614: figures +3.0, …". @param {Stage} stage @param {Passage} passage */
function reasons(stage, passage) {
  const start = `passage: ${passage.doc_name} p. ${passage.page + 1} `;
  const line = (stage.trace ?? []).find((each) => each.startsWith(start)) ?? "";
  const after = line.slice(start.length).split(": ").slice(1).join(": ");
  return after ? after.split(", ").map(words) : [];
}

/** @param {import("../types.js").Iteration} iteration */
function missingView(iteration) {
  if (!iteration.missing.length)
    return h("p", {}, iteration.answerable ? "Nothing: the evidence is complete." : "Nothing was named.");
  return [
    h(
      "ul",
      { class: "missing" },
      iteration.missing.map((text) => h("li", {}, text)),
    ),
    iteration.complementary && h("p", {}, h("span", { class: "dim" }, "Asked again: "), iteration.complementary),
  ];
}
