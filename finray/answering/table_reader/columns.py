"""How well the column of a cell fits each period that a question names."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from finray.answering.cells.operands import phrase_periods
from finray.answering.cells.page_cells import PageCell
from finray.core.arrays import Floats
from finray.core.filing import Filing, LineItem
from finray.core.period import Period
from finray.core.plan import Operand, Phrase
from finray.core.query import Query
from finray.filings.dates import add_months
from finray.filings.tables.canonical import DATE_TOLERANCE_DAYS
from finray.index.reading.facts import FilingFacts

EXACT, LIKELY, NAMED, END_ONLY = 1.0, 0.8, 0.7, 0.2
"""End and length fit; the table states no length; only the year is named; only the end fits."""
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_Slot = tuple[dt.date, int | None]
"""End and months of a period."""


@dataclass(frozen=True, slots=True)
class Columns:
    """``fits`` [cells, periods] in [0, 1]: how well each cell's column fits the periods asked for, oldest first, or the
    filing's own period if the question names none. ``before`` [cells, periods]: its fit of the same periods a year
    earlier. ``usual`` [cells, periods]: the cell is of the period as its filing names years (a year that ends in
    January may go by either number). ``named`` counts the periods that the question names."""

    fits: Floats
    before: Floats
    usual: npt.NDArray[np.bool_]
    named: int


def columns_of(query: Query, cells: Sequence[PageCell], facts: FilingFacts) -> Columns:
    """Returns how well the period of each cell fits."""
    asked = sorted(query.asked, key=_when)
    filings = {cell.filing.filing_id: cell.filing for cell in cells}
    now = {key: _slots(query, asked, filing, facts, 0) for key, filing in filings.items()}
    then = {key: _slots(query, asked, filing, facts, 1) for key, filing in filings.items()}
    size = max(len(asked), 1)
    fits, before = np.zeros((len(cells), size)), np.zeros((len(cells), size))
    usual = np.zeros((len(cells), size), dtype=bool)
    for at, cell in enumerate(cells):
        key = cell.filing.filing_id
        years = [period.year for period in asked] or [cell.filing.fiscal_year or 0]
        for number, year in enumerate(years):
            slots = now[key][number]
            usual_slots = [slot for slot in slots if slot[0] == slots[0][0]]
            fits[at, number] = _fit(cell.item, slots, year)
            usual[at, number] = _fit(cell.item, usual_slots, year) >= NAMED
            before[at, number] = _fit(cell.item, then[key][number], year - 1)
    return Columns(fits, before, usual, len(asked))


def _when(period: Period) -> tuple[int, dt.date, str]:
    return period.year, period.date or dt.date.min, period.part or ""


def _slots(query: Query, asked: Sequence[Period], filing: Filing, facts: FilingFacts, back: int) -> list[list[_Slot]]:
    """What each period, or the filing's own without any, may be in ``filing``, ``back`` years earlier."""
    if not asked:
        end = filing.closes
        if end is None:
            return [[]]
        quarter = filing.fiscal_period in ("Q1", "Q2", "Q3")
        moved = add_months(end, -12 * back)
        return [[(moved, None), (moved, 3 if quarter else 12)]]
    company = facts.company_of(filing.filing_id)
    found = []
    for period in asked:
        slots: list[_Slot] = []
        for instant in (False, True):
            phrase = Phrase(query.text, (), (), "money", instant)
            operand = Operand("x", company, "x", period.years_before(back), "", phrase)
            slots += [(end, months) for _, end, months in phrase_periods(operand, phrase, [filing], ahead=True)]
        found.append(list(dict.fromkeys(slots)))
    return found


def _fit(item: LineItem, slots: Sequence[_Slot], year: int) -> float:
    if item.period_end is None:
        named = set(_YEAR.findall(f"{item.label} {item.column_label or ''}"))
        return NAMED if str(year) in named else 0.0
    best = 0.0
    for end, months in slots:
        if abs((item.period_end - end).days) > DATE_TOLERANCE_DAYS:
            continue
        if item.months == 0:
            fit = EXACT if months is None else NAMED
        elif item.months is None:
            fit = LIKELY
        else:
            fit = EXACT if item.months == months else NAMED if months is None else END_ONLY
        best = max(best, fit)
    return best
