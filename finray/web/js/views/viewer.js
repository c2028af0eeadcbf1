// Looks at one page: its picture with the evidence marked, next to its text.

import { getPage, isAbort, Problem } from "../api.js";
import { fill, h } from "../dom.js";
import { kindOfPage } from "../format.js";
import { announce } from "./announce.js";
import { showPageBar } from "./page_bar.js";
import { PageImage, ZOOMS } from "./page_image.js";
import { cellMarks, pageText } from "./page_text.js";
import { renderedEvidence } from "./rendered.js";

/** @typedef {import("../types.js").Place} Place */
/** @typedef {import("../types.js").Page} Page */
/** @typedef {import("../places.js").Places} Places */

export class Viewer {
  /** @param {Element} root */
  constructor(root) {
    this._root = root;
    this._image = new PageImage();
    this._text = h("div", { class: "text", tabIndex: 0, role: "group", "aria-label": "Text of the page" });
    this._note = h("p", { class: "dim note" });
    this._title = h("h2", { id: "viewer-title", tabIndex: -1 });
    this._kind = h("p", { class: "dim kind" });
    this._tabs = h("ul", { class: "tabs" });
    this._bar = h("div", { class: "bar-row", role: "group", "aria-label": "Page and zoom" });
    this._panes = h("div", { class: "panes", "data-show": "both" }, this._image.element, this._text);
    this._load = new AbortController();
    this._zoom = 0;
    /** How many pages a filing has, as far as known. */
    this._count = { of: "", pages: 0 };
    this._does = {
      turn: (/** @type {number} */ by) => this._turn(by),
      home: () => this._home && void this._show(this._home),
      zoom: (/** @type {number} */ by) => this._zoomBy(by),
      show: (/** @type {string} */ what) => {
        this._panes.dataset.show = what;
        this._barView();
      },
    };
    /** @type {Places|null} */ this._places = null;
    /** @type {Place|null} */ this._place = null;
    /** @type {Place|null} */ this._home = null;
    /** @type {Page|null} */ this._page = null;
    this._view = h(
      "section",
      { class: "card viewer", "aria-labelledby": "viewer-title" },
      this._tabs,
      this._title,
      this._kind,
      this._bar,
      this._note,
      this._panes,
    );
    this._view.addEventListener("keydown", (event) => this._onKey(event));
  }

  /** @param {Places} places Of the run whose pages are to be seen from now on. */
  begin(places) {
    this._places = places;
    this._place = this._home = this._page = null;
    this._image.clear();
    fill(this._root);
    const [first] = places.evidence;
    if (first) void this.open(first, false);
  }

  clear() {
    this._load.abort();
    this._image.clear();
    fill(this._root);
  }

  /** @param {Place} place @param {boolean} [focus] Whether to move there: a person asked for it. */
  async open(place, focus = true) {
    this._home = place;
    if (!this._view.isConnected) fill(this._root, this._view);
    const shown = this._show(place);
    if (focus) {
      this._title.focus({ preventScroll: true });
      this._view.scrollIntoView({ block: "nearest", behavior: calm() ? "auto" : "smooth" });
    }
    await shown;
  }

  /** @param {Place} place */
  async _show(place) {
    this._load.abort();
    const { signal } = (this._load = new AbortController());
    this._place = place;
    this._page = null;
    this._title.textContent = this._places?.title(place) ?? "";
    this._kind.textContent = " ";
    this._note.textContent = "";
    this._tabsView();
    this._barView();
    this._panes.dataset.has = "image";
    fill(this._text, h("p", { class: "dim" }, "Loading…"));
    try {
      const page = await getPage(place.filingId, place.page, signal);
      this._page = page;
      this._panes.dataset.has = page.has_image ? "image" : "text";
      this._count = { of: page.filing_id, pages: page.n_pages };
      this._kind.textContent = [`Page ${page.page + 1} of ${page.n_pages}`, kindOfPage(page), place.docName]
        .filter(Boolean)
        .join(" · ");
      this._barView();
      this._showText(page, place);
      await this._draw(page, place);
    } catch (error) {
      if (isAbort(error)) return;
      if (!(error instanceof Problem)) throw error;
      const { message, requestId } = error.failure;
      this._note.textContent = `${message}${requestId ? ` (request id ${requestId})` : ""}`;
      this._panes.dataset.has = this._page ? "text" : "nothing";
    }
  }

  /** @param {Page} page @param {Place} place */
  async _draw(page, place) {
    if (!page.has_image) this._image.clear();
    const drawn = page.has_image && (await this._image.show(place, this._describe(page, place)));
    if (place !== this._place) return;
    this._panes.dataset.has = drawn ? "image" : "text";
    if (!drawn) this._lookAtMark(); // the text has another width now
    if (!drawn)
      this._note.textContent = page.has_image
        ? "The source of this filing cannot be reached, so here is its text."
        : "This filing is HTML, so here is its text.";
    this._barView();
    announce(`Showing ${this._places?.title(place) ?? "the page"}`);
  }

  /** @param {Page} page @param {Place} place */
  _describe(page, place) {
    const marked = place.cells.map((cell) => `${cell.label} ${cell.text}`).join("; ");
    const what = marked || (place.passages.length ? "the passage" : "");
    return `Page ${page.page + 1} of ${page.doc_name}${what ? `; marked: ${what}` : ""}. Its text stands next to it.`;
  }

  /** @param {Page} page @param {Place} place */
  _showText(page, place) {
    const passages = place.passages.map(({ start, end }) => ({ start, end, kind: /** @type {const} */ ("passage") }));
    fill(
      this._text,
      renderedEvidence(place.blocks, place.cells),
      pageText(page.text, [...passages, ...cellMarks(page.text, place.cells, place.focus)]),
    );
    this._lookAtMark();
  }

  _lookAtMark() {
    this._text.scrollTop = 0;
    const mark =
      this._text.querySelector("mark.on-focus") ??
      this._text.querySelector("mark.on-figure") ??
      (this._text.querySelector(".rendered") ? null : this._text.querySelector("mark"));
    if (mark)
      this._text.scrollTop =
        mark.getBoundingClientRect().top - this._text.getBoundingClientRect().top - this._text.clientHeight / 3;
  }

  _tabsView() {
    const places = this._places?.evidence ?? [];
    const here = this._home;
    this._tabs.hidden = places.length < 2;
    fill(
      this._tabs,
      places.map((place) => {
        const current = here && place.filingId === here.filingId && place.page === here.page;
        return h(
          "li",
          {},
          h(
            "button",
            {
              type: "button",
              class: "tab",
              "aria-current": current ? "true" : null,
              onclick: () => void this.open(place),
            },
            this._places?.shortTitle(place),
          ),
        );
      }),
    );
  }

  _barView() {
    const known = this._count.of === this._place?.filingId;
    const bar = {
      page: this._place?.page ?? 0,
      last: known ? this._count.pages - 1 : Infinity,
      away: this._home !== this._place,
      pictured: this._panes.dataset.has === "image",
      zoom: ZOOMS[this._zoom] ?? 1,
      least: this._zoom === 0,
      most: this._zoom === ZOOMS.length - 1,
      show: this._panes.dataset.show ?? "both",
    };
    showPageBar(this._bar, bar, this._does, this._title);
  }

  /** @param {number} by */
  _turn(by) {
    const { _place: place, _home: home } = this;
    if (!place || !home) return;
    const page = place.page + by;
    if (page < 0 || (this._count.of === place.filingId && page >= this._count.pages)) return;
    const { filingId, docName } = place;
    const blank = { filingId, docName, page, passages: [], cells: [], blocks: [] };
    void this._show(page === home.page ? home : blank);
  }

  /** @param {number} by */
  _zoomBy(by) {
    this._zoom = Math.max(0, Math.min(ZOOMS.length - 1, this._zoom + by));
    const blurred = this._image.zoom(ZOOMS[this._zoom] ?? 1);
    if (blurred && this._page && this._place) void this._draw(this._page, this._place);
    this._barView();
  }

  /** @param {KeyboardEvent} event */
  _onKey(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const does = {
      "+": () => this._zoomBy(1),
      "-": () => this._zoomBy(-1),
      "]": () => this._turn(1),
      "[": () => this._turn(-1),
    }[event.key];
    if (!does) return;
    event.preventDefault();
    does();
  }
}

const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
