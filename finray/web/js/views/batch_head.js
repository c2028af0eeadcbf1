// One batch: how far it is, what can be done with it, and which of its answers to show.

import { fill, h, icon } from "../dom.js";
import { number } from "../format.js";
import { isRunning, stateOf } from "./batch_list.js";

/** @typedef {import("../batch_types.js").Batch} Batch */
/**
 * @typedef {object} Does
 * @property {() => void} stop
 * @property {(retryErrors: boolean) => void} resume
 * @property {() => void} remove
 * @property {(format: "xlsx"|"csv"|"jsonl") => void} download
 * @property {(show: string) => void} show
 */

const SHOWS = /** @type {[string, string][]} */ ([
  ["all", "All"],
  ["answered", "Answered"],
  ["unanswerable", "Refused"],
  ["low_confidence", "Low confidence"],
  ["not_grounded", "Not grounded"],
  ["error", "Errors"],
  ["waiting", "Waiting"],
]);

/** @param {Element} root @param {Batch} batch @param {string} shown @param {Does} does */
export function showHead(root, batch, shown, does) {
  const focused = /** @type {HTMLElement|null} */ (root.contains(document.activeElement) ? document.activeElement : null);
  const { total, completed, failed } = batch.request_counts;
  const part = (/** @type {number} */ count) => ({ "--part": total ? count / total : 0 });
  fill(
    root,
    h("h2", { id: "batch-title", tabIndex: -1 }, batch.filename),
    h(
      "p",
      { id: "batch-state" },
      total ? `${number(completed + failed)} of ${number(total)} questions, ${stateOf(batch)}` : stateOf(batch),
    ),
    h(
      "div",
      {
        class: "meter",
        role: "progressbar",
        "aria-label": "Questions done",
        "aria-valuenow": completed + failed,
        "aria-valuemin": 0,
        "aria-valuemax": Math.max(total, 1),
      },
      h("span", { class: "answered", vars: part(batch.counts.answered) }),
      h("span", { class: "unanswerable", vars: part(batch.counts.unanswerable) }),
      h("span", { class: "error", vars: part(batch.counts.error) }),
    ),
    batch.errors?.data.map(({ message }) => h("p", { class: "warning", role: "alert" }, message)),
    batch.remarks.map((remark) => h("p", { class: "remarks" }, remark)),
    actions(batch, does),
    shows(batch, shown, does),
  );
  if (focused?.id) document.getElementById(focused.id)?.focus();
}

/** @param {Batch} batch @param {Does} does */
function actions(batch, does) {
  const { counts, request_counts: done, status } = batch;
  const running = isRunning(batch);
  const left = !running && (counts.waiting > 0 || status === "failed");
  const button = (/** @type {string} */ id, /** @type {Parameters<typeof icon>[0]} */ sign, /** @type {string} */ text, /** @type {() => void} */ onclick, disabled = false) =>
    h("button", { type: "button", id: `batch-${id}`, onclick, disabled }, icon(sign), text);
  const some = done.completed + done.failed > 0;
  return h(
    "div",
    { class: "batch-actions", role: "group", "aria-label": "This batch" },
    running && button("stop", "stop", "Stop", does.stop, status === "cancelling"),
    left && button("resume", "play", "Resume", () => does.resume(false)),
    !running && counts.error > 0 && button("retry", "back", "Retry errors", () => does.resume(true)),
    h("span", { class: "gap" }),
    some && button("xlsx", "download", "Excel", () => does.download("xlsx")),
    some && button("csv", "download", "CSV", () => does.download("csv")),
    some && button("jsonl", "download", "JSON lines", () => does.download("jsonl")),
    !running && button("delete", "close", "Delete", does.remove),
  );
}

/** @param {Batch} batch @param {string} shown @param {Does} does */
function shows({ counts, request_counts: { total } }, shown, does) {
  const of = /** @type {Record<string, number>} */ ({ ...counts, all: total });
  const buttons = SHOWS.filter(([name]) => name === shown || of[name]).map(([name, text]) =>
    h(
      "button",
      { type: "button", id: `show-${name}`, "aria-pressed": name === shown, onclick: () => does.show(name) },
      text,
      h("span", { class: "count" }, number(of[name] ?? 0)),
    ),
  );
  return total > 0 && h("div", { class: "shows", role: "group", "aria-label": "Which answers to show" }, buttons);
}
