// The pages that a run rests on: which, what to mark on them, and how to name them.

import { filingsOf } from "./run.js";

/** @typedef {import("./types.js").Place} Place */
/** @typedef {import("./types.js").Passage} Passage */
/** @typedef {import("./types.js").Cell} Cell */

export class Places {
  /** @param {import("./types.js").Run} run @param {import("./library.js").Library|null} library */
  constructor(run, library) {
    this._library = library;
    this._filings = filingsOf(run);
    this._passages = run.prediction?.evidence ?? [];
    this._cells = run.prediction?.operands ?? [];
    this._blocks = run.prediction?.evidence_blocks ?? [];
    /** Each page of the evidence once, pages with figures of the computation first. @type {Place[]} */
    this.evidence = this._pages();
  }

  /** @param {Cell} cell @returns {Place} */
  ofCell(cell) {
    return { ...this._at(cell), focus: cell };
  }

  /** A passage of the retrieval: marked itself, whether it was kept or not. @param {Passage} passage @returns {Place} */
  ofPassage(passage) {
    const place = this._at(passage);
    return place.passages.length ? place : { ...place, passages: [passage] };
  }

  /** @param {Place} place */
  title(place) {
    return `${this.filing(place.filingId, place.docName)}, p. ${place.page + 1}`;
  }

  /** Tells the pages of the evidence apart: where all are of one filing, the page is enough. @param {Place} place */
  shortTitle(place) {
    const alone = this.evidence.every((each) => each.filingId === place.filingId);
    return alone ? `Page ${place.page + 1}` : this.title(place);
  }

  /** @param {string} filingId @param {string} docName */
  filing(filingId, docName) {
    const known = this._filings.get(filingId) ?? { doc_name: docName };
    return this._library?.title(filingId, known) ?? known.doc_name;
  }

  /** @param {Passage|Cell} on @returns {Place} */
  _at({ filing_id, page, doc_name }) {
    /** @param {{filing_id: string, page: number}} each */
    const here = (each) => each.filing_id === filing_id && each.page === page;
    return {
      filingId: filing_id,
      page,
      docName: doc_name,
      passages: this._passages.filter(here),
      cells: this._cells.filter(here),
      blocks: this._blocks.filter(here),
    };
  }

  /** @returns {Place[]} */
  _pages() {
    const seen = new Map();
    for (const on of [...this._cells, ...this._passages]) {
      const key = `${on.filing_id} ${on.page}`;
      if (!seen.has(key)) seen.set(key, this._at(on));
    }
    return [...seen.values()];
  }
}
