// The picture of a page with its marks, at any zoom; the cell in focus gets a frame of its own.

import { fill, h } from "../dom.js";
import { getPageImage, isAbort, Problem } from "../api.js";

/** @typedef {import("../types.js").Place} Place */

const MOST_MARKS = 30;
export const ZOOMS = [1, 1.5, 2, 3];

export class PageImage {
  constructor() {
    this.element = h("div", { class: "paper", tabIndex: 0, role: "group", "aria-label": "Page image" });
    this._url = "";
    this._dpi = 0;
    this._zoom = 1;
    this._load = new AbortController();
  }

  /**
   * Draws the page of `place`. Resolves to whether there is a picture; throws Problem for anything but "not found".
   *
   * @param {Place} place
   * @param {string} description
   * @returns {Promise<boolean>}
   */
  async show(place, description) {
    this.clear();
    const { signal } = (this._load = new AbortController());
    fill(
      this.element,
      h("div", { class: "drawing" }, h("span", { class: "spinner", "aria-hidden": "true" }), "Drawing the page…"),
    );
    const dpi = dpiFor(this._zoom);
    const ranges = place.passages
      .slice(0, MOST_MARKS)
      .map((passage) => /** @type {[number, number]} */ ([passage.start, passage.end]));
    const boxes = place.cells.flatMap((cell) => (cell.box ? [cell.box] : [])).slice(0, MOST_MARKS);
    try {
      const blob = await getPageImage(place.filingId, place.page, { ranges, boxes, dpi }, signal);
      if (signal.aborted) return true;
      this._url = URL.createObjectURL(blob);
    } catch (error) {
      if (isAbort(error)) return true;
      if (error instanceof Problem && error.failure.status === 404) return false;
      throw error;
    }
    const image = /** @type {HTMLImageElement} */ (h("img", { src: this._url, alt: description, class: "sheet" }));
    await image.decode();
    if (signal.aborted) return true;
    const sheet = h("div", { class: "sheet-frame" }, image);
    fill(this.element, sheet);
    this._dpi = dpi;
    this._applyZoom();
    this._lookAt(sheet, image, place, dpi);
    return true;
  }

  clear() {
    this._load.abort();
    if (this._url) URL.revokeObjectURL(this._url);
    this._url = "";
    fill(this.element);
  }

  /** @param {number} zoom @returns {boolean} Whether the page must be drawn anew to be sharp. */
  zoom(zoom) {
    this._zoom = zoom;
    this._applyZoom();
    return dpiFor(zoom) > this._dpi;
  }

  _applyZoom() {
    this.element.style.setProperty("--zoom", String(this._zoom));
  }

  /** Bring what is marked into view. @param {HTMLElement} sheet @param {HTMLImageElement} image @param {Place} place @param {number} dpi */
  _lookAt(sheet, image, place, dpi) {
    const box = (place.focus ?? place.cells.find((cell) => cell.box))?.box;
    const toPart = 72 / dpi;
    const width = image.naturalWidth * toPart;
    const height = image.naturalHeight * toPart;
    if (!box) {
      this.element.scrollTop = 0;
      return;
    }
    const [x0 = 0, y0 = 0, x1 = 0, y1 = 0] = box;
    const percent = (/** @type {number} */ part, /** @type {number} */ whole) => `${(100 * part) / whole}%`;
    if (place.focus) {
      sheet.append(
        h("span", {
          class: "spot",
          "aria-hidden": "true",
          vars: {
            "--x": percent(x0, width),
            "--y": percent(y0, height),
            "--w": percent(x1 - x0, width),
            "--h": percent(y1 - y0, height),
          },
        }),
      );
    }
    this.element.scrollTop = (y0 / height) * sheet.clientHeight - this.element.clientHeight / 3;
    this.element.scrollLeft = (x0 / width) * sheet.clientWidth - this.element.clientWidth / 2;
  }
}

/** Sharp enough for the zoom and the screen, within what the service draws. @param {number} zoom */
const dpiFor = (zoom) => Math.min(200, Math.round(90 * zoom * Math.min(2, Math.max(1, window.devicePixelRatio))));
