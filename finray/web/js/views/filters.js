// Narrows the filings down: one box that suggests companies, forms and fiscal years, and a chip for each that was chosen.
// The box is a combobox with a listbox (WAI-ARIA Authoring Practices).

import { choices, FACETS, isNarrowed, labelOf, noFilters, withChoice, withoutChoice } from "../choices.js";
import { fill, h, icon } from "../dom.js";
import { plural } from "../format.js";
import { announce } from "./announce.js";

/** @typedef {import("../types.js").Filters} Filters */
/** @typedef {import("../choices.js").Choice} Choice */
/** @typedef {import("../choices.js").Facet} Facet */

const MOST_OF_A_FACET = 40;

export class FilterBar {
  /** @param {Element} root */
  constructor(root) {
    this.filters = noFilters();
    /** @type {import("../library.js").Library|null} */ this._library = null;
    /** @type {Choice[]} */ this._choices = [];
    this._active = -1;
    this._chips = h("ul", { class: "chips", "aria-label": "Chosen filters" });
    this._count = h("span", { class: "dim count" });
    this._list = h("div", {
      class: "options",
      id: "filter-options",
      role: "listbox",
      "aria-label": "Companies, forms and fiscal years",
      hidden: true,
    });
    this._input = /** @type {HTMLInputElement} */ (
      h("input", {
        type: "text",
        id: "filter",
        role: "combobox",
        autocomplete: "off",
        spellcheck: false,
        placeholder: "Company, form or year",
        "aria-expanded": "false",
        "aria-controls": "filter-options",
        "aria-autocomplete": "list",
        oninput: () => this._open(),
        onfocus: () => this._open(),
        onclick: () => this._open(),
        onblur: () => this._close(),
        onkeydown: (/** @type {KeyboardEvent} */ event) => this._onKey(event),
      })
    );
    const label = h("label", { for: "filter" }, icon("filter"), "Only");
    fill(root, label, this._chips, h("div", { class: "combo" }, this._input, this._list), this._count);
    this._show();
  }

  /** @param {import("../library.js").Library} library */
  offer(library) {
    this._library = library;
    this._show();
  }

  /** @param {Filters} filters */
  set(filters) {
    this.filters = filters;
    this._show();
  }

  _show() {
    const chips = /** @type {Facet[]} */ (Object.keys(FACETS)).flatMap((facet) =>
      this.filters[facet].map((value) => this._chip(facet, value)),
    );
    this._chips.hidden = !chips.length;
    fill(this._chips, chips);
    if (!this._library) return;
    const all = this._library.covers.length;
    const matching = this._library.matching(this.filters).length;
    this._count.textContent =
      this._library.complete && isNarrowed(this.filters) ? `${matching} of ${plural(all, "filing")}` : "";
    this._count.classList.toggle("none", !matching);
  }

  /** @param {Facet} facet @param {string|number} value */
  _chip(facet, value) {
    const label = labelOf(this._library, facet, value);
    const remove = () => {
      this.set(withoutChoice(this.filters, facet, value));
      announce(`${label} removed. ${this._count.textContent}`, true);
      this._input.focus();
      this._close();
    };
    return h(
      "li",
      {},
      h(
        "button",
        { type: "button", class: "chip", "aria-label": `Remove ${FACETS[facet]} ${label}`, onclick: remove },
        h("span", {}, label),
        icon("close"),
      ),
    );
  }

  _open() {
    if (!this._library) return;
    const shown = new Map();
    this._choices = choices(this._library, this.filters, this._input.value).filter(({ facet }) => {
      shown.set(facet, (shown.get(facet) ?? 0) + 1);
      return shown.get(facet) <= MOST_OF_A_FACET;
    });
    this._active = this._input.value && this._choices.length ? 0 : -1;
    this._options();
    this._list.hidden = false;
    this._input.setAttribute("aria-expanded", "true");
  }

  _close() {
    this._list.hidden = true;
    this._input.setAttribute("aria-expanded", "false");
    this._input.removeAttribute("aria-activedescendant");
  }

  _options() {
    const groups = /** @type {Facet[]} */ (Object.keys(FACETS)).map((facet) => {
      const options = this._choices.flatMap((choice, i) => (choice.facet === facet ? [this._option(choice, i)] : []));
      const title = `options-${facet}`;
      return (
        options.length > 0 &&
        h(
          "div",
          { role: "group", "aria-labelledby": title },
          h("div", { class: "facet", id: title, role: "presentation" }, FACETS[facet]),
          options,
        )
      );
    });
    if (this._choices.length) fill(this._list, groups);
    else
      fill(
        this._list,
        h(
          "div",
          { class: "facet", role: "option", "aria-disabled": "true", "aria-selected": "false" },
          "Nothing like that is in the index",
        ),
      );
    const active = this._active >= 0 ? `option-${this._active}` : "";
    if (active) this._input.setAttribute("aria-activedescendant", active);
    else this._input.removeAttribute("aria-activedescendant");
    this._list.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }

  /** @param {Choice} choice @param {number} i */
  _option(choice, i) {
    return h(
      "div",
      {
        class: "option",
        id: `option-${i}`,
        role: "option",
        "aria-selected": String(i === this._active),
        // A press would take the focus from the box, and close the list before the click.
        onmousedown: (/** @type {Event} */ event) => event.preventDefault(),
        onclick: () => this._choose(choice),
      },
      h("span", {}, choice.label),
      choice.hint && h("span", { class: "dim" }, choice.hint),
      h("span", { class: "dim many" }, choice.count || ""),
    );
  }

  /** @param {Choice} choice */
  _choose(choice) {
    this.set(withChoice(this.filters, choice.facet, choice.value));
    this._input.value = "";
    this._close();
    announce(`Only ${choice.label}. ${this._count.textContent}`, true);
  }

  /** @param {KeyboardEvent} event */
  _onKey(event) {
    const last = this._choices.length - 1;
    const open = !this._list.hidden;
    const choice = this._choices[this._active];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      if (!open) this._open();
      this._active = this._active + step > last ? 0 : this._active + step < 0 ? last : this._active + step;
      this._options();
    } else if (event.key === "Enter" && open && choice) {
      event.preventDefault();
      this._choose(choice);
    } else if (event.key === "Escape" && open) {
      event.stopPropagation();
      this._close();
    } else if (event.key === "Backspace" && !this._input.value) {
      const chips = this._chips.querySelectorAll("button");
      chips[chips.length - 1]?.click();
    }
  }
}
