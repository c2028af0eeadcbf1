"""Finds operands in the tables of filings: the number, its page and its row."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from finray.answering.cells.filing_cells import FilingCells
from finray.answering.cells.flow_lengths import is_flow, may_be_of
from finray.answering.cells.lookup import look_up_any
from finray.answering.cells.printed_sign import PAID_OR_DEDUCTED
from finray.core.filing import Filing, LineItem
from finray.core.period import Period
from finray.core.plan import Found, Operand, Phrase, Unit
from finray.filings.dates import add_months
from finray.filings.tables.canonical import DATE_TOLERANCE_DAYS, amount, canonical_items, find_line_item
from finray.filings.tables.cells import CURRENCIES
from finray.index.reading.facts import kept_with
from finray.question.measures.named import UNIT_OF

_WANDER_DAYS = 7
"""A fiscal period ends on different days in different years."""
_AHEAD_YEARS = 30
_REPEATED_IN_QUARTERS = 100
"""Rank of a quarterly report as a source of the last year-end's balance, behind every annual report."""
_REPEATED_IN_YEARS = 50
"""Rank of an annual report as a source of a quarter before the fourth, behind every report on the quarter."""
_REPEATED_DAYS = 4 * 366
"""Filings repeat figures of up to so many days before the end of their own period."""


def find_operand(
    operand: Operand,
    filings: Sequence[Filing],
    line_items: Mapping[str, Sequence[LineItem]],
    pages: Collection[tuple[str, int]] | None = None,
    *,
    amended: bool = False,
    called: str = "",
) -> Found | None:
    """The operand in the first filing that prints it: the filing of its own period, then those that repeat it.

    ``filings`` are of the operand's company, ``line_items`` by filing_id; ``pages`` limits the search. Amendments come
    first only if ``amended``, because restated figures answer another question. ``called`` is what the question calls
    it.
    """
    balance = canonical_items()[operand.item].statement == "balance"
    for filing, end in _candidates(operand.period, filings, amended, balance=balance):
        items = [
            item
            for item in line_items.get(filing.filing_id, ())
            if pages is None or (filing.filing_id, item.page) in pages
        ]
        if operand.period.length is not None and not balance:
            items = [item for item in items if may_be_of({operand.period.length}, item, filing)]
        months = operand.period.months or _months(operand.period, filing)
        line_item = find_line_item(operand.item, items, period_end=end, months=months, called=called)
        if line_item is not None:
            return found_in(operand, filing, line_item, amount(operand.item, line_item, items))
    return None


def find_phrase(
    operand: Operand,
    phrase: Phrase,
    filings: Sequence[Filing],
    line_items: Mapping[str, Sequence[LineItem]],
    ranks: Mapping[tuple[str, int], int],
    *,
    amended: bool = False,
    ahead: bool = False,
) -> Found | None:
    """The operand in the first filing with a row that surely prints ``phrase``, in the order of :func:`find_operand`.

    Searches whole filings and prefers the retrieved pages, whose ranks are in ``ranks``.
    """
    for filing, end, months in phrase_periods(operand, phrase, filings, amended=amended, ahead=ahead):
        own = {page: rank for (filing_id, page), rank in ranks.items() if filing_id == filing.filing_id}
        cells = kept_with(line_items.get(filing.filing_id, ()), FilingCells)
        hit = look_up_any(phrase, cells, end, months, own)
        if hit is None or not hit.sure:
            continue
        if (
            months is None
            or operand.period.length is None
            or may_be_of({months}, hit.line_item, filing, balances=not is_flow(phrase))
        ):
            return found_in(operand, filing, hit.line_item, printed_amount(phrase, hit.line_item), hit.fit.score)
    return None


def phrase_periods(
    operand: Operand, phrase: Phrase, filings: Iterable[Filing], *, amended: bool = False, ahead: bool = False
) -> Iterator[tuple[Filing, dt.date, int | None]]:
    """(filing, end, months) of the operand's period in each filing that may print it, the best source first. ``months``
    is None for a balance. ``ahead``: the filings print what they expect for later years."""
    for filing, end in _candidates(operand.period, filings, amended, ahead=ahead):
        flow = not phrase.instant or (filing.period_end is not None and end > filing.period_end)
        yield filing, end, (operand.period.months or _months(operand.period, filing)) if flow else None


def found_in(operand: Operand, filing: Filing, line_item: LineItem, value: float, score: float = 1.0) -> Found:
    """``operand`` as read from ``line_item`` of ``filing``, with the unit that its row or the question gives it."""
    printed = line_item.unit
    unit: Unit = "USD/share" if printed.endswith("/share") else "USD"
    if operand.phrase is not None and operand.phrase.measure != "money":
        unit = UNIT_OF[operand.phrase.measure]
    elif printed in ("percent", "shares"):
        unit = "percent" if printed == "percent" else "shares"
    code = printed.removesuffix("/share")
    return Found(operand, filing, line_item, value, unit, code if code in CURRENCIES else "", score)


def in_row_of(anchor: Found, operand: Operand, items: Sequence[LineItem]) -> Found | None:
    """``operand`` from the row that prints ``anchor``, the same phrase of another period; None if it is not there."""
    row, phrase, known, asked = anchor.line_item, operand.phrase, anchor.operand.period, operand.period
    end = asked.date
    if end is None and row.period_end is not None and known.part == asked.part and abs(known.year - asked.year) < 20:
        end = _years_before(row.period_end, known.year - asked.year)
    if phrase is None or end is None:
        return None
    for item in items:
        beside = (item.page, item.row, item.unit) == (row.page, row.row, row.unit) and item.months == row.months
        if not beside or item.period_end is None or _column_words(item) != _column_words(row):
            continue
        if abs((item.period_end - end).days) <= DATE_TOLERANCE_DAYS:
            return found_in(operand, anchor.filing, item, printed_amount(phrase, item), anchor.score)
    return None


def _column_words(item: LineItem) -> str:
    """The heading of a column without its period."""
    return re.sub(r"[\W\d_]+", " ", item.column_label or "").strip().lower()


def has_filing(operand: Operand, filings: Sequence[Filing]) -> bool:
    """Whether one of ``filings`` may print figures of the operand's period."""
    return bool(_candidates(operand.period, filings, amended=False))


_SPENT = re.compile(r"^(?:Payments|Repayments|Purchases?|InterestExpense|InterestPaid|IncomeTaxesPaid|CostOf|CostsAnd)")
"""XBRL concepts of spending, with positive values."""
_DEDUCTED = re.compile(
    r"^TreasuryStock|Accumulated(?:Depreciation|Amortization|Impairment)|Allowance(?!.*Recover)|Unrealized(?!\w*Gain)\w*Loss(?:es)?$|"
    r"^(?!.*Assets?Liabilit|.*\w+Assets?Net$)\w*Liabilit(?:y|ies)"
)
"""XBRL concepts of balances that are deducted from others: positive values, printed in parentheses."""


def printed_amount(phrase: Phrase, item: LineItem) -> float:
    """The printed value; positive for what is paid, owed or deducted. Percent as a fraction."""
    if item.unit == "percent":
        return item.value / 100
    if phrase.measure == "percent":
        return item.value / item.scale / 100
    metrics = [canonical_items()[key] for key, words in phrase.metrics if set(phrase.words) <= words]
    concept = (item.concept or "").rpartition(":")[2]
    spent = _SPENT.search(concept) is not None or (item.months == 0 and _DEDUCTED.search(concept) is not None)
    if spent or any(metric.flow == "out" for metric in metrics) or PAID_OR_DEDUCTED.search(item.label):
        return abs(item.value)
    return item.value


def _months(period: Period, filing: Filing) -> int:
    """Months of a flow if the question does not give them: a year or a quarter, as the filing reports."""
    annual = filing.fiscal_period in ("FY", "Q4") if period.date is not None else period.part in (None, "FY")
    return 12 if annual else 3


def _candidates(
    period: Period, filings: Iterable[Filing], amended: bool, *, balance: bool = False, ahead: bool = False
) -> list[tuple[Filing, dt.date]]:
    """(filing, end of the period in that filing), the best source first. The ``balance`` of a year's end is also in the
    quarterly reports of the year after. ``ahead``: later years too, as schedules of maturities date them."""
    ranked: list[tuple[tuple[int, int, str], Filing, dt.date]] = []
    for filing in filings:
        if filing.period_end is None or filing.fiscal_period is None:
            continue
        form = 0 if filing.form.startswith(("10-K", "10-Q")) else 1
        if period.date is not None:
            later = (filing.period_end - period.date).days
            if -_WANDER_DAYS <= later <= _REPEATED_DAYS:
                order = (max(0, later - _WANDER_DAYS), form + 2 * (filing.is_amendment != amended), filing.filing_id)
                ranked.append((order, filing, period.date))
            continue
        annual = period.part in (None, "FY")
        own = filing.fiscal_year if filing.fiscal_year is not None else filing.period_end.year
        if ahead and annual and own < period.year <= own + _AHEAD_YEARS:
            end = _years_before(filing.period_end, own - period.year)
            ranked.append(((period.year - own, form, filing.filing_id), filing, end))
            continue
        if annual and filing.fiscal_period not in ("FY", "Q4"):
            if balance and filing.fiscal_year == period.year + 1:
                end = add_months(filing.period_end, -3 * int(filing.fiscal_period[1]))
                ranked.append(((_REPEATED_IN_QUARTERS, form, filing.filing_id), filing, end))
            continue
        in_year = not annual and filing.fiscal_period == "FY"  # annual reports print the year's quarters
        if not annual and not in_year and filing.fiscal_period != period.part:
            continue
        quarters_back = 4 - int(period.part[1]) if in_year and period.part is not None else 0
        for offset, year in _years_of(filing):
            back = year - period.year
            if 0 <= back <= 4:
                end = _years_before(filing.period_end, back)
                if quarters_back:
                    end = add_months(end, -3 * quarters_back)
                late = back + 10 * offset + _REPEATED_IN_YEARS * bool(quarters_back)
                ranked.append(((late, form + 2 * (filing.is_amendment != amended), filing.filing_id), filing, end))
    ranked.sort(key=lambda item: item[0])
    return [(filing, end) for _, filing, end in ranked]


def _years_of(filing: Filing) -> list[tuple[int, int]]:
    """(0, the company's own fiscal year), then (1, the calendar year of its end) if that differs."""
    assert filing.period_end is not None
    calendar = filing.period_end.year
    own = filing.fiscal_year if filing.fiscal_year is not None else calendar
    return [(0, own)] + ([(1, calendar)] if calendar != own else [])


def _years_before(end: dt.date, years: int) -> dt.date:
    try:
        return end.replace(year=end.year - years)
    except ValueError:  # February 29
        return end.replace(year=end.year - years, day=28)
