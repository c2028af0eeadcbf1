"""Units of results."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import pytest

from finray.answering.plans.units import answers_unit, is_odd
from finray.core.period import Period
from finray.core.plan import Coverage, Found, Operand, Phrase, Plan, Unit
from finray.core.query import Query, Shape
from tests.answering.made_up_cells import FILING, item

_PHRASE = Phrase("taxes", (), (), "money")
_OPERAND = Operand("a", "acme", "a", Period(2022, None), "taxes", _PHRASE)


def _found(name: str, unit: Unit) -> Found:
    line = item(3, 1, "Taxes", 5.0, unit=unit, period_end=dt.date(2022, 12, 31))
    return Found(replace(_OPERAND, name=name), FILING, line, 5.0, unit, "USD" if unit == "USD" else "", 1.0)


@pytest.mark.parametrize(
    ("program", "units", "right"),
    [
        ("abs(a / b)", ("USD", "USD"), True),
        ("abs(a / b)", ("percent", "USD"), False),
        ("a - b", ("USD", "percent"), False),
        ("a * b", ("percent", "USD"), True),
        ("a - b", ("percent", "percent"), True),
    ],
)
def test_a_percentage_and_an_amount_are_only_multiplied(program: str, units: tuple[Unit, Unit], right: bool) -> None:
    found = {name: _found(name, unit) for name, unit in zip("ab", units, strict=True)}
    plan = Plan("value", program, "USD", "taxes", tuple(each.operand for each in found.values()))
    query = Query("How much?", "How much?", ("acme",), shape=Shape(None, None))
    assert answers_unit(query, Coverage(plan, found, ())) is right


@pytest.mark.parametrize(("program", "right"), [("a - b", False), ("(a - b) / b", True), ("growth(b, a)", True)])
def test_amounts_of_money_make_a_percentage_only_by_division(program: str, right: bool) -> None:
    found = {name: _found(name, "USD") for name in "ab"}
    plan = Plan("difference", program, "percent", "taxes", tuple(each.operand for each in found.values()))
    query = Query("How much?", "How much?", ("acme",), shape=Shape("percent", None))
    assert answers_unit(query, Coverage(plan, found, ())) is right


@pytest.mark.parametrize(
    ("value", "unit", "odd"),
    [
        (64_049.2, "percent", True),
        (-7e-8, "percent", True),
        (0.0, "percent", False),
        (-22.6, "percent", False),
        (4_200.0, "ratio", True),
        (1.4, "ratio", False),
        (64_049.2, "USD", False),
    ],
)
def test_a_percentage_of_an_absurd_size_is_odd(value: float, unit: str, odd: bool) -> None:
    assert is_odd(value, unit) is odd
