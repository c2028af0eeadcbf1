"""Facts as records and as Arrow tables."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass
from operator import attrgetter
from typing import Literal

import pyarrow as pa

from finray.core.filing import Statement
from finray.core.ocr_marks import OcrMark
from finray.core.records import OmitNone, Record
from finray.storage.columns import AS_JSON, arrow_schema

Sign = Literal["finray", "tag", "printed"]


@dataclass(frozen=True, slots=True)
class Fact(Record):
    """A line item of a company in a fiscal year, as one filing prints it; or, with ``reason``, why there is none."""

    company: str
    """Its name in the index; the name as asked if the index does not have it."""
    item: str
    """As asked."""
    fiscal_year: int
    """The year as the company counts it."""
    value: OmitNone[float | None] = None
    """In base units; percent as printed."""
    unit: OmitNone[str | None] = None
    """A currency, a currency ``/share``, ``shares``, ``percent`` or ``pure``."""
    period_end: OmitNone[dt.date | None] = None
    months: OmitNone[int | None] = None
    """Length of the period, 0 for an instant."""
    sign: OmitNone[Sign | None] = None
    """Whose sign ``value`` has. "finray": the item was asked by name, and amounts paid, spent or deducted are positive,
    however they are printed or tagged. "tag": it was asked by tag, and the sign is that of the XBRL fact: payments in
    parentheses are positive under ``us-gaap:PaymentsToAcquireProductiveAssets``. "printed": that of the cell."""
    version: int = 1
    """1 for the figure as first reported, then one for each later filing that prints it."""
    restated: OmitNone[bool | None] = None
    """For version 1: whether a later filing prints another figure in the same row; for a later version: whether it
    differs from the first. Absent if no later filing prints it, or only another figure in a row of another name, which
    may be another thing. Figures that only rounding distinguishes are equal."""
    latest_value: OmitNone[float | None] = None
    """What the last filing prints, if it is not this one."""
    latest_label: OmitNone[str | None] = None
    latest_doc_name: OmitNone[str | None] = None
    latest_filing_id: OmitNone[str | None] = None
    latest_page: OmitNone[int | None] = None
    doc_name: OmitNone[str | None] = None
    filing_id: OmitNone[str | None] = None
    form: OmitNone[str | None] = None
    is_amendment: OmitNone[bool | None] = None
    filed_at: OmitNone[dt.date | None] = None
    page: OmitNone[int | None] = None
    """From 0."""
    label: OmitNone[str | None] = None
    """The row as printed."""
    text: OmitNone[str | None] = None
    """The cell as printed."""
    section: OmitNone[str | None] = None
    column_label: OmitNone[str | None] = None
    statement: OmitNone[Statement | None] = None
    concept: OmitNone[str | None] = None
    """The XBRL concept that the cell is tagged with."""
    other_row: OmitNone[bool | None] = None
    """True if the row may be another line than that of the company's other years: no filing prints both."""
    row: OmitNone[int | None] = None
    """Counted over the page's tables."""
    column: OmitNone[int | None] = None
    box: OmitNone[tuple[float, float, float, float] | None] = None
    """(x0, y0, x1, y1) in PDF points; absent for HTML."""
    ocr: OmitNone[OcrMark | None] = None
    """If OCR read the cell: ``stands``, or why it is doubted: a ``value`` to check against the page."""
    reason: OmitNone[str | None] = None
    """Why there is no value."""


FACT_SCHEMA = arrow_schema(Fact, {**AS_JSON, dt.date: pa.date32()})


def facts_table(facts: Iterable[Fact]) -> pa.Table:
    """One row for each fact, with the fields of :class:`Fact` as columns. Dates are date32."""
    rows = list(facts)
    columns = {name: [*map(attrgetter(name), rows)] for name in FACT_SCHEMA.names}
    return pa.table(columns, schema=FACT_SCHEMA)
