"""Schedules of valuation and qualifying accounts (Regulation S-X, Rule 12-09): Schedule II, until 1994 VIII."""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from finray.core.tables import Table
from finray.filings.tables.grids import MAX_CAPTION

VALUATION_TITLE = "Valuation and qualifying accounts"
_TITLE = re.compile(
    r"^[^\n]{0,60}\b(?:valuation (?:and|&) qualifying|qualifying accounts|schedule (?:ii|viii)\b[^\n]{0,10}\breserves)",
    re.IGNORECASE | re.MULTILINE,
)
_MOVEMENT = re.compile(
    r"\b(?:beginning|end of|ending|opening|closing|charged|additions?|deductions?|write-?\s?offs?|recoveries)\b",
    re.IGNORECASE,
)
_HEAD_LINES = 30
"""Lines of a page with figures that may have the schedule's title."""


def titled_valuation(tables: Sequence[Table], page_text: str) -> list[Table]:
    """``tables``, those of one page, with the schedule's title before the captions of those that carry accounts
    forward, if the page is one: the caption just above a table often lacks it."""
    lines = filter(str.strip, page_text.split("\n"))
    if not tables or not _TITLE.search("\n".join(" ".join(line.split()) for line in islice(lines, _HEAD_LINES))):
        return list(tables)
    return [_titled(table) if table.statement is None and _moves(table) else table for table in tables]


def _moves(table: Table) -> bool:
    """Whether a table has a balance carried forward, or a movement in it."""
    labels = (row.label for row in table.rows if row.cells)
    heads = (column.label or "" for column in table.columns)
    return any(_MOVEMENT.search(text) for text in (*labels, *heads))


def _titled(table: Table) -> Table:
    if VALUATION_TITLE.lower() in table.caption.lower():
        return table
    return replace(table, caption=f"{VALUATION_TITLE}: {table.caption}".removesuffix(": ")[:MAX_CAPTION])
