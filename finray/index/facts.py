"""Look-up of filings, companies and line items of an index, for the rule-based roles."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from finray.core.types import Filing, LineItem, Page, Passage, Place
from finray.index.reader import IndexReader
from finray.index.schema import vectors_matrix
from finray.models.encoder import Vectors
from finray.question.companies import CompanyCatalog

_CACHED_FILINGS = 64


@dataclass(frozen=True, slots=True)
class IndexedPage:
    """A page of the index with its chunks: their ``spans`` [start, end) of ``text``, and ``vectors``, float32
    [len(spans), d]."""

    filing_id: str
    page: int
    text: str
    headings: str
    item: str | None
    place: Place | None
    spans: tuple[tuple[int, int], ...]
    vectors: Vectors


class FilingFacts:
    """Reads line items by filing and caches the most recently used; all other look-ups are in memory."""

    def __init__(self, reader: IndexReader, catalog: CompanyCatalog) -> None:
        self._reader = reader
        self._catalog = catalog
        self._filings = reader.filings()
        self._by_id = self._filings.by_id
        self._cache: OrderedDict[str, tuple[LineItem, ...]] = OrderedDict()

    def filing(self, filing_id: str) -> Filing:
        return self._by_id[filing_id]

    def company_of(self, filing_id: str) -> str:
        return self._catalog.company_of_filing[filing_id]

    def company_name(self, company: str) -> str:
        return self._catalog.companies[company].name

    def company_names(self) -> list[str]:
        """One name for each company of the index."""
        return [company.name for company in self._catalog.companies.values() if company.names]

    def has_company(self, company: str) -> bool:
        return company in self._catalog.companies

    def filings_of(self, company: str) -> list[Filing]:
        return self._filings.named(self._catalog.filings_of(company))

    def passages_of(self, filing_id: str, page: int) -> list[Passage]:
        """The chunks of one page, in order, unranked: with score 0."""
        columns = ["filing_id", "page", "start", "end", "text"]
        rows = self._reader.chunks_of_pages([(filing_id, page)], columns).to_pylist()
        return [Passage(self._by_id[filing_id].doc_name, **row, score=0.0) for row in rows]

    def pages(self, places: Collection[tuple[str, int]]) -> dict[tuple[str, int], Page]:
        """The pages at each (filing_id, page); those that the index lacks are absent."""
        return self._reader.pages_at(places)

    def indexed_pages(self, places: Collection[tuple[str, int]]) -> list[IndexedPage]:
        """The pages at ``places``, (filing_id, page), in their order; those without a chunk are left out."""
        pages = self._reader.pages_at(places)
        chunks = self._reader.chunks_of_pages(places, ["filing_id", "page", "start", "end", "vector"])
        columns = [chunks[name].to_pylist() for name in ("filing_id", "page", "start", "end")]
        vectors = vectors_matrix(chunks["vector"])
        chunks_at: dict[tuple[str, int], list[int]] = defaultdict(list)
        spans: list[tuple[int, int]] = []
        for number, (filing_id, number_of_page, start, end) in enumerate(zip(*columns, strict=True)):
            chunks_at[filing_id, number_of_page].append(number)
            spans.append((start, end))
        return [
            IndexedPage(
                place[0],
                place[1],
                page.text,
                page.headings,
                page.item,
                page.place,
                tuple(spans[number] for number in own),
                vectors[own],
            )
            for place in dict.fromkeys(places)
            if (page := pages.get(place)) is not None and (own := chunks_at[place])
        ]

    def passages_about(self, filing_id: str, words: str, limit: int) -> list[Passage]:
        """The chunks of a filing with the most of ``words`` (BM25), best first."""
        rows = self._reader.search_chunks_text(words, [filing_id], limit, texts=True)
        rows = rows.select(["filing_id", "page", "start", "end", "text", "score"])
        return [Passage(self._by_id[filing_id].doc_name, **row) for row in rows.to_pylist()]

    def line_items(self, filing_ids: Collection[str]) -> dict[str, Sequence[LineItem]]:
        if absent := [filing_id for filing_id in filing_ids if filing_id not in self._cache]:
            read = self._reader.line_items(absent)
            self._cache.update((filing_id, read.get(filing_id, ())) for filing_id in absent)
        result: dict[str, Sequence[LineItem]] = {}
        for filing_id in filing_ids:
            result[filing_id] = self._cache[filing_id]
            self._cache.move_to_end(filing_id)
        while len(self._cache) > _CACHED_FILINGS:
            self._cache.popitem(last=False)
        return result
