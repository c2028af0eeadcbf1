"""Ceilings for evaluation: retrieval that is told the gold filings, or the gold pages."""

from __future__ import annotations

from collections.abc import Sequence

from finray.core.journal import Journal
from finray.core.query import Query
from finray.core.types import Document, GoldEvidence, Passage
from finray.index.reader import IndexReader


class GoldDocuments:
    """The filings of the gold evidence, whatever the query."""

    def __init__(self, reader: IndexReader, evidence: Sequence[GoldEvidence]) -> None:
        names = {gold.doc_name for gold in evidence}
        self._documents = tuple(Document(f, 1.0, ("gold",)) for f in reader.filings() if f.doc_name in names)

    async def documents(self, query: Query, k: int, journal: Journal) -> Sequence[Document]:
        return self._documents


class GoldPages:
    """Every chunk of the gold pages, in reading order."""

    def __init__(self, reader: IndexReader, evidence: Sequence[GoldEvidence]) -> None:
        self._reader = reader
        self._pages = {(gold.doc_name, gold.page) for gold in evidence}

    async def passages(
        self, query: Query, documents: Sequence[Document], k: int, journal: Journal
    ) -> Sequence[Passage]:
        names = {document.filing.filing_id: document.filing.doc_name for document in documents}
        if not names:
            return ()
        columns = ["filing_id", "page", "start", "end", "text"]
        rows = self._reader.chunks(list(names)).select(columns).to_pylist()
        return [
            Passage(names[row["filing_id"]], row["filing_id"], row["page"], row["start"], row["end"], row["text"], 1.0)
            for row in rows
            if (names[row["filing_id"]], row["page"]) in self._pages
        ]
