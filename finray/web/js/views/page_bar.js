// The buttons over a page: turn pages, zoom, and what to show of it.

import { fill, h, icon } from "../dom.js";

/**
 * @typedef {object} Bar
 * @property {number} page From 0.
 * @property {number} last Infinity while it is not known.
 * @property {boolean} away Whether another page than the evidence is shown.
 * @property {boolean} pictured
 * @property {number} zoom 1 is as wide as the pane.
 * @property {boolean} least
 * @property {boolean} most
 * @property {string} show "image", "both" or "text".
 */
/** @typedef {{turn: (by: number) => void, home: () => void, zoom: (by: number) => void, show: (what: string) => void}} Does */

/**
 * Whoever was on a button stays on it. Where it is gone or off, `otherwise` gets the focus.
 *
 * @param {HTMLElement} place
 * @param {Bar} bar
 * @param {Does} does
 * @param {HTMLElement} otherwise
 */
export function showPageBar(place, bar, does, otherwise) {
  const focused = place.contains(document.activeElement) ? document.activeElement?.getAttribute("data-do") : null;
  fill(
    place,
    button("previous", "left", "Previous page", () => does.turn(-1), bar.page <= 0),
    h("span", { class: "number" }, `p. ${bar.page + 1}`),
    button("next", "right", "Next page", () => does.turn(1), bar.page >= bar.last),
    bar.away && h("button", { type: "button", "data-do": "home", onclick: does.home }, icon("back"), "Evidence"),
    h("span", { class: "spacer" }),
    bar.pictured && [
      button("out", "minus", "Zoom out", () => does.zoom(-1), bar.least),
      h("span", { class: "number" }, `${Math.round(bar.zoom * 100)}%`),
      button("in", "plus", "Zoom in", () => does.zoom(1), bar.most),
      choices(bar.show, does.show),
    ],
  );
  if (!focused) return;
  const again = /** @type {HTMLElement|null} */ (place.querySelector(`[data-do="${focused}"]:not(:disabled)`));
  (again ?? otherwise).focus();
}

/** @param {string} shown @param {(what: string) => void} choose */
function choices(shown, choose) {
  const buttons = Object.entries({ image: "Image", both: "Both", text: "Text" }).map(([what, name]) =>
    h(
      "button",
      { type: "button", "data-do": what, "aria-pressed": String(what === shown), onclick: () => choose(what) },
      name,
    ),
  );
  return h("span", { class: "choice", role: "group", "aria-label": "Show" }, buttons);
}

/** @param {string} name @param {Parameters<typeof icon>[0]} picture @param {string} label @param {() => void} onclick @param {boolean} disabled */
const button = (name, picture, label, onclick, disabled) =>
  h(
    "button",
    { type: "button", class: "square", "data-do": name, "aria-label": label, title: label, onclick, disabled },
    icon(picture),
  );
