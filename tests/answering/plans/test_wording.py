from __future__ import annotations

import pytest

from finray.answering.plans.wording import asked_value, may_be_relative, shown, shown_move
from finray.core.plan import Unit
from finray.core.query import AskedUnit, Shape
from finray.question.measures.shape import asked_shape


@pytest.mark.parametrize(
    ("question", "shape"),
    [
        ("What is revenue?", Shape(None, None)),
        ("Answer in USD millions.", Shape("million", None, unit="money")),
        ("in thousands of dollars, to one decimal place", Shape("thousand", 1, unit="money")),
        ("Answer in units of USD billions, two decimals", Shape("billion", 2, unit="money")),
        ("Round to the nearest whole number", Shape(None, 0)),
    ],
)
def test_wishes_are_read(question: str, shape: Shape) -> None:
    assert asked_shape(question) == shape


@pytest.mark.parametrize(
    ("value", "unit", "shape", "text"),
    [
        (1_832e6, "USD", Shape(None, None), "$1,832 million"),
        (-70_279e3, "USD", Shape(None, None), "-$70.3 million"),
        (12_345e6, "USD", Shape(None, None), "$12.35 billion"),
        (950, "USD", Shape(None, None), "$950"),
        (1_500_000, "USD", Shape("thousand", None), "$1,500 thousand"),
        (1_408_729_000, "USD", Shape("billion", 2), "$1.41 billion"),
        (0.01944, "percent", Shape(None, None), "1.9%"),
        (0.01944, "percent", Shape(None, 2), "1.94%"),
        (24.256, "ratio", Shape(None, None), "24.26"),
        (-0.4, "USD/share", Shape(None, None), "-$0.40"),
        (89.797, "days", Shape(None, None), "89.80 days"),
        (1_832e6, "USD", Shape(None, None, "EUR"), "€1,832 million"),
        (-70_279e3, "USD", Shape(None, None, "CAD"), "-CAD 70.3 million"),
        (302, "USD", Shape(None, None, ""), "302"),
        (0.4, "USD/share", Shape(None, None, "GBP"), "£0.40"),
    ],
)
def test_amounts_as_a_person_writes_them(value: float, unit: Unit, shape: Shape, text: str) -> None:
    assert shown(value, unit, shape) == text


def test_values_for_a_machine() -> None:
    assert asked_value(0.25, "percent", Shape(None, None)) == (25.0, "percent")
    assert asked_value(1_408_729_000, "USD", Shape("billion", 2)) == (1.41e9, "USD")
    assert asked_value(24.256, "ratio", Shape(None, 1)) == (24.3, "ratio")
    assert asked_value(4e9, "USD", Shape("billion", 2, "JPY")) == (4e9, "JPY")
    assert asked_value(0.4, "USD/share", Shape(None, None, "EUR")) == (0.4, "EUR/share")
    assert asked_value(302, "USD", Shape(None, None, "")) == (302, "count")


@pytest.mark.parametrize(
    ("value", "intents", "text"),
    [
        (-0.226, {"growth", "falls"}, "a decrease of 22.6%"),
        (0.05, {"growth", "falls"}, "an increase of 5.0%"),
        (-0.226, {"growth"}, "-22.6%"),
        (-0.226, {"growth", "rises", "falls"}, "-22.6%"),
    ],
)
def test_a_fall_that_is_asked_for_is_stated_by_its_size(value: float, intents: set[str], text: str) -> None:
    assert shown_move(value, "percent", Shape(None, None), intents) == text


def test_a_percentage_moves_by_percentage_points() -> None:
    assert shown_move(0.0448, "percent", Shape(None, None), frozenset(), points=True) == "4.5 percentage points"
    fall = shown_move(-0.014, "percent", Shape(None, None), frozenset({"falls"}), points=True)
    assert fall == "a decrease of 1.4 percentage points"


@pytest.mark.parametrize(
    ("unit", "asked", "open_"),
    [
        ("USD", None, True),
        ("USD", "money", False),
        ("USD/share", "per share", True),
        ("USD/share", "money", False),
        ("shares", None, True),
        ("percent", None, False),
    ],
)
def test_a_change_may_be_meant_in_percent_if_the_question_states_no_unit(
    unit: Unit, asked: AskedUnit | None, open_: bool
) -> None:
    assert may_be_relative(unit, Shape(None, None, unit=asked)) is open_
