"""Looks up the cell of a filing's tables that prints what a phrase asks for, for one period.

All line items of the filing compete, those on retrieved pages with an advantage. The best must match well in row and
column (row_match.py), and clearly better than any other value: a wrong figure is worse than none.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from finray.answering.cells.cell_words import Around
from finray.answering.cells.filing_cells import FilingCells
from finray.answering.cells.flow_lengths import is_balance, is_flow
from finray.answering.cells.page_cells import is_dash
from finray.answering.cells.row_weights import (
    NO_FIT,
    Fit,
    Standing,
    highest_standing,
    shipped_row_weights,
    standing_factor,
)
from finray.answering.cells.valuation_accounts import asks_for_valuation, is_valuation_account
from finray.answering.qualifiers import Sides, asked_sides, contradicts
from finray.core.digits import significant_digits
from finray.core.filing import LineItem
from finray.core.plan import Measure, Phrase
from finray.filings.tables.canonical import DATE_TOLERANCE_DAYS
from finray.question.synonyms import words_of

_MIN_COVERAGE = 0.75
_MIN_MARGIN = 1.01
"""The best value's score over that of the next different value."""
_ALONE_COVERAGE, _ALONE_MARGIN = 0.85, 1.8
"""Thresholds for a row with a lower score that fits far better than any other."""
_DASH_COVERAGE = 0.95
"""Coverage that a row needs if its cell is a dash."""
_PAGE_BONUS = 0.015
_OTHER_MEASURES: tuple[Measure, ...] = ("percent", "shares", "per share")
_OTHER_MEASURE_COVERAGE = 0.9
"""Coverage that a row needs if its unit is not what the question's words suggest."""
_OPENING = frozenset(words_of("beginning opening begin"))
_CLOSING = frozenset(words_of("end ending closing"))
_IS_RATE = re.compile(r"%|\b(?:percent\w*|rates?|yield|margin|volatility)\b")
_IS_COUNT = re.compile(r"\b(?:number|shares?|units?|options?|awards?|rsus?|psus?|warrants?|stock)\b")
_IS_PRICE = re.compile(r"\b(?:price|per (?:share|unit|option)|fair value)\b")
_SAME_VALUE = 0.006
_AS_GOOD = 0.9
"""A cell with this share of the best score replaces the best if it prints the same figure more exactly."""


@dataclass(frozen=True, slots=True)
class Hit:
    """``margin`` is the best score over that of the next different value; infinite if none comes near."""

    line_item: LineItem
    fit: Fit
    margin: float

    @property
    def sure(self) -> bool:
        """Whether the figure is good enough to answer with."""
        fit, least = self.fit, shipped_row_weights()
        close = fit.coverage >= _MIN_COVERAGE and fit.score >= least.sure_score and self.margin >= _MIN_MARGIN
        alone = fit.coverage >= _ALONE_COVERAGE and fit.score >= least.sure_alone_score and self.margin >= _ALONE_MARGIN
        if is_dash(self.line_item):  # no amount is an amount only in the very row that is asked for
            return alone and fit.coverage >= _DASH_COVERAGE
        return close or alone


class _Ranked(NamedTuple):
    """A cell with its place in reading order, which decides between equal scores."""

    score: float
    number: int
    fit: Fit
    item: LineItem


def _best_first(cell: _Ranked) -> tuple[float, int]:
    return -cell.score, cell.number


def look_up(
    phrase: Phrase,
    cells: FilingCells,
    end: dt.date,
    months: int | None,
    page_rank: Mapping[int, int],
    asked: Sides | None = None,
) -> Hit | None:
    """The best of ``cells`` for the ``months`` that end on ``end``, or for that day if ``months`` is None; None if no
    cell shares a word with ``phrase``.

    ``page_rank`` is the rank of each retrieved page. ``asked`` are the qualifiers that exclude cells, by default those
    of ``phrase``.
    """
    weights = shipped_row_weights()
    matcher = cells.matcher(phrase)
    tagged = cells.is_tagged(balances=is_balance(phrase))
    competes = _Competing(phrase, end, months, asked)
    ranked: list[_Ranked] = []

    def rank(number: int, around: Around | None = None) -> float:
        item = cells.items[number]
        fit = matcher.fit(item, around) if competes(item) else NO_FIT
        if fit.score <= 0:
            return 0.0
        score: float = fit.score * standing_factor(standing(item, months, tagged), weights)
        if item.page in page_rank:
            score *= 1 + _PAGE_BONUS / (1 + page_rank[item.page])
        ranked.append(_Ranked(score, number, fit, item))
        return score

    # The promising cells first: what cannot come near the best changes neither the best cell nor whether it is sure.
    lift = (1 + _PAGE_BONUS) * highest_standing(weights)
    highest = 0.0
    for bound, around, numbers in cells.promising(phrase):
        if bound * lift < highest / _ALONE_MARGIN:
            break
        for number in numbers:
            highest = max(highest, rank(number, around))
    if not ranked:
        return None
    best = min(ranked, key=_best_first).item
    known = {each.number for each in ranked}
    for number in cells.tagged(best.concept):
        item = cells.items[number]
        if number not in known and _tagged_alike(item, best) and _rounds(item, best):
            rank(number)
    ranked.sort(key=_best_first)
    score, fit = ranked[0].score, ranked[0].fit
    other = next((cell.score for cell in ranked if not _same(cell.item.value, best.value)), 0.0)
    same = (cell for cell in ranked if _rounds(cell.item, best))
    good = (cell.item for cell in same if cell.score >= score * _AS_GOOD or _tagged_alike(cell.item, best))
    exact = max(good, key=_digits)
    return Hit(exact if _digits(exact) > _digits(best) else best, fit, score / other if other else float("inf"))


def comparable(phrase: Phrase, cells: FilingCells, end: dt.date, months: int | None) -> Iterator[LineItem]:
    """The cells of the period with the phrase's measure. For a balance none that are tagged as a flow: tags are
    reliable about periods, while the headings of a note's table may read "years ended"."""
    return filter(_Competing(phrase, end, months, None), cells.items)


class _Competing:
    """Whether a cell is :func:`comparable`."""

    def __init__(self, phrase: Phrase, end: dt.date, months: int | None, asked: Sides | None) -> None:
        self._asked = asked_sides(phrase.text) if asked is None else asked
        self._phrase, self._end, self._months = phrase, end, months
        self._balance, self._flow = is_balance(phrase), is_flow(phrase)
        self._opening = _opening_end(end, months) if phrase.opening else None
        self._valuation = asks_for_valuation(phrase.words)

    def __call__(self, item: LineItem) -> bool:
        if not self._of_period(item) or (not self._valuation and is_valuation_account(item)):
            return False
        if self._balance and item.concept is not None and item.months != 0:
            return False
        if self._flow and item.statement == "balance":
            return False  # deferred revenue is not revenue
        must = self._phrase.must
        if not measures(item, self._phrase.measure) or (must and must.isdisjoint(words_of(item.label))):
            return False
        return not contradicts(self._asked, item)

    def _of_period(self, item: LineItem) -> bool:
        if item.period_end is None:
            return False
        end, months = self._end, self._months
        if self._opening is not None and item.months == 0 and _opens(item.label):
            end = self._opening  # "the balance at the beginning of 2024" closed 2023
        if abs((item.period_end - end).days) > DATE_TOLERANCE_DAYS:
            return False
        # Rates assumed as of a day are in tables whose captions name years.
        assumed = item.unit == "percent" and item.statement is None and months is None and item.months == 12
        return item.months is None or item.months in (0, months) or assumed


def standing(item: LineItem, months: int | None, tagged: bool) -> Standing:
    """The standing of ``item`` in a look-up for ``months``. If the filing is ``tagged``, untagged cells are
    management's own presentation."""
    return Standing(
        statement=item.statement is not None,
        unsaid_months=item.months is None or (months is None and item.months != 0),
        dash=item.value == 0,
        untagged=tagged and item.concept is None and item.statement is None,
    )


def look_up_any(
    phrase: Phrase,
    cells: FilingCells,
    end: dt.date,
    months: int | None,
    page_rank: Mapping[int, int],
    asked: Sides | None = None,
) -> Hit | None:
    """As :func:`look_up`, but if no cell of the measure is sure, a sure one of another measure whose row has nearly all
    words of the phrase: "outstanding at the end of the year" may count options. Never if the question states what it
    measures."""
    hit = look_up(phrase, cells, end, months, page_rank, asked)
    settled = phrase.stated or phrase.metrics
    if (hit is not None and hit.sure) or phrase.measure != "money" or settled:
        return hit
    for measure in _OTHER_MEASURES:
        other = look_up(replace(phrase, measure=measure), cells, end, months, page_rank, asked)
        if other is not None and other.sure and other.fit.coverage >= _OTHER_MEASURE_COVERAGE:
            return other
    return hit


def _opening_end(end: dt.date, months: int | None) -> dt.date:
    return end - dt.timedelta(days=round((months or 12) * 30.4375))


def _opens(label: str) -> bool:
    words = set(words_of(label))
    return bool(words & _OPENING) and not words & _CLOSING


def measures(item: LineItem, measure: Measure) -> bool:
    """Whether the figure of ``item`` is of ``measure``. In notes often only a heading gives the unit, so the words
    around the figure decide."""
    money = "/" not in item.unit and item.unit not in ("shares", "percent", "pure")
    if measure == "money":
        return money
    if measure == "per share":
        return item.unit.endswith("/share") or (money and _says(item, _IS_PRICE))
    if measure == "shares":
        return item.unit in ("shares", "pure") or (money and item.statement is None and _says(item, _IS_COUNT))
    if item.unit == "percent" or not money or item.statement is not None:
        return item.unit == "percent"
    small = "," not in item.text and abs(item.value / item.scale) <= 1000
    return small and _says(item, _IS_RATE, item.caption)


def _says(item: LineItem, pattern: re.Pattern[str], caption: str | None = None) -> bool:
    around = (item.label, item.column_label, item.section, caption)
    return pattern.search(" ".join(filter(None, around)).lower()) is not None


def _rounds(item: LineItem, best: LineItem) -> bool:
    """Whether one of the figures may be the other, rounded: "$6.0 billion" in a sentence, 5,985 in a statement."""
    return item.unit == best.unit and item.value * best.value >= 0 and _same(item.value, best.value)


def _tagged_alike(item: LineItem, best: LineItem) -> bool:
    return item.concept is not None and (item.concept, item.months) == (best.concept, best.months)


def _digits(item: LineItem) -> int:
    return len(significant_digits(item.text))


def _same(a: float, b: float) -> bool:
    """Whether tables in thousands and in millions may print both as one figure."""
    return abs(abs(a) - abs(b)) <= _SAME_VALUE * max(abs(a), abs(b))
