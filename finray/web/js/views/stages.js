// The stages as they arrive: what is at work, what came out, how long it took.

import { fill, h, icon } from "../dom.js";
import { plural, seconds } from "../format.js";
import { companyName } from "../names.js";

/** @typedef {import("../types.js").Run} Run */
/** @typedef {import("../types.js").Stage} Stage */

export const STAGES = [
  { stage: "transform", label: "Question", doing: "Reading the question" },
  { stage: "documents", label: "Filings", doing: "Finding filings" },
  { stage: "passages", label: "Pages", doing: "Finding pages" },
  { stage: "curate", label: "Evidence", doing: "Checking what the pages say" },
  { stage: "answer", label: "Answer", doing: "Answering" },
];

const SHORT = 24;

/** The round that a stage belongs to, from 1: curation and answer count their rounds from 1 already. @param {Stage} stage */
export const roundOf = (stage) =>
  stage.stage === "curate" || stage.stage === "answer" ? Math.max(1, stage.iteration) : stage.iteration + 1;

/** @param {Run} run @returns {number} */
export const rounds = (run) => Math.max(1, ...run.stages.map(roundOf));

/** @param {Element} place @param {Run} run */
export function showStages(place, run) {
  const lists = Array.from({ length: rounds(run) }, (_, i) => round(run, i + 1));
  const last = lists.length;
  fill(
    place,
    h("h2", { class: "visually-hidden" }, "Stages"),
    lists.map((list, i) => [
      last > 1 && h("p", { class: "round" }, i ? `Round ${i + 1}: asked again for what was missing` : "Round 1"),
      list,
    ]),
  );
}

/** @param {Run} run @param {number} number */
function round(run, number) {
  const isLast = number === rounds(run);
  const items = STAGES.filter(({ stage }) => stage !== "answer" || isLast).map(({ stage, label, doing }) => {
    const found = run.stages.find((each) => each.stage === stage && roundOf(each) === number);
    const running = run.state === "running";
    const state = found
      ? found.state === "started" && !running
        ? "stopped"
        : found.state
      : running
        ? "waiting"
        : "skipped";
    const said = {
      waiting: "",
      started: `${doing}…`,
      finished: found ? outcome(run, found) : "",
      stopped: "stopped",
      skipped: run.state === "done" ? "not needed" : "",
    };
    return h(
      "li",
      { class: `stage ${state}`, "data-stage": stage },
      h("span", { class: "dot" }, state === "finished" && icon("check")),
      h("span", { class: "name" }, label),
      h("span", { class: "outcome" }, said[/** @type {keyof typeof said} */ (state)]),
      h("span", { class: "time" }, found?.seconds !== undefined ? seconds(found.seconds) : ""),
    );
  });
  return h("ol", { class: "stages" }, items);
}

/** What came out of a finished stage, in a few words. @param {Run} run @param {Stage} stage */
export function outcome(run, stage) {
  if (stage.query) {
    const { companies, unknown_companies, periods, metrics } = stage.query;
    const names = [...companies.map(companyName), ...unknown_companies];
    const parts = [few(names), few(periods), few(metrics.map((name) => name.replaceAll("_", " ")))];
    return parts.filter(Boolean).join(" · ") || "read";
  }
  if (stage.documents) return stage.documents.length ? plural(stage.documents.length, "filing") : "none fits";
  if (stage.passages) return stage.passages.length ? plural(stage.passages.length, "passage") : "none";
  if (stage.stage === "curate") {
    const iteration = run.iterations.find((each) => each.iteration === stage.iteration);
    if (!iteration) return "";
    const missing = iteration.missing.length ? `, ${iteration.missing.length} missing` : "";
    return `${number(iteration.kept)} kept${missing}`;
  }
  if (!run.prediction) return "";
  const { status, answer, value } = run.prediction;
  if (status === "unanswerable") return "not there";
  return value !== null && answer.length <= SHORT ? answer : "found";
}

/** @param {number} count */
const number = (count) => (count ? String(count) : "none");

/** @param {string[]} names */
const few = (names) => (names.length > 2 ? `${names.slice(0, 2).join(", ")} +${names.length - 2}` : names.join(", "));

/** What a screen reader hears of the newest stage. @param {Run} run */
export function newest(run) {
  const stage = run.stages.at(-1);
  const named = STAGES.find((each) => each.stage === stage?.stage);
  if (!stage || !named) return "";
  return stage.state === "started" ? named.doing : `${named.label}: ${outcome(run, stage)}`;
}
