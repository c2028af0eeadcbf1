"""Page- and statement-aware passage ranking inside the chosen filings.

A page's score joins three views of its text (dense over chunks, BM25 over chunks, BM25 over the page) with two facts
about its place: is it the primary statement the question needs, and how well does its filing match. Each page gives
its best chunk; the passages of the first k pages are the result, so k passages cover k pages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from finray.filings.canonical import metric_names  # noqa: F401
from finray.hirec.roles import Journal
from finray.index.reader import IndexReader
from finray.models.encoder import Encoder
from finray.retrieval.query import Query
from finray.types import Document, Passage, Statement

_Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PageWeights:
    """How the views of a page add up. Text views are scaled to [0, 1] within the candidate filings first.

    ``named`` and ``implied`` are added to pages that carry a statement which the question names, or which its metrics
    imply; ``document`` multiplies the filing's match score.
    """

    dense: float = 1.0
    chunk_lexical: float = 0.7
    page_lexical: float = 0.5
    named: float = 1.2
    implied: float = 0.8
    document: float = 3.0
