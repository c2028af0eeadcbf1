// What was asked in this tab, newest first.

import { fill, h, icon } from "../dom.js";
import { completeQuestion } from "../run.js";

/** @typedef {import("../types.js").Run} Run */

/** @param {Run} run */
function verdict(run) {
  if (run.state === "running") return "at work…";
  if (run.state !== "done" || !run.prediction) return run.state === "cancelled" ? "cancelled" : "failed";
  const { status, answer } = run.prediction;
  return status === "unanswerable" ? "not in the filings" : status === "error" ? "failed" : answer;
}

export class HistoryDialog {
  /** @param {{runs: () => Run[], show: (run: Run) => void, forget: () => void}} does */
  constructor(does) {
    this._does = does;
    this._body = h("div", { class: "dialog-body" });
    const close = h(
      "button",
      { type: "button", class: "square", "aria-label": "Close", onclick: () => this._dialog.close() },
      icon("close"),
    );
    const head = h("div", { class: "dialog-head" }, h("h2", { id: "history-title" }, "Asked in this tab"), close);
    this._dialog = /** @type {HTMLDialogElement} */ (
      h("dialog", { class: "drawer", id: "history", "aria-labelledby": "history-title" }, head, this._body)
    );
    this._dialog.addEventListener("click", (event) => event.target === this._dialog && this._dialog.close());
    document.body.append(this._dialog);
    this.button = h("button", {
      type: "button",
      class: "quiet",
      id: "history-button",
      "aria-haspopup": "dialog",
      onclick: () => this._open(),
    });
    this.update();
  }

  update() {
    const count = this._does.runs().length;
    this.button.hidden = !count;
    this.button.setAttribute("aria-label", `History: ${count}`);
    fill(this.button, icon("history"), h("span", { class: "word" }, "History"), h("span", { class: "count" }, count));
  }

  _open() {
    const items = this._does
      .runs()
      .map((run) =>
        h(
          "li",
          {},
          h(
            "button",
            { type: "button", class: `past ${run.prediction?.status ?? run.state}`, onclick: () => this._choose(run) },
            h("span", { class: "past-question" }, completeQuestion(run)),
            h("span", { class: "past-answer" }, verdict(run)),
            h(
              "time",
              { class: "dim", datetime: new Date(run.asked).toISOString() },
              new Date(run.asked).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" }),
            ),
          ),
        ),
      );
    const forget = () => {
      this._does.forget();
      this._dialog.close();
    };
    fill(
      this._body,
      h("ul", { class: "pasts" }, items),
      h("button", { type: "button", onclick: forget }, "Forget all"),
    );
    this._dialog.showModal();
  }

  /** @param {Run} run */
  _choose(run) {
    this._dialog.close();
    this._does.show(run);
  }
}
