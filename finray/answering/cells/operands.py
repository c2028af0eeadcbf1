"""Finds operands in the tables of filings: the number, its page and its row."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from finray.answering.cells.filing_cells import FilingCells
from finray.answering.cells.flow_lengths import is_flow, may_be_of, named_items
from finray.answering.cells.lookup import look_up_any
from finray.answering.cells.printed_sign import PAID_OR_DEDUCTED
from finray.answering.qualifiers import NONE, Sides, contradicts
from finray.core.currencies import CURRENCIES
from finray.core.filing import Filing, LineItem
from finray.core.period import Period
from finray.core.plan import Found, Operand, Phrase, Unit
from finray.filings.dates import add_months
from finray.filings.tables.canonical import DATE_TOLERANCE_DAYS, amount, canonical_items, find_line_item
from finray.index.reading.facts import kept_with
from finray.question.measures.named import UNIT_OF
from finray.question.synonyms import words_of

_WANDER_DAYS = 7
"""A fiscal period ends on different days in different years."""
_AHEAD_YEARS = 30
_REPEATED_YEARS = 4
"""Filings repeat figures of up to this many years before the end of their own period."""
_REPEATED_DAYS = _REPEATED_YEARS * 366
_REPEATED_IN_QUARTERS = 100
"""Rank of a quarterly report as a source of the last year-end's balance, behind every annual report."""
_REPEATED_IN_YEARS = 50
"""Rank of an annual report as a source of a quarter before the fourth, behind every report on the quarter."""
_REFERENCE = re.compile(r"\((?:see )?notes?\b[^()]{0,40}\)|\((?:[a-z]|\d{1,2})\)", re.I)
_SPENT = re.compile(r"^(?:Payments|Repayments|Purchases?|InterestExpense|InterestPaid|IncomeTaxesPaid|CostOf|CostsAnd)")
"""XBRL concepts of spending, with positive values."""
_DEDUCTED = re.compile(
    r"^TreasuryStock|Accumulated(?:Depreciation|Amortization|Impairment)|Allowance(?!.*Recover)|Unrealized(?!\w*Gain)\w*Loss(?:es)?$|"
    r"^(?!.*Assets?Liabilit|.*\w+Assets?Net$)\w*Liabilit(?:y|ies)"
)
"""XBRL concepts of balances that are deducted from others: positive values, printed in parentheses."""


def find_operand(
    operand: Operand,
    filings: Sequence[Filing],
    line_items: Mapping[str, Sequence[LineItem]],
    pages: Collection[tuple[str, int]] | None = None,
    *,
    amended: bool = False,
    called: str = "",
    asked: Sides = NONE,
) -> Found | None:
    """The operand in the first filing that prints it: the filing of its own period, then those that repeat it.

    ``filings`` are of the operand's company, ``line_items`` are by filing_id. ``pages`` (filing_id, page) limits the
    search. Amendments come first only if ``amended``: restated figures answer another question. ``called`` is what the
    question calls the line item, ``asked`` are the qualifiers beside it, which exclude rows.
    """
    balance = canonical_items()[operand.item].statement == "balance"
    for filing, end in candidate_ends(operand.period, filings, amended, balance=balance):
        items = [
            item
            for item in line_items.get(filing.filing_id, ())
            if (pages is None or (filing.filing_id, item.page) in pages)
            and not (asked and item.statement is not None and contradicts(asked, item))
        ]
        if operand.period.length is not None and not balance:
            items = [item for item in items if may_be_of({operand.period.length}, item, filing)]
        months = operand.period.months or _months(operand.period, filing)
        line_item = find_line_item(operand.item, items, period_end=end, months=months, called=called)
        if line_item is None and operand.period.date is not None and operand.period.months is None:
            lengths = {item.months for item in items if item.statement and item.months and _ends(item, end)}
            if len(lengths) == 1:
                line_item = find_line_item(operand.item, items, period_end=end, months=lengths.pop(), called=called)
        if line_item is not None:
            every = line_items[filing.filing_id] if pages is None else items  # the sign of a tax is told by other rows
            return found_in(operand, filing, line_item, amount(operand.item, line_item, every))
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
    asked: Sides | None = None,
) -> Found | None:
    """The operand in the first filing with a row that surely prints ``phrase``, in the order of :func:`find_operand`.

    Searches whole filings and prefers the retrieved pages, whose ranks are in ``ranks``.
    """
    for filing, end, months in phrase_periods(operand, phrase, filings, amended=amended, ahead=ahead):
        own = {page: rank for (filing_id, page), rank in ranks.items() if filing_id == filing.filing_id}
        cells = kept_with(line_items.get(filing.filing_id, ()), FilingCells)
        hit = look_up_any(phrase, cells, end, months, own, asked)
        if hit is None or not hit.sure:
            continue
        item = hit.line_item
        lengths = {months} if months is not None and operand.period.length is not None else None
        if lengths is None or may_be_of(lengths, item, filing, balances=not is_flow(phrase)):
            return found_in(operand, filing, item, printed_amount(phrase, item), hit.fit.score)
    return None


def find_labeled(
    operand: Operand,
    phrase: Phrase,
    filings: Sequence[Filing],
    line_items: Mapping[str, Sequence[LineItem]],
    *,
    amended: bool = False,
    asked: Sides = NONE,
) -> Found | None:
    """The operand in the first filing that prints a row labeled by just the words of ``phrase``, in a statement or else
    in a note. None if such rows have different figures: they are of different things."""
    words = frozenset(phrase.words)
    for filing, end, months in phrase_periods(operand, phrase, filings, amended=amended):
        cells = [
            item
            for item in line_items.get(filing.filing_id, ())
            if _ends(item, end)
            and item.months in (0, months)
            and label_words(item.label) == words
            and not contradicts(asked, item)
        ]
        of_statements = [item for item in cells if item.statement in ("income", "balance", "cash_flow")]
        for own in (of_statements, cells):
            if own and len({(printed_amount(phrase, item), item.unit) for item in own}) == 1:
                return found_in(operand, filing, own[0], printed_amount(phrase, own[0]))
    return None


@lru_cache(maxsize=16384)
def label_words(label: str) -> frozenset[str]:
    """The words of a row's label without references to notes and what stands in brackets behind it."""
    return frozenset(words_of(_REFERENCE.sub(" ", label)))


def phrase_periods(
    operand: Operand, phrase: Phrase, filings: Iterable[Filing], *, amended: bool = False, ahead: bool = False
) -> Iterator[tuple[Filing, dt.date, int | None]]:
    """(filing, end, months) of the operand's period in each filing that may print it, the best source first. ``months``
    is None for a balance. With ``ahead`` the filings print what they expect for later years."""
    for filing, end in candidate_ends(operand.period, filings, amended, ahead=ahead):
        flow = not phrase.instant or (filing.closes is not None and end > filing.closes)
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
    """``operand`` from the row of ``anchor``, which is the same phrase of another period; None if it is not there."""
    row, phrase, known, asked = anchor.line_item, operand.phrase, anchor.operand.period, operand.period
    end = asked.date
    if end is None and row.period_end is not None and known.part == asked.part and abs(known.year - asked.year) < 20:
        end = _years_before(row.period_end, known.year - asked.year)
    if phrase is None or end is None:
        return None
    for item in items:
        if _ends(item, end) and _in_row(item) == _in_row(row):
            return found_in(operand, anchor.filing, item, printed_amount(phrase, item), anchor.score)
    return None


def _in_row(item: LineItem) -> tuple[object, ...]:
    """Equal for cells of one row that differ only in their period."""
    column = re.sub(r"[\W\d_]+", " ", item.column_label or "").strip().lower()
    return item.page, item.row, item.unit, item.months, column


def _ends(item: LineItem, end: dt.date) -> bool:
    return item.period_end is not None and abs((item.period_end - end).days) <= DATE_TOLERANCE_DAYS


def has_filing(operand: Operand, filings: Sequence[Filing]) -> bool:
    """Whether one of ``filings`` may print figures of the operand's period."""
    return bool(candidate_ends(operand.period, filings, amended=False))


def printed_amount(phrase: Phrase, item: LineItem) -> float:
    """The printed value; positive for what is paid, owed or deducted. Percent as a fraction."""
    if item.unit == "percent":
        return item.value / 100
    if phrase.measure == "percent":
        return item.value / item.scale / 100
    concept = (item.concept or "").rpartition(":")[2]
    positive = (
        _SPENT.search(concept)
        or (item.months == 0 and _DEDUCTED.search(concept))
        or any(metric.flow == "out" for metric in named_items(phrase))
        or PAID_OR_DEDUCTED.search(item.label)
    )
    return abs(item.value) if positive else item.value


def _months(period: Period, filing: Filing) -> int:
    """Months of a flow if the question does not give them: a year, a quarter or a transition period, as the filing
    reports."""
    closes = filing.closes if filing.transition_months else None
    if period.date is not None and closes is not None and abs((closes - period.date).days) <= _WANDER_DAYS:
        return filing.transition_months or 12
    annual = filing.fiscal_period in ("FY", "Q4") if period.date is not None else period.part in (None, "FY")
    return 12 if annual else 3


def candidate_ends(
    period: Period, filings: Iterable[Filing], amended: bool, *, balance: bool = False, ahead: bool = False
) -> list[tuple[Filing, dt.date]]:
    """(filing, end of the period in that filing), the best source first. The ``balance`` of a year's end is also in the
    quarterly reports of the next year. With ``ahead`` later years too, as schedules of maturities date them."""
    ranked = [
        (late, form, filing, end)
        for filing in filings
        for late, form, end in _ends_in(filing, period, amended, balance=balance, ahead=ahead)
    ]
    ranked.sort(key=lambda each: (each[0], each[1], each[2].filing_id))
    return [(filing, end) for _, _, filing, end in ranked]


def _ends_in(
    filing: Filing, period: Period, amended: bool, *, balance: bool, ahead: bool
) -> Iterator[tuple[int, int, dt.date]]:
    """(lateness, rank of the form, end) of the period in ``filing``, for each way to count its fiscal year. The lower,
    the better the source."""
    if filing.closes is None or filing.fiscal_period is None:
        return
    form = 0 if filing.form.startswith(("10-K", "10-Q")) else 1
    form += 2 * (filing.is_amendment != amended)
    if period.date is not None:
        later = (filing.closes - period.date).days
        if -_WANDER_DAYS <= later <= _REPEATED_DAYS:
            yield max(0, later - _WANDER_DAYS), form, period.date
        return
    calendar = filing.closes.year
    own = filing.fiscal_year if filing.fiscal_year is not None else calendar
    if period.part in (None, "FY"):
        quarters_back = 0
        if filing.transition_months:  # it prints the years before; it is no report on one
            last = add_months(filing.closes, -filing.transition_months)
            if 0 <= last.year - period.year <= _REPEATED_YEARS:
                yield last.year - period.year + 1, form, _years_before(last, last.year - period.year)
            return
        if ahead and own < period.year <= own + _AHEAD_YEARS:
            yield period.year - own, form, _years_before(filing.closes, own - period.year)
            return
        if filing.fiscal_period not in ("FY", "Q4"):
            if balance and filing.fiscal_year == period.year + 1:
                yield _REPEATED_IN_QUARTERS, form, add_months(filing.closes, -3 * int(filing.fiscal_period[1]))
            return
    elif filing.fiscal_period == "FY":  # annual reports print the year's quarters
        quarters_back = 4 - int(period.part[1])
    elif filing.fiscal_period == period.part:
        quarters_back = 0
    else:
        return
    for number, year in enumerate(dict.fromkeys((own, calendar))):  # the company's count of the year comes first
        back = year - period.year
        if 0 <= back <= _REPEATED_YEARS:
            end = add_months(_years_before(filing.closes, back), -3 * quarters_back)
            late = back + 10 * number + _REPEATED_IN_YEARS * bool(quarters_back)
            yield late, form, end


def _years_before(end: dt.date, years: int) -> dt.date:
    try:
        return end.replace(year=end.year - years)
    except ValueError:  # February 29
        return end.replace(year=end.year - years, day=28)
