"""Schedules of valuation and qualifying accounts (Regulation S-X, Rule 12-09): Schedule II, until 1994 VIII."""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from finray.core.filing import LineItem
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


def titled_valuation(items: Sequence[LineItem], page_text: str) -> list[LineItem]:
    """``items``, those of one page, with the schedule's title before the captions of its accounts, if the page is one:
    the caption just above a table often lacks it."""
    lines = filter(str.strip, page_text.split("\n"))
    if not items or not _TITLE.search("\n".join(" ".join(line.split()) for line in islice(lines, _HEAD_LINES))):
        return list(items)
    moving = [item for item in items if _moves(item)]
    rows, sections = {item.row for item in moving}, {item.section for item in moving} - {None}
    notes = (item.statement is None and (item.row in rows or item.section in sections) for item in items)
    return [_titled(item) if of_schedule else item for item, of_schedule in zip(items, notes, strict=True)]


def _moves(item: LineItem) -> bool:
    """Whether an item is a balance carried forward, or a movement in it."""
    named = f"{item.column_label or ''}\n{item.label}"
    return item.statement is None and _MOVEMENT.search(named) is not None


def _titled(item: LineItem) -> LineItem:
    caption = item.caption or ""
    if VALUATION_TITLE.lower() in caption.lower():
        return item
    return replace(item, caption=f"{VALUATION_TITLE}: {caption}".removesuffix(": ")[:MAX_CAPTION])
