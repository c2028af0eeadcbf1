"""An inverted index in memory: the texts that contain a term, with its weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from finray.models.sparse_encoder import SparseVector


@dataclass(frozen=True, slots=True)
class Postings:
    """Rows and weights sorted by term: those of ``terms[i]`` are ``starts[i]:starts[i + 1]``. Eight bytes per posting,
    about 1 kB per chunk with SPLADE."""

    n_rows: int
    terms: npt.NDArray[np.int32]
    starts: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int32]
    weights: npt.NDArray[np.float32]

    @classmethod
    def of(
        cls, lengths: npt.NDArray[np.int64], terms: npt.NDArray[np.int32], weights: npt.NDArray[np.float32]
    ) -> Postings:
        """From vectors laid end to end: row i has ``lengths[i]`` of ``terms`` and ``weights``."""
        order = np.argsort(terms, kind="stable")
        distinct, starts = np.unique(terms[order], return_index=True)
        rows = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)[order]
        return cls(len(lengths), distinct, np.append(starts, len(terms)), rows, weights[order])

    def scores(self, query: SparseVector) -> npt.NDArray[np.float32]:
        """float32 [n_rows]: the dot product of ``query`` with each row."""
        scores = np.zeros(self.n_rows, dtype=np.float32)
        places = np.searchsorted(self.terms, query.terms)
        for place, term, weight in zip(places, query.terms, query.weights, strict=True):
            if place < len(self.terms) and self.terms[place] == term:
                span = slice(self.starts[place], self.starts[place + 1])
                scores[self.rows[span]] += weight * self.weights[span]  # a term occurs once per row
        return scores
