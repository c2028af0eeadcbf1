"""Finds the line item that a person means (a canonical one, a tag or a row's label) and the cell that prints it."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from rapidfuzz import fuzz, process

from finray.core.filing import LineItem
from finray.core.tables import Cell, Row, Table
from finray.facts.records import Sign
from finray.filings.tables.canonical import DATE_TOLERANCE_DAYS, amount, canonical_items, find_line_item, plain_label

_TAG = re.compile(r"[a-z][\w-]*+:[A-Za-z]\w*+|[A-Z][a-z]++[A-Z][A-Za-z0-9]*+")
"""``us-gaap:Goodwill``, ``GoodwillGross``"""
_NEAR = 60
"""Least similarity, in percent, of a label worth naming."""


@dataclass(frozen=True, slots=True)
class WantedItem:
    """A line item by one of ``metric`` (key of a canonical item), ``concept`` (XBRL tag) and ``label`` (plain label of
    a row)."""

    asked: str
    metric: str | None = None
    concept: str | None = None
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Printed:
    """A cell and its value with the ``sign`` of :class:`finray.facts.records.Fact`."""

    cell: LineItem
    value: float
    sign: Sign = "printed"


def wanted_item(asked: str) -> WantedItem:
    """What ``asked`` means: "capex" and "capital expenditures" are canonical, "us-gaap:Revenues" is a tag, anything
    else the label of a row."""
    name = " ".join(asked.split())
    metric = _by_name().get(name.casefold()) or _by_name().get(name.casefold().replace("_", " "))
    if metric is not None:
        return WantedItem(asked, metric=metric)
    if _TAG.fullmatch(name):
        return WantedItem(asked, concept=name)
    return WantedItem(asked, label=plain_label(name))


def find_printed(wanted: WantedItem, items: Sequence[LineItem], end: dt.date) -> Printed | None:
    """The cell among ``items`` of one filing that prints ``wanted`` for the year that ends about ``end``.

    None if there is none, or if several rows that fit print different figures.
    """
    if wanted.metric is not None:
        cell = find_line_item(wanted.metric, items, period_end=end, months=12)
        return None if cell is None else Printed(cell, amount(wanted.metric, cell, items), "finray")
    cells = [item for item in items if _of_year(item, end) and _is(wanted, item)]
    cells = [item for item in cells if item.statement is not None] or cells
    found = [_printed(wanted, item) for item in cells]
    return found[0] if len({(each.value, each.cell.unit) for each in found}) == 1 else None


def declared_nil(wanted: WantedItem, tables: Iterable[Table], end: dt.date) -> Row | None:
    """The row that prints ``wanted`` with a fact for the year or day that ends about ``end`` which its tag declares nil
    (``xsi:nil``); None if there is none."""
    for table in tables:
        cells = [(row, cell) for row in table.rows for cell in row.cells]
        near = DATE_TOLERANCE_DAYS
        columns = {c.column for _, c in cells if c.period_end is not None and abs((c.period_end - end).days) <= near}
        for row, cell in cells:
            if cell.stands == "nil" and cell.value is None and cell.column in columns and _names(wanted, row, cell):
                return row
    return None


def _names(wanted: WantedItem, row: Row, cell: Cell) -> bool:
    """Whether the tag of ``cell``, or the label of its ``row``, is that of ``wanted``."""
    concept, label = cell.concept or "", plain_label(row.label)
    if wanted.metric is not None:
        item = canonical_items()[wanted.metric]
        return concept.rpartition(":")[2] in item.concepts or item.any_label.fullmatch(label) is not None
    if wanted.concept is not None:
        return wanted.concept in (concept, concept.rpartition(":")[2])
    return label == wanted.label


def _printed(wanted: WantedItem, item: LineItem) -> Printed:
    """``item`` with the sign of its tag if it is ``wanted`` by tag. Indexes of older versions of finray lack it."""
    if wanted.concept is None or item.tagged is None:
        return Printed(item, item.value)
    return Printed(item, item.tagged, "tag")


def same_row(first: Printed, items: Sequence[LineItem], end: dt.date) -> Printed | None:
    """The cell among ``items`` of another filing in the row of the same name and statement, with the sign of ``first``;
    None if there is none, or if several differ."""
    cells = [item for item in items if names_same_row(first.cell, item) and _of_year(item, end)]
    if len({(item.value, item.unit) for item in cells}) != 1:
        return None
    cell = cells[0]
    if first.sign == "tag":
        if cell.concept == first.cell.concept and cell.tagged is not None:
            return Printed(cell, cell.tagged, "tag")
        return Printed(cell, -cell.value if _mirrored(first) else cell.value, "tag")  # tagged otherwise, or not at all
    return Printed(cell, math.copysign(cell.value, first.value) if _mirrored(first) else cell.value, first.sign)


def names_same_row(a: LineItem, b: LineItem) -> bool:
    """Whether the rows of both have the same name, statement and unit."""
    return (a.statement, plain_label(a.label)) == (b.statement, plain_label(b.label)) and a.unit == b.unit


def _mirrored(printed: Printed) -> bool:
    """Whether the value has the opposite of the printed sign, which carries no meaning for this item."""
    return printed.value == -printed.cell.value != 0


def nearest_labels(wanted: WantedItem, items: Iterable[LineItem], most: int = 3) -> list[str]:
    """Labels of rows that resemble the one asked for, the most alike first."""
    if wanted.label is None:
        return []
    labels = list(dict.fromkeys(item.label for item in items if item.label))
    scored = process.extract(
        wanted.label, labels, scorer=fuzz.token_sort_ratio, processor=plain_label, limit=most, score_cutoff=_NEAR
    )
    return [label for label, _, _ in scored]


def _is(wanted: WantedItem, item: LineItem) -> bool:
    """Whether ``item`` has the wanted concept, in a column for the whole company, or the wanted label."""
    if wanted.concept is not None:
        whole = "[" not in (item.column_label or "")
        own = item.concept or ""
        return whole and wanted.concept in (own, own.rpartition(":")[2])
    return plain_label(item.label) == wanted.label


def _of_year(item: LineItem, end: dt.date) -> bool:
    """Whether ``item`` is the flow of the year that ends about ``end``, or the balance at its end."""
    near = item.period_end is not None and abs((item.period_end - end).days) <= DATE_TOLERANCE_DAYS
    return near and item.months in (0, 12)


@cache
def _by_name() -> dict[str, str]:
    """Canonical keys by what people call them."""
    names: dict[str, str] = {}
    for key, item in canonical_items().items():
        for name in (key.replace("_", " "), *item.names):
            names.setdefault(name.casefold(), key)
    return names
