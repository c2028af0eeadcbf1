// The question box: Enter asks, Shift+Enter begins a new line, Escape or the button cancels.

import { byId, fill, icon } from "../dom.js";

export class AskBox {
  /** @param {{ask: (question: string) => void, cancel: () => void}} does */
  constructor(does) {
    this._does = does;
    this._running = false;
    this._input = /** @type {HTMLTextAreaElement} */ (byId("question"));
    this._submit = /** @type {HTMLButtonElement} */ (byId("submit"));
    byId("form").addEventListener("submit", (event) => {
      event.preventDefault();
      this._go();
    });
    this._input.addEventListener("input", () => this._fit());
    new ResizeObserver(() => this._fit()).observe(byId("form"));
    this._input.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      if (!this._running) this._go();
    });
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this._running && !document.querySelector("dialog[open]")) does.cancel();
    });
    this.busy(false);
  }

  get question() {
    return this._input.value.trim();
  }

  set question(text) {
    this._input.value = text;
    this._fit();
  }

  focus() {
    this._input.focus();
  }

  /** @param {boolean} running */
  busy(running) {
    this._running = running;
    fill(this._submit, icon(running ? "stop" : "search"), running ? "Cancel" : "Ask");
    this._submit.classList.toggle("stop", running);
  }

  _go() {
    if (this._running) this._does.cancel();
    else if (this.question) this._does.ask(this.question);
    else this._input.focus();
  }

  _fit() {
    this._input.style.height = "auto";
    this._input.style.height = `${Math.min(this._input.scrollHeight + 2, 220)}px`;
  }
}
