"""Flows and balances, and how long the periods of flows are: the figure of a year is not that of its last quarter."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from finray.core.filing import Filing, LineItem
from finray.core.plan import Phrase
from finray.core.query import Query
from finray.core.vocabulary import MONTH
from finray.filings.tables.canonical import DATE_TOLERANCE_DAYS, CanonicalItem, canonical_items
from finray.question.arithmetic import names

_PART_OF_YEAR: Final = re.compile(
    r"\b(?:quarter\w*|[1-4]Q|Q[1-4]|H[12]|[12]H|half|interim|year[\s-]to[\s-]date|"
    r"(?:three|six|nine|3|6|9)[\s-]+months?|(?:1[1-7]|2[2-9]|3[4-9]|4[01]|thirteen|twenty-six|thirty-nine)[\s-]+weeks?)\b",
    re.I,
)
_YEAR_ENDED: Final = re.compile(r"\byears?\s+ended\b", re.I)
_DAY: Final = re.compile(
    rf"\b(?:as of|as at|at|on)\s+(?:{MONTH}\s+\d|(?:the\s+)?(?:year|month|quarter)?[\s-]?end\b)", re.I
)
_YEAR_DAYS: Final = 365.25


def flow_lengths(query: Query) -> frozenset[int]:
    """Lengths in months of the flows that the question asks for; empty if it leaves one open or asks for a balance."""
    lengths = {period.length for period in query.asked}
    if None in lengths or _asks_balance(query):
        return frozenset()
    return frozenset(length for length in lengths if length is not None)


def length_of(item: LineItem, filing: Filing) -> int | None:
    """Months of the cell's period, 0 for a balance; None if the length is open. In annual reports a cell without a
    stated length that ends with a fiscal year, or has no date, is of the year unless its table says otherwise."""
    if item.months is not None or filing.fiscal_period != "FY" or not _may_end_year(item, filing):
        return item.months
    beside = " ".join(filter(None, (item.section, item.label, item.column_label)))
    above = item.caption or ""
    of_part = names_part_of_year(beside) or (names_part_of_year(above) and _YEAR_ENDED.search(above) is None)
    return None if of_part else 12


def asks_flow(query: Query) -> bool:
    """Whether every figure that the question names is of an income or cash flow statement."""
    asked = [
        is_flow(measures.phrases[name]) if name in measures.phrases else is_flow_item(name)
        for measures in query.measures
        for formula in measures.formulas
        for name in names(formula.expression)
    ]
    return bool(asked) and all(asked)


def is_flow_item(name: str) -> bool:
    """Whether ``name`` is a canonical line item other than a balance."""
    item = canonical_items().get(name)
    return item is not None and item.statement != "balance"


def named_items(phrase: Phrase) -> list[CanonicalItem]:
    """The canonical line items that all words of the phrase together name."""
    return [canonical_items()[key] for key, words in phrase.metrics if set(phrase.words) <= words]


def is_flow(phrase: Phrase) -> bool:
    """Whether all words of the phrase name an amount of the income or cash flow statement."""
    named = named_items(phrase)
    return bool(named) and all(item.statement != "balance" for item in named)


def is_balance(phrase: Phrase) -> bool:
    """Whether the phrase asks for a balance: by the question's words, or because all its words name one."""
    return phrase.instant or any(item.statement == "balance" for item in named_items(phrase))


def may_be_of(lengths: Collection[int], item: LineItem, filing: Filing, *, balances: bool = True) -> bool:
    """Whether the cell may be a flow over one of ``lengths``, in months. With ``balances`` a balance may be too: "did
    debt fall in the quarter"."""
    return length_of(item, filing) in (None, *([0] if balances else []), *lengths)


def states_year(text: str, filing: Filing, lengths: Collection[int]) -> bool:
    """Whether ``text`` of an annual report is about whole years, though the flow of a part of a year is asked for: it
    names neither such a part nor a day."""
    if filing.fiscal_period != "FY" or max(lengths, default=12) >= 12:
        return False
    return not names_part_of_year(text) and _DAY.search(text) is None


def states_part(text: str, filing: Filing, query: Query) -> bool:
    """Whether ``text`` of a quarterly report cannot be about the whole year whose flow is asked for: the year was not
    over, or the text names a part of one."""
    years = {period.year for period in query.asked if period.part in (None, "FY") and period.date is None}
    if len(years) < len(query.asked) or not years or filing.fiscal_period not in ("Q1", "Q2", "Q3"):
        return False
    return asks_flow(query) and (filing.fiscal_year in years or names_part_of_year(text))


def names_part_of_year(text: str) -> bool:
    """Whether ``text`` mentions a period shorter than a year, or one of weeks or months that are not a year's."""
    return _PART_OF_YEAR.search(text) is not None


def _may_end_year(item: LineItem, filing: Filing) -> bool:
    if item.period_end is None or filing.period_end is None:
        return item.period_end is None
    days = abs((filing.period_end - item.period_end).days)
    return abs(days - round(days / _YEAR_DAYS) * _YEAR_DAYS) <= DATE_TOLERANCE_DAYS


def _asks_balance(query: Query) -> bool:
    items = canonical_items()
    for measures in query.measures:
        if any(phrase.instant for phrase in measures.phrases.values()):
            return True
        named = {name for formula in measures.formulas for name in names(formula.expression)}
        if any(items[name].statement == "balance" for name in named & items.keys()):
            return True
    return False
