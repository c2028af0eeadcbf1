// What a screen reader is told, and short notes that everybody sees.

import { byId } from "../dom.js";

let timer = 0;

/** Stages follow each other quickly: only the last of a few moments is said. @param {string} text @param {boolean} [atOnce] */
export function announce(text, atOnce = false) {
  clearTimeout(timer);
  const say = () => (byId("live").textContent = text);
  if (atOnce) say();
  else timer = window.setTimeout(say, 400);
}

let toastTimer = 0;

/** @param {string} text */
export function toast(text) {
  const place = byId("toast");
  place.textContent = text;
  place.classList.add("shown");
  clearTimeout(toastTimer);
  toastTimer = window.setTimeout(() => {
    place.classList.remove("shown");
    place.textContent = "";
  }, 3000);
}
