// All batches of the key, newest first.

import { fill, h } from "../dom.js";
import { number } from "../format.js";

/** @typedef {import("../batch_types.js").Batch} Batch */

const STATES = {
  validating: "reading the file…",
  in_progress: "running",
  cancelling: "stopping…",
  completed: "done",
  failed: "failed",
  cancelled: "stopped",
};

/** @param {Batch} batch */
export const stateOf = (batch) => STATES[batch.status] ?? batch.status;

/** @param {Batch} batch */
export const isRunning = (batch) => ["validating", "in_progress", "cancelling"].includes(batch.status);

/** @param {Batch} batch */
const progress = ({ request_counts: { total, completed, failed } }) =>
  total ? `${number(completed + failed)} of ${number(total)}` : "";

/**
 * @param {Element} root
 * @param {Batch[]} batches
 * @param {string} current
 * @param {(id: string) => void} open
 */
export function showList(root, batches, current, open) {
  if (root.contains(document.activeElement)) return; // keep the focus where it is; the next look shows what is new
  const items = batches.map((batch) =>
    h(
      "li",
      {},
      h(
        "button",
        {
          type: "button",
          class: "batch-item",
          "aria-current": batch.id === current ? "true" : null,
          onclick: () => open(batch.id),
        },
        h("span", { class: "name" }, batch.filename),
        h("span", { class: "dim" }, progress(batch)),
        h("span", { class: "dim" }, stateOf(batch)),
      ),
    ),
  );
  fill(root, items.length > 0 && h("ul", { class: "batch-list", "aria-label": "Batches" }, items));
}
