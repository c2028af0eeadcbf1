"""Ranks the filings that should have the answer to a query."""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from finray.core.filing import Filing
from finray.core.filing_filter import FilingFilter
from finray.core.journal import Journal
from finray.core.passages import Document
from finray.core.query import Query
from finray.core.roles import DocumentRetriever
from finray.core.settings import IndexSettings
from finray.index.reading.reader import IndexReader
from finray.models.encoder import Encoder, query_vector
from finray.question.companies.catalog import CompanyCatalog
from finray.question.forms import forms_implied
from finray.retrieval.alike import alike
from finray.retrieval.filing_match import PERIOD_MATCH, match_score, period_fit
from finray.retrieval.page_cosines import PageCosines
from finray.retrieval.unidentified import UnidentifiedFilings

_CONTENT_WEIGHT = 0.3
"""The most that text can add to the cover match of a company's filing: it decides between neighboring years."""
_WORDS_SHARE = 0.75
"""Share of BM25 in the text score; the rest is the cosine. Chosen on develop: if a question names no year, or one next
to the filing's, its words find the filing."""
_RECENCY_WEIGHT = 0.3
"""A question without a period is about the present: newer filings are preferred unless the text decides otherwise."""
_CONTENT_HITS = 300
_BEHIND = 0.001
"""Unidentified filings score this much less than the last filing of the period asked for."""
_COVERS = 20
"""The text of this many filings of a company is searched: those whose covers match best."""


class StructuredDocuments:
    """Ranks filings by cover facts (company, period, form), and ties by their best-matching text.

    If the question names no company, all filings compete and text decides. If it names a company that the index lacks,
    only unidentified filings whose text names it remain (a look-alike would be worse than none), unless the query says
    ``anywhere``.
    """

    def __init__(
        self,
        reader: IndexReader,
        encoder: Encoder,
        catalog: CompanyCatalog,
        cache_bytes: int = IndexSettings().cache_bytes // 8,
    ) -> None:
        self._reader = reader
        self._cosines = PageCosines(reader, cache_bytes)
        self._encoder = encoder
        self._catalog = catalog
        self._filings = reader.filings()
        self._unidentified = UnidentifiedFilings(reader, catalog)
        self._newest: dt.date | None = pc.max(self._filings.column("period_end")).as_py()

    async def documents(self, query: Query, k: int, journal: Journal) -> Sequence[Document]:
        await query_vector(self._encoder, query.question)
        if query.unknown_companies and not query.companies and not query.anywhere:
            naming = self._filings.named(self._unidentified.naming(query.unknown_companies))
            journal.note(
                f"documents: no filing of {', '.join(query.unknown_companies)} in the index; {len(naming)} of unknown "
                "companies name it"
            )
            chosen = self._ranked(query, naming)[:k]
        elif query.companies:
            chosen = _interleaved([self._ranked_with_unidentified(query, company) for company in query.companies], k)
        else:
            chosen = self._ranked_by_text(query, k)
        _note(chosen, journal)
        return chosen

    def _ranked_with_unidentified(self, query: Query, company: str) -> list[Document]:
        """The filings of ``company``, with unidentified filings that name it after those of the period asked for."""
        ranked = self._ranked(query, self._filings.named(self._catalog.filings_of(company)))
        naming = self._unidentified.own(self._catalog.companies[company].names)
        if not naming:
            return ranked
        matches = (d.score for d in ranked if period_fit(d.filing, query.filed)[0] >= PERIOD_MATCH)
        ceiling = min(matches, default=1.0) - _BEHIND
        others = self._ranked(query, self._filings.named(naming))
        ranked += [replace(document, score=min(document.score, ceiling)) for document in others]
        return sorted(ranked, key=lambda document: -document.score)

    def _ranked(self, query: Query, filings: Sequence[Filing]) -> list[Document]:
        """The filings of one company by cover facts; text decides between similar ones."""
        score = self._cover_score(query)
        scored = [Document(filing, *score(filing)) for filing in filings]
        scored.sort(key=lambda document: -document.score)
        best = scored[:_COVERS]
        content = self._content(query, [document.filing.filing_id for document in best])
        return _with_content(best, content, _CONTENT_WEIGHT)

    def _ranked_by_text(self, query: Query, k: int) -> list[Document]:
        """The best ``k`` of all filings. Filings without a text hit compete by their covers alone, so only those with
        the best covers are scored."""
        content = self._content(query, None)
        hits = {self._filings.ids.position(filing_id) for filing_id in content}
        score = self._cover_score(query)
        covers = [(*score(cover), positions) for cover, positions in self._alike]
        covers.sort(key=lambda cover: -cover[0])
        candidates: dict[int, tuple[float, tuple[str, ...]]] = {}
        others = 0
        lowest = 0.0
        for points, reasons, positions in covers:
            if others >= k and points < lowest:
                break
            own = positions.tolist()
            others += sum(position not in hits for position in own)
            lowest = points
            candidates |= dict.fromkeys(own, (points, reasons))
        known = self._filings.at(list(candidates))
        documents = [Document(filing, *cover) for filing, cover in zip(known, candidates.values(), strict=True)]
        found = self._filings.at([position for position in hits if position is not None and position not in candidates])
        documents += [Document(filing, *score(filing)) for filing in found]
        return _with_content(documents, content, 1.0)[:k]

    @cached_property
    def _alike(self) -> list[tuple[Filing, npt.NDArray[np.int32]]]:
        """All filings, grouped by their cover facts except the company."""
        return alike(self._filings)

    def _cover_score(self, query: Query) -> Callable[[Filing], tuple[float, tuple[str, ...]]]:
        """A function that returns score and reasons of a filing, by its cover facts except the company."""
        implied = forms_implied(query.intents, query.latest)
        ahead = "looks_ahead" in query.intents and not query.source

        def score(filing: Filing) -> tuple[float, tuple[str, ...]]:
            points, reasons = match_score(filing, query.filed, query.forms, implied, ahead=ahead)
            if not query.periods:
                points += _RECENCY_WEIGHT * _recency(filing.period_end, self._newest)
            return points, reasons

        return score

    def _content(self, query: Query, ids: Sequence[str] | None) -> dict[str, float]:
        """How well the text of the filings ``ids`` (None: all) matches, in [0, 1].

        It is a weighted mean of the cosine and the BM25 score of their best pages, each scaled to [0, 1]. Filings
        without a hit are left out and count as 0.
        """
        vector = self._encoder.encode_query(query.question)
        if ids is None:
            dense = _best_by_filing(*_hits(self._reader.search_pages_vector(vector, None, limit=_CONTENT_HITS)))
        else:
            dense = _best_by_filing(*self._cosines.nearest(vector, ids, _CONTENT_HITS))
        lexical = _best_by_filing(*_hits(self._reader.search_pages_text(query.text, ids, limit=_CONTENT_HITS)))
        share = 0.5 if ids is None else _WORDS_SHARE
        return {i: (1 - share) * dense.get(i, 0.0) + share * lexical.get(i, 0.0) for i in dense | lexical}


class NarrowedDocuments:
    """The best ``k`` documents of ``inner`` that pass ``narrowed``."""

    def __init__(self, inner: DocumentRetriever, reader: IndexReader, narrowed: FilingFilter) -> None:
        self._inner = inner
        self._narrowed = narrowed
        self._filings = len(reader.revisions)

    async def documents(self, query: Query, k: int, journal: Journal) -> Sequence[Document]:
        # A separate journal: notes about filings that do not pass would only confuse readers.
        proposed = await self._inner.documents(query, self._filings, Journal())
        passes = self._narrowed.test()
        chosen = list(itertools.islice((document for document in proposed if passes(document.filing)), k))
        _note(chosen, journal)
        return chosen


def _note(documents: Sequence[Document], journal: Journal) -> None:
    for rank, document in enumerate(documents, start=1):
        reasons = ", ".join(document.reasons)
        journal.note(f"document {rank}: {document.filing.doc_name} {document.score:.3f}: {reasons}")


def _with_content(documents: Sequence[Document], content: Mapping[str, float], weight: float) -> list[Document]:
    fits = [content.get(document.filing.filing_id, 0.0) for document in documents]
    rescored = [
        Document(document.filing, document.score + weight * fit, (*document.reasons, f"text {fit:.2f}"))
        for document, fit in zip(documents, fits, strict=True)
    ]
    return sorted(rescored, key=lambda document: (-document.score, document.filing.filing_id))


def _interleaved(rankings: Iterable[Sequence[Document]], k: int) -> list[Document]:
    """The best of each company, then the second of each, up to ``k``: no company crowds out another.

    An unidentified filing that names several companies is ranked by each; it counts once.
    """
    rounds = itertools.chain.from_iterable(itertools.zip_longest(*rankings))
    found: dict[str, Document] = {}
    for document in rounds:
        if document is not None:
            found.setdefault(document.filing.filing_id, document)
    return list(found.values())[:k]


def _hits(found: pa.Table) -> tuple[list[str], list[float]]:
    return found["filing_id"].to_pylist(), found["score"].to_pylist()


def _best_by_filing(ids: Sequence[str], scores: Sequence[float]) -> dict[str, float]:
    """The best score of each filing among hits, scaled so that the best hit is 1 and the worst 0."""
    best: dict[str, float] = {}
    for filing_id, score in zip(ids, scores, strict=True):
        best[filing_id] = max(score, best.get(filing_id, score))
    if not best:
        return {}
    low = min(scores)
    span = (max(best.values()) - low) or 1.0
    return {filing_id: (score - low) / span for filing_id, score in best.items()}


def _recency(period_end: dt.date | None, newest: dt.date | None) -> float:
    """1 for the newest filing of the index, and a tenth less for every year before it."""
    if period_end is None or newest is None:
        return 0.0
    return max(0.0, 1.0 - (newest - period_end).days / 3652.5)
