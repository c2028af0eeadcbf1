// The page for batches: files and pasted questions become batches, which run whether the page is open or not.

import { isAbort, Problem } from "./api.js";
import * as api from "./batch_api.js";
import { noFilters } from "./choices.js";
import { byId, fill, h, icon } from "./dom.js";
import { plural } from "./format.js";
import { loadLibrary } from "./library.js";
import { linkTo, readLink } from "./link.js";
import { isText, questionsIn, tableOf, tableOfText } from "./pasted.js";
import { Places } from "./places.js";
import { newRun } from "./run.js";
import { storeKey } from "./session.js";
import { announce, toast } from "./views/announce.js";
import { answerView } from "./views/answer.js";
import { showHead } from "./views/batch_head.js";
import { isRunning, showList, stateOf } from "./views/batch_list.js";
import { BatchRows } from "./views/batch_rows.js";
import { withKey } from "./views/key.js";
import { themeSwitch } from "./views/theme.js";
import { Viewer } from "./views/viewer.js";

/** @typedef {import("./batch_types.js").Batch} Batch */

const LOOK_MS = 1000;
const ROWS = 100;
const MOST_ROWS = 500;

/** @type {import("./library.js").Library|null} */
let library = null;
/** @type {Batch|null} */
let current = null;
let show = "all";
let rowLimit = ROWS;
let timer = 0;
/** The id of the batch in the address; "" if none is open. */
let wanted = "";

const viewer = new Viewer(byId("viewer"));
const rows = new BatchRows(byId("rows"), { open: (number) => void openAnswer(number), more: showMore });
const input = (/** @type {string} */ id) => /** @type {HTMLInputElement} */ (byId(id));

/** Does `work` with a key; shows what the service refuses. @template T @param {() => Promise<T>} work @returns {Promise<T|null>} */
async function attempt(work) {
  try {
    return await withKey(work);
  } catch (error) {
    if (isAbort(error)) return null;
    const message = error instanceof Problem ? error.failure.message : "The page itself failed.";
    if (!(error instanceof Problem)) console.error(error);
    byId("begin-problem").textContent = message;
    byId("begin-problem").hidden = false;
    return null;
  }
}

/** @param {File} file @param {{column: string, sheet: string}} [table] What to read of a table. */
async function begin(file, table = { column: "", sheet: "" }) {
  byId("begin-problem").hidden = true;
  input("start").disabled = true;
  announce(`Sending ${file.name}`, true);
  const batch = await attempt(async () => api.startBatch(await api.uploadFile(file), table));
  input("start").disabled = false;
  if (!batch) return;
  input("pasted").value = "";
  open(batch.id);
  byId("batch").scrollIntoView({ block: "nearest" });
}

/** @param {string} id */
function open(id) {
  history.pushState(null, "", `#batch=${id}`);
  follow();
}

/** What the address says. */
function follow() {
  const values = new URLSearchParams(location.hash.slice(1));
  if (values.has("q")) {
    const { question, filters } = readLink();
    return location.replace(linkTo(question, filters));
  }
  const key = values.get("key");
  if (key) {
    storeKey(key);
    history.replaceState(null, "", location.pathname);
  }
  const id = values.get("batch") ?? "";
  if (id !== wanted) {
    wanted = id;
    current = null;
    show = "all";
    rowLimit = ROWS;
    closeAnswer();
    byId("batch").hidden = true;
  }
  void look(id);
}

/** Show the state of things, and again after a while. @param {string} id */
async function look(id = wanted) {
  clearTimeout(timer);
  const before = current;
  const found = await attempt(async () => ({ batches: await api.listBatches(), batch: id ? await api.getBatch(id) : null }));
  if (id !== wanted) return; // another batch was opened meanwhile
  if (!found) {
    if (before && isRunning(before)) timer = window.setTimeout(() => void look(), 5 * LOOK_MS);
    return;
  }
  showList(byId("batches"), found.batches, id, open);
  const { batch } = found;
  if (batch) {
    current = batch;
    byId("batch").hidden = false;
    document.title = `${batch.filename} · finray`;
    showHead(byId("batch-head"), batch, show, does);
    await showRows(batch);
    if (before?.id === batch.id && before.status !== batch.status) announce(`${batch.filename}: ${stateOf(batch)}`, true);
  }
  clearTimeout(timer);
  if (found.batches.some(isRunning)) timer = window.setTimeout(() => void look(), LOOK_MS);
}

/** @param {Batch} batch */
async function showRows(batch) {
  if (!batch.request_counts.total) return rows.clear("No questions yet.");
  const found = await attempt(() => api.listAnswers(batch.id, show, rowLimit));
  if (found && current?.id === batch.id) rows.show(found.data, found.has_more && rowLimit < MOST_ROWS);
}

function showMore() {
  rowLimit = Math.min(rowLimit + ROWS, MOST_ROWS);
  void look();
}

/** @param {number} number */
async function openAnswer(number) {
  const batch = current;
  const prediction = batch && (await attempt(() => api.getAnswer(batch.id, number)));
  if (!prediction || current?.id !== batch?.id) return;
  const run = { ...newRun(prediction.question, noFilters()), prediction, state: /** @type {const} */ ("done") };
  const places = new Places({ ...run, seconds: prediction.seconds }, library);
  const again = () => void window.open(linkTo(prediction.question, noFilters()), "_self");
  const opens = { open: (/** @type {import("./types.js").Place} */ place) => void viewer.open(place), again, widen: again };
  fill(byId("answer"), answerView(run, places, opens));
  viewer.begin(places);
  rows.mark(number);
  byId("answer-title").focus({ preventScroll: true });
  byId("answer").scrollIntoView({ block: "nearest" });
  announce(prediction.answer || prediction.status, true);
}

function closeAnswer() {
  fill(byId("answer"));
  viewer.clear();
  rows.mark(0);
}

/** @param {(id: string) => Promise<any>} change */
async function changed(change) {
  const id = current?.id;
  if (id && (await attempt(() => change(id)))) await look(id);
}

const does = {
  stop: () => void changed(api.stopBatch),
  resume: (/** @type {boolean} */ retry) => void changed((id) => api.resumeBatch(id, retry)),
  show: (/** @type {string} */ what) => {
    show = what;
    rowLimit = ROWS;
    void look();
  },
  remove: () => void remove(),
  download: (/** @type {"xlsx"|"csv"|"jsonl"} */ format) => void download(format),
};

async function remove() {
  const batch = current;
  if (!batch || !confirm(`Delete ${batch.filename} and ${plural(batch.request_counts.total, "answer")}?`)) return;
  if (await attempt(() => api.deleteBatch(batch.id))) open("");
}

/** @param {"xlsx"|"csv"|"jsonl"} format */
async function download(format) {
  const id = current?.id;
  const found = id && (await attempt(() => api.downloadBatch(id, format)));
  if (!found) return;
  const url = URL.createObjectURL(found.blob);
  h("a", { href: url, download: found.name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

async function loadHoldings() {
  library = await attempt(loadLibrary);
  if (library) byId("holdings").textContent = `${plural(library.covers.length, "filing")} in the index`;
}

/** @param {FileList|null|undefined} files */
async function take(files) {
  const [file, ...others] = files ?? [];
  if (others.length) toast(`One file at a time: ${file?.name ?? ""}`);
  if (!file) return;
  if (isText(file)) return begin(await tableOfText(file));
  return begin(file, { column: input("column").value.trim(), sheet: input("sheet").value.trim() });
}

byId("begin").addEventListener("submit", (event) => {
  event.preventDefault();
  const questions = questionsIn(input("pasted").value);
  if (questions.length) void begin(tableOf(questions, `${plural(questions.length, "pasted question")}.csv`));
  else input("pasted").focus();
});
fill(byId("choose"), icon("upload"), "Choose a file");
byId("choose").addEventListener("click", () => byId("file").click());
byId("file").addEventListener("change", () => {
  void take(input("file").files);
  input("file").value = "";
});
for (const name of ["dragenter", "dragover"])
  document.addEventListener(name, (event) => {
    event.preventDefault();
    document.body.classList.add("dropping");
  });
document.addEventListener("dragleave", (event) => {
  if (!(/** @type {DragEvent} */ (event).relatedTarget)) document.body.classList.remove("dropping");
});
document.addEventListener("drop", (event) => {
  event.preventDefault();
  document.body.classList.remove("dropping");
  void take(event.dataTransfer?.files);
});
byId("tools").append(themeSwitch());
window.addEventListener("popstate", follow);
follow();
void loadHoldings();
