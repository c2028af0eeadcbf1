"""Writes facts: .csv and .xlsx for people, .parquet, .arrow, .json and .jsonl for programs.

Pages count from 1 for people and from 0 for programs.
"""

from __future__ import annotations

import io
import json
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.parquet as pq

from finray.core.errors import SourceError
from finray.core.ocr_marks import described
from finray.core.records import to_json, to_object
from finray.facts.records import FACT_SCHEMA, Fact, facts_table
from finray.filings.pages.page_links import PageLinks
from finray.storage.csv_write import CsvWriter
from finray.storage.locations import write_bytes
from finray.storage.sheets import Cell, Column, SheetWriter, Styled, number_format
from finray.storage.workbook_write import WorkbookWriter

FORMATS = (".csv", ".xlsx", ".parquet", ".arrow", ".json", ".jsonl")
COLUMNS = (
    Column("company", 26),
    Column("item", 26),
    Column("fiscal year", 11),
    Column("value", 18),
    Column("unit", 11),
    Column("sign", 8),
    Column("restated later", 14),
    Column("latest value", 18),
    Column("latest row", 26),
    Column("latest filing", 26),
    Column("latest page", 11),
    Column("version", 8),
    Column("filing", 26),
    Column("form", 8),
    Column("amendment", 11),
    Column("page", 7),
    Column("row", 36),
    Column("cell", 14),
    Column("section", 24),
    Column("column", 24),
    Column("statement", 12),
    Column("period end", 12),
    Column("months", 8),
    Column("tag", 36),
    Column("ocr", 20),
    Column("link", 24),
    Column("reason", 60),
)


def check_facts_target(uri: str) -> None:
    """Raise SourceError if ``uri`` does not end in one of FORMATS; call it before any work is done."""
    if not uri.lower().endswith(FORMATS):
        raise SourceError(f"{uri!r}: facts are written to a file that ends in {', '.join(FORMATS)}")


def write_facts(uri: str, facts: Sequence[Fact], links: PageLinks | None = None) -> None:
    """Write ``facts`` to ``uri``, local or s3://, in the format of its ending, in one step. Raises SourceError."""
    check_facts_target(uri)
    suffix = "." + uri.lower().rpartition(".")[2]
    write_bytes(uri, _content(suffix, facts, links or PageLinks({})))


def fact_row(fact: Fact, links: PageLinks) -> list[Cell]:
    """The cells under COLUMNS."""
    link = None
    if fact.filing_id is not None and fact.page is not None:
        link = links.page(fact.filing_id, fact.page, fact.box)
    return [
        fact.company,
        fact.item,
        fact.fiscal_year,
        _number(fact.value, fact.unit),
        fact.unit,
        fact.sign,
        fact.restated,
        _number(fact.latest_value, fact.unit),
        fact.latest_label,
        fact.latest_doc_name,
        _counted(fact.latest_page),
        fact.version if fact.value is not None else None,
        fact.doc_name,
        fact.form,
        fact.is_amendment,
        _counted(fact.page),
        fact.label,
        fact.text,
        fact.section,
        fact.column_label,
        fact.statement,
        fact.period_end,
        fact.months,
        fact.concept,
        described(fact.ocr) or None,
        None if link is None else Styled(link, link=link),
        fact.reason,
    ]


def _content(suffix: str, facts: Sequence[Fact], links: PageLinks) -> bytes:
    if suffix == ".jsonl":
        return b"".join(to_json(fact) + b"\n" for fact in facts)
    if suffix == ".json":
        objects = [to_object(fact) for fact in facts]
        return json.dumps(objects, ensure_ascii=False, indent=1, allow_nan=False).encode("utf-8", errors="replace")
    if suffix == ".parquet":
        sink = io.BytesIO()
        pq.write_table(facts_table(facts), sink)
        return sink.getvalue()
    if suffix == ".arrow":
        sink = io.BytesIO()
        with pa.ipc.new_file(sink, FACT_SCHEMA) as writer:
            writer.write_table(facts_table(facts))
        return sink.getvalue()
    if suffix == ".csv":
        table = CsvWriter(COLUMNS)
        _append(table, facts, links)
        return table.content()
    book = WorkbookWriter()
    _append(book.sheet("facts", COLUMNS), facts, links)
    return book.content()


def _append(sheet: SheetWriter, facts: Sequence[Fact], links: PageLinks) -> None:
    for fact in facts:
        sheet.append(fact_row(fact, links))


def _number(value: float | None, unit: str | None) -> Cell:
    return None if value is None else Styled(value, number_format(unit, value))


def _counted(page: int | None) -> int | None:
    """``page`` counted from 1."""
    return None if page is None else page + 1
