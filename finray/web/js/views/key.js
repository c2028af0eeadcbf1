// Asks for an API key when the service wants one.

import { Problem } from "../api.js";
import { h } from "../dom.js";
import { readKey, storeKey } from "../session.js";

/** @type {Promise<boolean>|null} */
let asking = null;

/**
 * Does `work`; when the service asks for a key, asks the person and does it again.
 *
 * @template T
 * @param {() => Promise<T>} work
 * @returns {Promise<T>} Throws what `work` throws, and the service's refusal where no key is given.
 */
export async function withKey(work) {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Problem) || error.failure.status !== 401) throw error;
      const refused = readKey() !== "" && error.failure.code === "invalid_api_key";
      asking ??= askForKey(refused).finally(() => (asking = null));
      if (!(await asking)) throw error;
    }
  }
}

/** @param {boolean} refused @returns {Promise<boolean>} Whether a key was given. */
function askForKey(refused) {
  const input = /** @type {HTMLInputElement} */ (
    h("input", {
      type: "password",
      id: "key",
      required: true,
      autocomplete: "off",
      spellcheck: false,
      placeholder: "frk_…",
      "aria-describedby": "key-help",
    })
  );
  const form = h(
    "form",
    {},
    h("h2", { id: "key-title" }, "A key, please"),
    refused && h("p", { class: "refused", role: "alert" }, "The service does not know this key, or it was revoked."),
    h(
      "p",
      { id: "key-help", class: "dim" },
      "This service answers only with an API key, such as one that ",
      h("code", {}, "finray keys add NAME"),
      " makes. It is kept until this tab is closed.",
    ),
    h("label", { for: "key" }, "API key"),
    input,
    h(
      "div",
      { class: "dialog-actions" },
      h("button", { type: "button", onclick: () => dialog.close() }, "Not now"),
      h("button", { type: "submit", class: "primary" }, "Use this key"),
    ),
  );
  const dialog = /** @type {HTMLDialogElement} */ (
    h("dialog", { class: "ask-key", id: "key-dialog", "aria-labelledby": "key-title" }, form)
  );
  return new Promise((resolve) => {
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      storeKey(input.value);
      resolve(true);
      dialog.close();
    });
    dialog.addEventListener("close", () => {
      resolve(false);
      dialog.remove();
    });
    document.body.append(dialog);
    dialog.showModal();
    input.focus();
  });
}
