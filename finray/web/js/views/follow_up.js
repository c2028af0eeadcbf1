// The box for a follow-up question, below an answer: what it lacks is taken from the conversation.

import { h } from "../dom.js";

/** @typedef {import("../types.js").Run} Run */

/** @param {Run} run @param {(run: Run, question: string) => void} follow */
export function followUp(run, follow) {
  const input = /** @type {HTMLInputElement} */ (
    h("input", {
      type: "text",
      id: "follow-up",
      maxLength: 2000,
      autocomplete: "off",
      enterKeyHint: "send",
      placeholder: "And in 2021? What about another company? Why?",
    })
  );
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    const question = input.value.trim();
    if (question) follow(run, question);
    else input.focus();
  };
  return h(
    "form",
    { class: "follow-up", onsubmit: submit },
    h("label", { for: "follow-up" }, "Follow-up"),
    input,
    h("button", { type: "submit" }, "Send"),
  );
}
