"""The general look-up: the cell of a filing's tables that prints what a phrase asks for, for one period.

Every line item of the filing competes, those of retrieved pages with an advantage. What counts is the fit of row and
column (row_match.py), and that no other value fits nearly as well: a wrong figure is worse than none.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from finray.answering.phrase import Measure, Phrase
from finray.answering.row_match import Fit, Matcher, Rarity
from finray.filings.canonical import DATE_TOLERANCE_DAYS
from finray.types import LineItem

MIN_COVERAGE = 0.75
MIN_SCORE = 0.68
MIN_MARGIN = 1.01
"""The best value's score over that of the next different value."""
_STATEMENT_BONUS = 1.08
_PAGE_BONUS = 0.015
_UNSAID_MONTHS = 0.97
_DASH = 0.8
_SAME_VALUE = 0.006


@dataclass(frozen=True, slots=True)
class Hit:
    """``margin`` is ``fit.score`` over the score of the next different value, infinite where there is none."""

    line_item: LineItem
    fit: Fit
    margin: float

    @property
    def sure(self) -> bool:
        dash = self.line_item.value == 0 and not any(map(str.isdigit, self.line_item.text))
        return (
            not dash and self.fit.coverage >= MIN_COVERAGE and self.fit.score >= MIN_SCORE and self.margin >= MIN_MARGIN
        )


def look_up(
    phrase: Phrase,
    items: Sequence[LineItem],
    end: dt.date,
    months: int | None,
    page_rank: Mapping[int, int],
) -> Hit | None:
    """The best cell of ``items`` (one filing's) for the period of ``months`` to ``end``, or for that day; None where
    nothing shares a word. Without ``months`` the day alone is asked for. ``page_rank`` is the rank of each retrieved
    page."""
    matcher = Matcher(phrase, Rarity(items))
    ranked: list[tuple[float, Fit, LineItem]] = []
    for item in items:
        if not (_of_period(item, end, months) and _measures(item, phrase.measure)):
            continue
        fit = matcher.fit(item)
        if fit.score <= 0:
            continue
        score = fit.score * (_STATEMENT_BONUS if item.statement is not None else 1.0)
        score *= _UNSAID_MONTHS if item.months is None else 1.0
        score *= _DASH if item.value == 0 else 1.0
        if item.page in page_rank:
            score *= 1 + _PAGE_BONUS / (1 + page_rank[item.page])
        ranked.append((score, fit, item))
    if not ranked:
        return None
    ranked.sort(key=lambda cell: -cell[0])
    score, fit, best = ranked[0]
    other = next((other for other, _, item in ranked if not _same(item.value, best.value)), 0.0)
    return Hit(best, fit, score / other if other else float("inf"))


def _of_period(item: LineItem, end: dt.date, months: int | None) -> bool:
    if item.period_end is None or abs((item.period_end - end).days) > DATE_TOLERANCE_DAYS:
        return False
    return item.months is None or item.months in (0, months)


def _measures(item: LineItem, measure: Measure) -> bool:
    if measure == "per share":
        return item.unit.endswith("/share")
    if measure == "money":
        return "/" not in item.unit and item.unit not in ("shares", "percent")
    return item.unit == measure


def _same(a: float, b: float) -> bool:
    """Tables in thousands and in millions print one figure."""
    return abs(abs(a) - abs(b)) <= _SAME_VALUE * max(abs(a), abs(b))
