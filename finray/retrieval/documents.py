"""Document retrieval: from a query to the filings that should hold the answer."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import pyarrow as pa

from finray.core.journal import Journal
from finray.core.query import Query
from finray.core.types import Document, Filing
from finray.index.reader import IndexReader
from finray.models.encoder import Encoder
from finray.question.companies import CompanyCatalog
from finray.question.forms import forms_implied
from finray.retrieval.filing_match import PERIOD_MATCH, match_score, period_fit
from finray.retrieval.unidentified import UnidentifiedFilings

_CONTENT_WEIGHT = 0.08
"""What the best-matching text of a filing can add to its cover match: enough to order equals, not to overturn."""
_RECENCY_WEIGHT = 0.3
"""A question without a period is about the present: the newest filing, whatever its form, until the text speaks."""
_CONTENT_HITS = 300
_BEHIND = 0.001
_COVERS = 20
"""Filings of a company whose text is looked at."""


class StructuredDocuments:
    """Cover facts first (company, period, form), the best-matching text to order equals.

    With no company in the question every filing competes, and text decides. A company that the index does not hold
    yields no documents but those without a known company whose text names it: a look-alike would be worse than none.
    """

    def __init__(self, reader: IndexReader, encoder: Encoder, catalog: CompanyCatalog) -> None:
        self._reader = reader
        self._encoder = encoder
        self._catalog = catalog
        self._catalog = catalog
        self._filings = {filing.filing_id: filing for filing in reader.filings()}
        self._of_company: dict[str, list[Filing]] = defaultdict(list)
        for filing in self._filings.values():
            self._of_company[catalog.company_of_filing[filing.filing_id]].append(filing)
        self._unidentified = UnidentifiedFilings(reader, catalog)
        self._newest = max((f.period_end for f in self._filings.values() if f.period_end), default=None)

    async def documents(self, query: Query, k: int, journal: Journal) -> Sequence[Document]:
        if query.unknown_companies and not query.companies:
            naming = [self._filings[i] for i in self._unidentified.naming(query.unknown_companies)]
            journal.note(
                f"documents: no filing of {', '.join(query.unknown_companies)} in the index; {len(naming)} of unknown "
                "companies name it"
            )
            chosen = self._ranked(query, naming)[:k]
        elif query.companies:
            rankings = [self._ranked_with_unidentified(query, company) for company in query.companies]
            chosen = _interleaved(rankings, k)
        else:
            chosen = self._ranked_by_text(query, k)
        for rank, document in enumerate(chosen, start=1):
            journal.note(
                f"document {rank}: {document.filing.doc_name} {document.score:.3f}: {', '.join(document.reasons)}"
            )
        return chosen

    def _ranked_with_unidentified(self, query: Query, company: str) -> list[Document]:
        """The filings of ``company``; behind those of the period asked for the unidentified ones that speak of it."""
        ranked = self._ranked(query, self._of_company[company])
        naming = self._unidentified.own(self._catalog.companies[company].names)
        if not naming:
            return ranked
        matches = (d.score for d in ranked if period_fit(d.filing, query.periods)[0] >= PERIOD_MATCH)
        ceiling = min(matches, default=1.0) - _BEHIND
        others = self._ranked(query, [self._filings[filing_id] for filing_id in naming])
        ranked += [replace(document, score=min(document.score, ceiling)) for document in others]
        return sorted(ranked, key=lambda document: -document.score)

    def _ranked(self, query: Query, filings: Sequence[Filing]) -> list[Document]:
        """The filings of one company: cover facts first, text to order equals."""
        score = self._cover_score(query)
        scored = [Document(filing, *score(filing)) for filing in filings]
        scored.sort(key=lambda document: -document.score)
        best = scored[:_COVERS]
        content = self._content(query, [document.filing.filing_id for document in best])
        return _with_content(best, content, _CONTENT_WEIGHT)

    def _ranked_by_text(self, query: Query, k: int) -> list[Document]:
        """The best ``k`` of all filings. Those without a text hit can only be the best covers, so that few are scored
        together however many there are."""
        content = self._content(query, None)
        score = self._cover_score(query)
        covers = [(*score(filings[0]), filings) for filings in self._alike]
        covers.sort(key=lambda cover: -cover[0])
        candidates: list[Document] = []
        others = 0
        lowest = 0.0
        for points, reasons, filings in covers:
            if others >= k and points < lowest:
                break
            others += sum(filing.filing_id not in content for filing in filings)
            lowest = points
            candidates += [Document(filing, points, reasons) for filing in filings]
        known = {document.filing.filing_id for document in candidates}
        found = [self._filings[filing_id] for filing_id in content if filing_id not in known]
        candidates += [Document(filing, *score(filing)) for filing in found]
        return _with_content(candidates, content, 1.0)[:k]

    @cached_property
    def _alike(self) -> list[list[Filing]]:
        """All filings, those together whose covers differ in the company only."""
        groups: dict[tuple[object, ...], list[Filing]] = defaultdict(list)
        for f in self._filings.values():
            groups[f.form, f.is_amendment, f.period_end, f.filed_at, f.fiscal_year, f.fiscal_period].append(f)
        return list(groups.values())

    def _cover_score(self, query: Query) -> Callable[[Filing], tuple[float, tuple[str, ...]]]:
        """Score and reasons of a filing by what its cover says besides the company."""
        implied = forms_implied(query.intents, query.latest)
        ahead = "looks_ahead" in query.intents

        def score(filing: Filing) -> tuple[float, tuple[str, ...]]:
            points, reasons = match_score(filing, query.periods, query.forms, implied, ahead=ahead)
            if not query.periods:
                points += _RECENCY_WEIGHT * _recency(filing.period_end, self._newest)
            return points, reasons

        return score

    def _content(self, query: Query, ids: Sequence[str] | None) -> dict[str, float]:
        """How well the text of filings (None: of all) fits: the best page's cosine and the best BM25 score, each
        scaled to [0, 1] among them. Filings without a hit are left out: they have 0."""
        vector = self._encoder.encode_query(query.question)
        dense = _best_by_filing(self._reader.search_pages_vector(vector, ids, limit=_CONTENT_HITS))
        lexical = _best_by_filing(self._reader.search_pages_text(query.text, ids, limit=_CONTENT_HITS))
        return {i: (dense.get(i, 0.0) + lexical.get(i, 0.0)) / 2 for i in dense | lexical}


def _with_content(documents: Sequence[Document], content: Mapping[str, float], weight: float) -> list[Document]:
    rescored = []
    for document in documents:
        fit = content.get(document.filing.filing_id, 0.0)
        rescored.append(
            Document(document.filing, document.score + weight * fit, (*document.reasons, f"text {fit:.2f}"))
        )
    return sorted(rescored, key=lambda document: (-document.score, document.filing.filing_id))


def _interleaved(rankings: Iterable[Sequence[Document]], k: int) -> list[Document]:
    """The best of each company, then the second of each, up to ``k``: no company crowds out another."""
    pending = [list(ranking) for ranking in rankings]
    chosen: list[Document] = []
    while len(chosen) < k and any(pending):
        for ranking in pending:
            if ranking and len(chosen) < k:
                chosen.append(ranking.pop(0))
    return chosen


def _best_by_filing(hits: pa.Table) -> dict[str, float]:
    """The best score of each filing among ``hits``, scaled so that the best of all is 1 and the worst hit 0."""
    best: dict[str, float] = {}
    for filing_id, score in zip(hits["filing_id"].to_pylist(), hits["score"].to_pylist(), strict=True):
        best[filing_id] = max(score, best.get(filing_id, score))
    if not best:
        return {}
    low = min(hits["score"].to_pylist())
    span = (max(best.values()) - low) or 1.0
    return {filing_id: (score - low) / span for filing_id, score in best.items()}


def _recency(period_end: dt.date | None, newest: dt.date | None) -> float:
    """1 for the newest filing of the index, less by a tenth for every year before it."""
    if period_end is None or newest is None:
        return 0.0
    return max(0.0, 1.0 - (newest - period_end).days / 3652.5)
