"""Finds evidence, in the text of all filings, of the company that a question means but does not name.

The filings of that company contain the brand, subsidiary, former name or description ("the buyer of Bemis") that the
question uses. Every company with a chunk that shares words or names with the question competes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa

from finray.core.period import Period
from finray.index.reading.reader import IndexReader
from finray.question.companies.alike_names import AlikeNames
from finray.question.companies.catalog import CompanyCatalog
from finray.question.periods.named import periods_in
from finray.retrieval.company_features import Chunk, CompanyCandidates, company_features
from finray.retrieval.filing_match import period_fit
from finray.retrieval.question_names import bare, is_common, is_described, names_in, pattern_of, prints

_HITS = 150
"""Chunks that are read for the words of the question."""
_NAME_HITS = 60
"""Chunks that are read for each of its names."""


class CompanyEvidence:
    """Reads the chunks of the index that share words or names with a question."""

    def __init__(self, reader: IndexReader, catalog: CompanyCatalog) -> None:
        self._reader = reader
        self._catalog = catalog
        self._filings = reader.filings()
        self._alike = AlikeNames(catalog)

    def candidates(self, text: str, unknown: Sequence[str]) -> CompanyCandidates:
        """The companies with a chunk about ``text``; ``unknown`` are its names that are not in the catalog."""
        found = self._chunks(self._reader.search_chunks_text(text, None, _HITS, texts=True))
        known = {(chunk.filing_id, chunk.page, chunk.text) for chunk in found}
        patterns: dict[str, re.Pattern[str]] = {}
        for name, opens in names_in(text, unknown).items():
            hits = self._chunks(self._reader.search_chunks_text(name, None, _NAME_HITS, texts=True))
            if opens and is_common(name, (chunk.text for chunk in hits)):
                continue
            pattern = patterns[name] = pattern_of(name)
            for chunk in hits:
                place = chunk.filing_id, chunk.page, chunk.text
                if place not in known and prints(chunk.text, name, pattern):
                    known.add(place)
                    found.append(replace(chunk, score=0.0))  # scores of different searches are not comparable
        companies = tuple(dict.fromkeys([*(chunk.company for chunk in found), *self._alike.companies(text)]))
        periods = periods_in(text)
        features, absent = company_features(
            text,
            found,
            companies,
            patterns,
            set(map(bare, unknown)),
            lambda company: self._fits(company, periods),
            self._alike.to,
        )
        return CompanyCandidates(companies, features, bool(unknown), not patterns, is_described(text), absent)

    def _chunks(self, hits: pa.Table) -> list[Chunk]:
        owners = self._catalog.company_of_filing
        columns = (hits[name].to_pylist() for name in ("filing_id", "page", "text", "score"))
        return [Chunk(owners[filing_id], filing_id, *rest) for filing_id, *rest in zip(*columns, strict=True)]

    def _fits(self, company: str, periods: Sequence[Period]) -> float:
        filings = self._filings.named(self._catalog.filings_of(company))
        return max((period_fit(filing, periods)[0] for filing in filings), default=0.0) if periods else 1.0
