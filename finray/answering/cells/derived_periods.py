"""Computes amounts of a part of a fiscal year that no filing prints: a year less its first nine months is its fourth
quarter.

Annual reports hardly ever print the fourth quarter, and quarterly ones only print cash flows of the year to date.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from finray.answering.cells.flow_lengths import is_flow_item
from finray.core.filing import FiscalPeriod
from finray.core.period import Period
from finray.core.plan import Coverage, Found, Operand, Plan
from finray.filings.tables.canonical import plain_label
from finray.question.arithmetic import substituted
from finray.question.plans.programs import period_label

Search = Callable[[Operand, int], Found | None]
"""Finds an operand in the filings of a fiscal year."""
Span = tuple[FiscalPeriod, int]
"""(part of the year, months): the months that end with that part."""
_WAYS: Final[Mapping[Span, tuple[tuple[Span, Span], ...]]] = {
    ("Q1", 3): ((("Q2", 6), ("Q2", 3)),),
    ("Q2", 3): ((("Q2", 6), ("Q1", 3)),),
    ("Q3", 3): ((("Q3", 9), ("Q2", 6)),),
    ("Q4", 3): ((("FY", 12), ("Q3", 9)),),
    ("Q4", 6): ((("FY", 12), ("Q2", 6)),),
    ("Q2", 6): ((("Q3", 9), ("Q3", 3)),),
    ("Q3", 9): ((("FY", 12), ("Q4", 3)),),
}
"""For each span, pairs of a longer and a shorter one whose difference it is."""
_NAMES: Final[Mapping[Span, str]] = {("FY", 12): "the year", ("Q3", 9): "nine months", ("Q2", 6): "six months"}


def with_derived(coverage: Coverage, search: Search) -> Coverage:
    """``coverage`` with each absent amount computed from a longer and a shorter period, if ``search`` finds both."""
    plan, found, absent = coverage.plan, dict(coverage.found), []
    for operand in coverage.absent:
        pair = derived(operand, search)
        if pair is None:
            absent.append(operand)
            continue
        found |= {each.operand.name: each for each in pair}
        plan = _in_place_of(plan, operand, *(each.operand for each in pair))
    return Coverage(plan, found, tuple(absent))


def derived(operand: Operand, search: Search) -> tuple[Found, Found] | None:
    """The two figures whose difference is ``operand``; None if they are not found, or not of one row."""
    period = operand.period
    if period.part is None or period.length is None or not _adds_up(operand):
        return None
    ways = _WAYS.get((period.part, period.length), ())
    # Filings of the next year print both again, perhaps restated: take both from the filings of one year.
    for year, (longer, shorter) in itertools.product((period.year, period.year + 1), ways):
        whole = search(_over(operand, longer), year)
        if whole is None:
            continue
        rest = search(_over(operand, shorter), year)
        if rest is not None and _alike(whole, rest):
            return whole, rest
    return None


def _over(operand: Operand, span: Span) -> Operand:
    part, months = span
    usual = 12 if part == "FY" else 3
    period = Period(operand.period.year, part, months=months if months != usual else None)
    # As in programs: "revenue_q1_2023_acme" becomes "revenue_6m_q2_2023_acme".
    name = operand.name.replace(period_label(operand.period), period_label(period))
    return replace(operand, name=name, period=period)


def _adds_up(operand: Operand) -> bool:
    """Whether amounts of successive spans add up, unlike balances, rates and averages."""
    if operand.phrase is not None:
        return operand.phrase.measure == "money" and not operand.phrase.instant
    return is_flow_item(operand.item)


def _alike(whole: Found, rest: Found) -> bool:
    """Amounts of money of one row, over spans of the lengths that were searched for."""
    if any(found.unit != "USD" or not found.currency or not _has_months(found) for found in (whole, rest)):
        return False
    if whole.currency != rest.currency:
        return False
    one, other = whole.line_item, rest.line_item
    if one.concept is not None and other.concept is not None:
        return one.concept == other.concept
    return plain_label(one.label) == plain_label(other.label)


def _has_months(found: Found) -> bool:
    period = found.operand.period
    return found.line_item.months == (period.length or 12)


def _in_place_of(plan: Plan, operand: Operand, whole: Operand, rest: Operand) -> Plan:
    """``plan`` with ``whole`` less ``rest`` in place of ``operand``."""

    def edited(program: str) -> str:
        difference = f"{whole.name} - {rest.name}"
        return difference if program == operand.name else substituted(program, {operand.name: f"({difference})"})

    operands = tuple(each for own in plan.operands for each in ((whole, rest) if own.name == operand.name else (own,)))
    return replace(
        plan,
        program=edited(plan.program),
        operands=tuple(dict.fromkeys(operands)),
        parts=tuple((label, edited(program)) for label, program in plan.parts),
        choose=tuple((company, edited(rank), edited(value)) for company, rank, value in plan.choose),
        derived=(*plan.derived, f"{operand.period}: {_named(whole)} less {_named(rest)}"),
    )


def _named(operand: Operand) -> str:
    part = operand.period.part or "FY"
    return _NAMES.get((part, operand.period.length or 12), part)
