// Puts the page together: what a person does leads to a run, and a run to what is shown.

import * as api from "./api.js";
import { noFilters } from "./choices.js";
import { byId, fill, h } from "./dom.js";
import { examples } from "./examples.js";
import { number, plural } from "./format.js";
import { loadLibrary } from "./library.js";
import { linkTo, readLink, showLink } from "./link.js";
import { Places } from "./places.js";
import { completeQuestion, contextAfter, newRun, withEvent } from "./run.js";
import { readHistory, storeHistory, storeKey } from "./session.js";
import { announce } from "./views/announce.js";
import { answerView } from "./views/answer.js";
import { AskBox } from "./views/ask_box.js";
import { computationView } from "./views/computation.js";
import { FilterBar } from "./views/filters.js";
import { HistoryDialog } from "./views/history.js";
import { withKey } from "./views/key.js";
import { newest, showStages } from "./views/stages.js";
import { themeSwitch } from "./views/theme.js";
import { traceView } from "./views/trace.js";
import { Viewer } from "./views/viewer.js";

/** @typedef {import("./types.js").Run} Run */

/** @type {import("./library.js").Library|null} */
let library = null;
let runs = readHistory();
/** The run on show. @type {Run|null} */
let current = null;
let work = new AbortController();

const viewer = new Viewer(byId("viewer"));
const filters = new FilterBar(byId("filters"));
const box = new AskBox({ ask: (question) => void ask(question), cancel });
const history = new HistoryDialog({ runs: () => runs, show: revisit, forget });
const does = {
  open: (/** @type {import("./types.js").Place} */ place) => void viewer.open(place),
  again: (/** @type {Run} */ run) => void ask(run.question, run.filters, run.context),
  widen: (/** @type {Run} */ run) => void ask(run.question, noFilters(), run.context),
  follow: (/** @type {Run} */ run, /** @type {string} */ question) =>
    void ask(question, run.filters, contextAfter(run)),
};

/** @param {string} question @param {import("./types.js").Filters} [within] @param {string[]} [context] */
async function ask(question, within = filters.filters, context = []) {
  cancel();
  filters.set(within);
  const followsUp = context.length > 0;
  if (!followsUp) box.question = question;
  const { signal } = (work = new AbortController());
  let run = newRun(question, within, context);
  const update = (/** @type {Run} */ next) => {
    run = next;
    if (current?.id === run.id) show(run);
  };
  if (!followsUp) showLink(linkTo(question, within), true);
  announce("Asking", true);
  show(run);
  // A keyboard on the screen would hide what comes.
  if (matchMedia("(pointer: coarse)").matches) byId("result").focus();
  try {
    if (within.companies.length) await holdings; // a company may go by several names
    const spelledOut = library?.spelledOut(within) ?? within;
    await withKey(async () => {
      for await (const { name, data } of api.ask(question, context, spelledOut, signal)) update(withEvent(run, name, data));
    });
  } catch (error) {
    if (signal.aborted || api.isAbort(error)) update({ ...run, state: "cancelled" });
    else update({ ...run, state: "failed", failure: failureOf(error) });
  }
  remember(run);
  if (followsUp && current?.id === run.id && run.prediction?.resolved) {
    box.question = completeQuestion(run);
    showLink(linkTo(completeQuestion(run), within), true);
  }
  if (followsUp && document.activeElement === document.body) document.getElementById("follow-up")?.focus();
  if (!library) holdings = loadHoldings();
}

/** @param {unknown} error @returns {import("./types.js").Failure} */
function failureOf(error) {
  if (error instanceof api.Problem) return error.failure;
  console.error(error);
  return { message: "The page itself failed on this answer.", code: "page", status: 0, requestId: "", retryAfter: 0 };
}

function cancel() {
  work.abort();
}

/** @param {Run} run */
function remember(run) {
  runs = [run, ...runs.filter((each) => each.id !== run.id)];
  storeHistory(runs);
  history.update();
}

function forget() {
  runs = [];
  storeHistory(runs);
  history.update();
  goHome();
}

/** @param {Run} run */
function revisit(run) {
  cancel();
  filters.set(run.filters);
  box.question = completeQuestion(run);
  showLink(linkTo(completeQuestion(run), run.filters), true);
  show(run);
  document.getElementById("answer-title")?.focus();
}

/** @param {Run} run */
function show(run) {
  const isNew = current?.id !== run.id;
  const ended = run.state !== "running";
  current = run;
  byId("result").hidden = false;
  document.body.classList.add("asked-something");
  document.title = `${run.question.slice(0, 80)} · finray`;
  box.busy(!ended);
  byId("examples").hidden = true;
  showStages(byId("stages"), run);
  if (!ended) {
    announce(newest(run));
    if (!isNew) return;
  }
  const places = new Places(run, library);
  fill(byId("answer"), answerView(run, places, does));
  fill(byId("computation"), ended && run.prediction && computationView(run.prediction, places, does.open));
  fill(byId("trace"), ended && traceView(run, places, does.open));
  if (ended && run.prediction) viewer.begin(places);
  else viewer.clear();
  byId("result").classList.toggle("one-column", ended && !places.evidence.length);
  if (ended) announce(spoken(run), true);
}

/** What a screen reader hears at the end. @param {Run} run */
function spoken(run) {
  if (run.state === "cancelled") return "Cancelled";
  if (run.state === "failed" || !run.prediction) return ""; // an alert says it
  const { status, answer, grounded, resolved } = run.prediction;
  const read = resolved ? `Read as: ${resolved} ` : "";
  if (status === "unanswerable") return `${read}No answer. ${answer}`;
  return `${read}Answer: ${answer}.${grounded === false ? " Not grounded: check the pages." : ""}`;
}

function goHome() {
  waitFor("", noFilters());
  showLink(linkTo("", noFilters()), true);
}

/** Nothing on show, and this in the box. @param {string} question @param {import("./types.js").Filters} within */
function waitFor(question, within) {
  cancel();
  current = null;
  byId("result").hidden = true;
  document.body.classList.remove("asked-something");
  document.title = "finray";
  viewer.clear();
  box.busy(false);
  box.question = question;
  filters.set(within);
  byId("examples").hidden = !byId("examples").hasChildNodes();
  box.focus();
}

async function loadHoldings() {
  try {
    library = await withKey(loadLibrary);
  } catch (error) {
    byId("holdings").textContent = failureOf(error).message;
    return;
  }
  const { covers, companies, complete } = library;
  byId("holdings").textContent = complete
    ? `${plural(covers.length, "filing")} of ${plural(companies.length, "company", "companies")}`
    : `more than ${number(covers.length)} filings`;
  filters.offer(library);
  const questions = examples(library);
  if (!questions.length) return;
  const items = questions.map((question) =>
    h("li", {}, h("button", { type: "button", class: "example", onclick: () => void ask(question) }, question)),
  );
  fill(byId("examples"), h("h2", {}, "For example"), h("ul", {}, items));
  byId("examples").hidden = current !== null;
  if (current && current.state !== "running") show(current); // now with names of filings
}

/** The address says what to show: a question that was asked here already as it was answered, any other in the box. It is
 *  for a person to ask it: whoever made the link does not spend what their key may ask. */
function follow() {
  const { question, filters: within } = readLink();
  if (!question) {
    if (current) goHome();
    return;
  }
  const link = linkTo(question, within);
  if (current && linkTo(completeQuestion(current), current.filters) === link) return;
  const known = runs.find((run) => run.state === "done" && linkTo(completeQuestion(run), run.filters) === link);
  if (known) revisit(known);
  else waitFor(question, within);
}

function takeKey() {
  const { question, filters: within, key } = readLink();
  if (!key) return;
  storeKey(key);
  showLink(linkTo(question, within), false);
}

takeKey();
/** Done once it is known, or known not to be had, which filings there are. */
let holdings = loadHoldings();
fill(byId("tools"), history.button, themeSwitch());
byId("home").addEventListener("click", (event) => {
  event.preventDefault();
  goHome();
});
byId("skip").addEventListener("click", (event) => {
  event.preventDefault();
  (document.getElementById("answer-title") ?? byId("question")).focus();
});
window.addEventListener("popstate", () => {
  takeKey();
  follow();
});
follow();
