"""A year that a filing prints in parts: a successor's and a predecessor's periods, a first period since inception. The
figure of a part is not that of the year, and the parts are of two bases of accounting, so they are not added either."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from finray.answering.cells.operands import candidate_ends
from finray.answering.plans.computed import evidence_of, shape_of
from finray.answering.plans.wording import shown
from finray.core.filing import Filing, LineItem
from finray.core.period import Period
from finray.core.plan import Found, Operand
from finray.core.predictions import Answer
from finray.core.query import Query
from finray.filings.dates import add_months
from finray.filings.tables.canonical import DATE_TOLERANCE_DAYS
from finray.index.reading.facts import FilingFacts

_NAMES_PART = re.compile(r"\b(?:successor|predecessor|transition|inception)\b", re.I)
_MOST_PARTS = 3
Find = Callable[[Operand], Found | None]


@dataclass(frozen=True, slots=True)
class PartsOfYear:
    """``operand`` is of a year that a filing prints as ``parts``, the latest first."""

    operand: Operand
    parts: tuple[Found, ...]

    @property
    def label(self) -> str:
        return self.parts[0].line_item.label

    def refusal(self, query: Query, company: str, facts: FilingFacts) -> Answer:
        shape = shape_of(query, self.parts)
        told = (f"{shown(part.value, part.unit, shape)} for the {_when(part.line_item)}" for part in self.parts)
        filing, page = self.parts[0].filing, self.parts[0].line_item.page
        text = (
            f"No figure for the whole of {self.operand.period}: the filing prints {self.label!r} in "
            f"parts of the year, {'; '.join(told)} ({filing.doc_name}, p. {page + 1})."
        )
        evidence, _ = evidence_of(self.parts, (), facts)
        missing = (self.operand.described(company),)
        return Answer(text, "unanswerable", missing=missing, evidence=evidence, settled=True)


def parts_of_year(
    query: Query,
    operand: Operand,
    find: Find,
    filings: Sequence[Filing],
    line_items: Mapping[str, Sequence[LineItem]],
) -> PartsOfYear | None:
    """The parts in which the statements of one of ``filings`` print the year of ``operand``, as ``find`` finds them;
    None if they print none, or if ``query`` names one itself. ``line_items`` are by filing_id."""
    period = operand.period
    if period.part not in (None, "FY") or period.date is not None or period.months is not None:
        return None
    if _NAMES_PART.search(query.question):
        return None
    for filing, end in candidate_ends(period, filings, amended=False):
        columns = _printed_parts(line_items.get(filing.filing_id, ()), end)
        of_parts = [replace(operand, period=Period(last.year, None, last, months)) for last, months in columns]
        found = [each for each in map(find, of_parts) if each is not None]
        parts = tuple(each for each in found if 0 < (each.line_item.months or 0) < 12)
        if parts:
            return PartsOfYear(operand, parts)
    return None


def _printed_parts(items: Sequence[LineItem], end: dt.date) -> list[tuple[dt.date, int]]:
    """(last day, months) of the columns within the year that ends on ``end``, the latest first: those of statements,
    else those of other tables unless they are quarters."""
    begin = add_months(end, -12) - dt.timedelta(days=DATE_TOLERANCE_DAYS)
    columns: dict[bool, set[tuple[dt.date, int]]] = {True: set(), False: set()}
    for item in items:
        last, months = item.period_end, item.months
        if last is None or not months or months >= 12 or (last - end).days > DATE_TOLERANCE_DAYS:
            continue
        if add_months(last, -months) >= begin:
            columns[item.statement is not None].add((last, months))
    parts = columns[True] or columns[False]
    return sorted(parts, reverse=True) if len(parts) <= _MOST_PARTS else []


def _when(item: LineItem) -> str:
    assert item.period_end is not None
    return f"{item.months} months ended {item.period_end:%B} {item.period_end.day}, {item.period_end.year}"
