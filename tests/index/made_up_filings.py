"""Filings of a few words, written to a real index."""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Sequence

from finray.core.errors import FilingError
from finray.core.filing import Filing, Page, ParsedFiling
from finray.core.settings import Settings
from finray.core.tables import Cell, Column, Row, Table, line_items
from finray.index.writing.bundle import FilingBundle, make_bundle, texts_to_encode, with_vectors
from finray.index.writing.fragments import write_filings
from finray.index.writing.plan import PlannedFile, content_fingerprint
from finray.index.writing.writer import IndexWriter
from finray.models.hash_encoder import HashEncoder
from finray.storage.locations import SourceFile

ENCODER = HashEncoder()
MODIFIED = dt.datetime(2024, 1, 1, tzinfo=dt.UTC)


def bundle(filing_id: str, words: str, n_pages: int = 3, revenue: float = 5e6) -> tuple[PlannedFile, FilingBundle]:
    """A 10-K of ``n_pages`` pages with ``words`` and one figure."""
    sha256 = hashlib.sha256(f"{filing_id} {words}".encode()).hexdigest()
    uri = f"/corpus/{filing_id}.pdf"
    filing = Filing(filing_id, filing_id, uri, sha256, company="Quillfern Corp", form="10-K", fiscal_year=2023)
    pages = tuple(Page(number, f"{words} page {number}") for number in range(n_pages))
    cell = Cell(0, "5", value=revenue, unit="USD", scale=10**6, period_end=dt.date(2023, 12, 31), months=12)
    rows = (Row(0, 0, "Revenue", (cell,)),)
    tables = (Table(0, 0, 0, "", "", "income", None, "USD", 10**6, (Column(0, ("2023",)),), rows),)
    made = make_bundle(ParsedFiling(filing, pages, tuple(line_items(tables[0])), tables), Settings().chunks)
    file = SourceFile(uri, 1, MODIFIED)
    return PlannedFile(file, content_fingerprint(sha256)), with_vectors(
        made, ENCODER.encode_passages(texts_to_encode(made))
    )


def add(writer: IndexWriter, *filings: tuple[PlannedFile, FilingBundle]) -> None:
    """One batch, as a worker writes it."""
    written = write_filings(writer.target, [(made, planned.file.modified) for planned, made in filings])
    writer.add({planned.file.uri: planned for planned, _ in filings}, written)


def write(
    uri: str, settings: Settings, filings: Sequence[tuple[PlannedFile, FilingBundle]], *, failing: Sequence[str] = ()
) -> None:
    """Index ``filings``, and files with the names ``failing``, which cannot be read."""
    writer = IndexWriter(uri, settings, ENCODER.dimension)
    bad = [PlannedFile(SourceFile(f"/corpus/{name}.pdf", 1, MODIFIED), content_fingerprint(name)) for name in failing]
    writer.plan([planned.file for planned in (*(planned for planned, _ in filings), *bad)])
    for planned in bad:
        writer.fail(planned, planned.file.uri, FilingError("parse", "corrupt", "it is corrupt"))
    add(writer, *filings)
    writer.finish()
