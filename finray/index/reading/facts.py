"""Looks up filings, companies and line items of an index for the rule-based roles."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

from finray.core.filing import Filing, LineItem, Page, Place
from finray.core.passages import Passage
from finray.core.settings import IndexSettings
from finray.core.sized_cache import SizedCache
from finray.core.tables import Table
from finray.index.reading.reader import IndexReader
from finray.index.schema import vectors_matrix
from finray.models.encoder import Vectors
from finray.question.companies.catalog import CompanyCatalog

CACHE_BYTES = IndexSettings().cache_bytes
_ITEM_BYTES = 2_500
"""Memory of a line item with what look-ups prepare from it: 2,200 on average over eight 10-Ks."""
_PAGE_BYTES = 1_000
"""Memory of a page without its text."""
_FILINGS = 1_024
"""Filings that are at hand: a question asks for the same few a hundred times, and each look-up is a binary search."""
P = TypeVar("P")


class FilingItems(tuple[LineItem, ...]):
    """The line items of a filing, and what is prepared from all of them; both are kept or dropped together."""

    def __init__(self, _items: Iterable[LineItem] = ()) -> None:
        self._prepared: dict[Callable[[Sequence[LineItem]], Any], Any] = {}

    def prepared(self, kind: Callable[[Sequence[LineItem]], P]) -> P:
        """``kind`` of these items, made once."""
        made: P | None = self._prepared.get(kind)
        if made is None:
            made = self._prepared[kind] = kind(self)
        return made


def kept_with(items: Sequence[LineItem], kind: Callable[[Sequence[LineItem]], P]) -> P:
    """``kind`` of a filing's ``items``; kept with them if the index keeps them."""
    return items.prepared(kind) if isinstance(items, FilingItems) else kind(items)


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
    """Looks up filings, their pages and line items. Keeps those used last in ``cache_bytes``: the reader sees one
    version of the index, so they never change."""

    def __init__(self, reader: IndexReader, catalog: CompanyCatalog, cache_bytes: int = CACHE_BYTES) -> None:
        self._reader = reader
        self._catalog = catalog
        self._filings = reader.filings()
        self._by_id = self._filings.by_id
        self._filing = lru_cache(_FILINGS)(self._by_id.__getitem__)
        self._company_of = lru_cache(_FILINGS)(self._catalog.company_of_filing.__getitem__)
        self._cache: SizedCache[str, FilingItems] = SizedCache(cache_bytes * 7 // 8)
        self._pages: SizedCache[tuple[str, int], Page] = SizedCache(cache_bytes // 8)

    def filing(self, filing_id: str) -> Filing:
        return self._filing(filing_id)

    def company_of(self, filing_id: str) -> str:
        return self._company_of(filing_id)

    def company_name(self, company: str) -> str:
        return self._catalog.companies[company].name

    def company_names(self) -> list[str]:
        """One name for each company of the index."""
        return [company.name for company in self._catalog.companies.values() if company.names]

    def companies(self) -> tuple[str, ...]:
        """The keys of the companies whose name is known."""
        return tuple(company.key for company in self._catalog.companies.values() if company.names)

    def has_company(self, company: str) -> bool:
        return company in self._catalog.companies

    def filings_of(self, company: str) -> list[Filing]:
        return self._filings.named(self._catalog.filings_of(company))

    def passages_of(self, filing_id: str, page: int) -> list[Passage]:
        """The chunks of one page in order, with score 0."""
        columns = ["filing_id", "page", "start", "end", "text"]
        rows = self._reader.chunks_of_pages([(filing_id, page)], columns).to_pylist()
        return [Passage(self._by_id[filing_id].doc_name, **row, score=0.0) for row in rows]

    def pages(self, places: Collection[tuple[str, int]]) -> dict[tuple[str, int], Page]:
        """The page at each (filing_id, page) that the index has."""
        found = {place: page for place in places if (page := self._pages.get(place)) is not None}
        for place, page in self._reader.pages_at([place for place in places if place not in found]).items():
            found[place] = page
            self._pages.put(place, page, _PAGE_BYTES + 2 * len(page.text))
        return found

    def tables(self, places: Collection[tuple[str, int]]) -> dict[tuple[str, int], tuple[Table, ...]]:
        """The tables with rows on the page at each (filing_id, page), in reading order."""
        return self._reader.tables_at(places)

    def indexed_pages(self, places: Collection[tuple[str, int]]) -> list[IndexedPage]:
        """The pages at ``places``, (filing_id, page), in their order, without those that have no chunk."""
        pages = self.pages(places)
        chunks = self._reader.chunks_of_pages(places, ["filing_id", "page", "start", "end", "vector"])
        ids, numbers, starts, ends = (chunks[name].to_pylist() for name in ("filing_id", "page", "start", "end"))
        spans = list(zip(starts, ends, strict=True))
        vectors = vectors_matrix(chunks["vector"])
        rows_at: dict[tuple[str, int], list[int]] = defaultdict(list)
        for row, place in enumerate(zip(ids, numbers, strict=True)):
            rows_at[place].append(row)
        return [
            IndexedPage(
                place[0],
                place[1],
                page.text,
                page.headings,
                page.item,
                page.place,
                tuple(spans[row] for row in own),
                vectors[own],
            )
            for place in dict.fromkeys(places)
            if (page := pages.get(place)) is not None and (own := rows_at[place])
        ]

    def line_items(self, filing_ids: Collection[str]) -> dict[str, FilingItems]:
        """Line items of each filing, in reading order."""
        found = {filing_id: self._cache.get(filing_id) for filing_id in filing_ids}
        if absent := [filing_id for filing_id, items in found.items() if items is None]:
            read = self._reader.line_items(absent)
            for filing_id in absent:
                items = found[filing_id] = FilingItems(read.get(filing_id, ()))
                self._cache.put(filing_id, items, len(items) * _ITEM_BYTES)
        return {filing_id: items for filing_id, items in found.items() if items is not None}
