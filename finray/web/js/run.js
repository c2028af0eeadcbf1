// One question and what the events said about it: pure functions from a run and an event to the next run.

/** @typedef {import("./types.js").Run} Run */
/** @typedef {import("./types.js").Stage} Stage */

const MOST_CONTEXT = 20;

/** @param {string} question @param {import("./types.js").Filters} filters @param {string[]} [context] @returns {Run} */
export function newRun(question, filters, context = []) {
  return {
    id: `${Date.now()}-${Math.random().toString(36).slice(2, 8)}`,
    question,
    context,
    filters,
    state: "running",
    asked: Date.now(),
    stages: [],
    iterations: [],
    kept: [],
    prediction: null,
    failure: null,
    indexVersion: "",
    requestId: "",
    seconds: 0,
  };
}

/** @param {Run} run @param {string} name @param {any} data @returns {Run} */
export function withEvent(run, name, data) {
  switch (name) {
    case "request":
      return { ...run, requestId: data.requestId };
    case "started":
      return { ...run, indexVersion: data.index_version };
    case "stage":
      return { ...run, stages: withStage(run.stages, data) };
    case "iteration":
      return { ...run, iterations: [...run.iterations, data] };
    case "passage":
      return { ...run, kept: [...run.kept, data.passage] };
    case "answer":
      return { ...run, prediction: data.prediction, seconds: data.prediction.seconds };
    case "done":
      return { ...run, state: "done" };
    default:
      return run; // an event of a newer service
  }
}

/** @param {Stage[]} stages @param {any} data */
function withStage(stages, data) {
  const { qid: _qid, usage: _usage, ...stage } = data;
  const at = stages.findLastIndex(
    (each) => each.stage === stage.stage && each.iteration === stage.iteration && each.state === "started",
  );
  return at < 0 ? [...stages, stage] : stages.with(at, stage);
}

/** The question as it was answered: complete in itself, also after earlier ones. @param {Run} run */
export const completeQuestion = (run) => run.prediction?.resolved ?? run.question;

/** The questions that a follow-up to `run` follows. @param {Run} run */
export const contextAfter = (run) => [...(run.context ?? []), run.question].slice(-MOST_CONTEXT);

/** @param {Run} run @param {string} stage */
export const finishedStages = (run, stage) =>
  run.stages.filter((each) => each.stage === stage && each.state === "finished");

/** Every filing that the run met, with the company and form that retrieval named. @param {Run} run */
export function filingsOf(run) {
  const found = [...run.stages.flatMap((stage) => stage.documents ?? []), ...(run.prediction?.documents ?? [])];
  return new Map(found.map((filing) => [filing.filing_id, filing]));
}
