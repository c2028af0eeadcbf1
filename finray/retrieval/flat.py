"""Retrieval without a document stage: passages of all filings compete."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from typing import Self

import pyarrow as pa

from finray.core.journal import Journal
from finray.core.passages import Document, Passage
from finray.core.query import Query
from finray.filings.cover.summary import filing_title
from finray.index.reading.filing_table import FilingTable, column_by_id
from finray.index.reading.reader import IndexReader


class WholeIndex(tuple[Document, ...]):
    """Every filing, unranked. Searches treat it as "no filter".

    It is pickled as an empty tuple, because other processes do not need all filings of an index.
    """

    filings: FilingTable

    def __new__(cls, filings: FilingTable) -> Self:
        every = super().__new__(cls, (Document(filing, 0.0) for filing in filings))
        every.filings = filings
        return every

    def __reduce__(self) -> tuple[type[tuple[Document, ...]], tuple[()]]:
        return (tuple, ())


class AllDocuments:
    """The document role of a flat method, and of the ablation without hierarchical retrieval (HiREC, section 5.3)."""

    def __init__(self, reader: IndexReader) -> None:
        self._documents = WholeIndex(reader.filings())

    async def documents(self, query: Query, k: int, journal: Journal) -> Sequence[Document]:
        return self._documents


Scope = Collection[str] | None
"""The filing filter for the reader's searches: ids, or None for the whole index."""


def scope(documents: Sequence[Document]) -> Scope:
    """The filter for searches inside ``documents``."""
    return None if isinstance(documents, WholeIndex) else [document.filing.filing_id for document in documents]


def proposed(documents: Sequence[Document], passages: Sequence[Passage]) -> list[Document]:
    """The documents that retrieval chose; without a document stage those of the passages, best first."""
    if not isinstance(documents, WholeIndex):
        return list(documents)
    best: dict[str, float] = {}
    for passage in passages:
        best.setdefault(passage.filing_id, passage.score)
    filings = documents.filings.named(best)
    return [Document(filing, score, ("best passage",)) for filing, score in zip(filings, best.values(), strict=True)]


def chunk_passages(hits: pa.Table, names: Mapping[str, str]) -> list[Passage]:
    """Passages from rows of chunks (filing_id, page, start, end, text, score); ``names`` has the ``doc_name`` of each
    filing id."""
    return [
        Passage(names[row["filing_id"]], row["filing_id"], row["page"], row["start"], row["end"], row["text"], score)
        for row, score in zip(hits.to_pylist(), hits["score"].to_pylist(), strict=True)
    ]


def doc_names(reader: IndexReader) -> Mapping[str, str]:
    """The ``doc_name`` of each filing id."""
    filings = reader.filings()
    return column_by_id(filings.ids, filings.column("doc_name"))


class FilingTitles(Mapping[str, str]):
    """The title of each filing id: company, form and period, or its ``doc_name`` if they are unknown."""

    def __init__(self, reader: IndexReader) -> None:
        self._filings = reader.filings().by_id

    def __getitem__(self, filing_id: str) -> str:
        filing = self._filings[filing_id]
        return filing_title(filing).rstrip(".\n") or filing.doc_name

    def __iter__(self) -> Iterator[str]:
        return iter(self._filings)

    def __len__(self) -> int:
        return len(self._filings)


Find = Callable[[Query, Scope, int, Journal], Awaitable[pa.Table]]
"""(query, scope, limit, journal) to the best chunks: rows for ``chunk_passages``, best first."""


class FoundPassages:
    """The passage role of a method that is a search function, ``find``."""

    def __init__(self, reader: IndexReader, find: Find) -> None:
        self._find = find
        self._names = doc_names(reader)

    async def passages(
        self, query: Query, documents: Sequence[Document], k: int, journal: Journal
    ) -> Sequence[Passage]:
        return chunk_passages(await self._find(query, scope(documents), k, journal), self._names)
