"""Which row is the largest, grew fastest, fell most: names, figures, cells, and refusals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from finray.answering.question_heads import QuestionHeads
from finray.core.filing import LineItem
from finray.core.journal import Journal
from finray.core.period import Period
from finray.core.predictions import Answer
from finray.core.query import Query, Shape
from finray.core.roles import Curation
from tests.answering.made_up_cells import BEFORE, ITEMS, facts, item, passage
from tests.answering.rankings.made_up_rankings import answerer, heads


def _answer(
    asked: QuestionHeads, items: tuple[LineItem, ...] = ITEMS, threshold: float = 0.4, shape: Shape | None = None
) -> Answer | None:
    text = "Which segment's capital spending was it in 2022?"
    query = Query(text, text, ("acme",), periods=(Period(2022, "FY"),), shape=shape or Shape(None, None))
    return answerer(facts(items), asked, threshold).answer(query, Curation((passage(3),), answerable=True), Journal())


def test_the_largest_figure_of_the_year_with_all_that_are_compared() -> None:
    answer = _answer(heads("value", lowest=False))
    assert answer is not None
    assert answer.text.startswith("North America Beverages: $904 million")
    assert "Frito Snacks $665 million" in answer.text
    assert "December 31, 2022" in answer.text
    assert (answer.value, answer.unit, answer.confidence) == (904e6, "USD", 0.5)
    assert [cell.text for cell in answer.operands] == ["904", "665"]
    assert answer.grounded


def test_the_largest_fall_in_dollars() -> None:
    answer = _answer(heads("difference", lowest=True))
    assert answer is not None
    assert answer.text.startswith("Frito Snacks: a decrease of $136 million, from $801 million to $665 million")
    assert answer.value == -136e6
    assert answer.program is not None
    assert answer.program.startswith("min(x1 - y1, x2 - y2)")


def test_the_fastest_growth_in_percent() -> None:
    answer = _answer(heads("growth", lowest=False))
    assert answer is not None
    assert answer.text.startswith("North America Beverages: 17.6%, from $769 million to $904 million")
    assert (round(answer.value or 0, 1), answer.unit) == (17.6, "percent")


def test_the_year_with_the_smallest_figure() -> None:
    answer = _answer(heads("value", lowest=True, periods=True))
    assert answer is not None
    assert answer.text.startswith("The year ended December 31, 2021: $769 million (North America Beverages:")


def test_a_table_without_heads_is_described_by_nothing() -> None:
    undated = {"period_end": None, "months": None}
    rows = (item(3, 1, "Europe", 8.0, **undated), item(3, 2, "Asia", 5.0, **undated))
    answer = _answer(heads("value", lowest=False), rows)
    assert answer is not None
    assert answer.text == "Europe: $8 (Asia $5)"


@pytest.mark.parametrize(("months", "period"), [(1, "the month ended "), (3, "the 3 months ended "), (0, "")])
def test_a_period_is_named_by_its_length(months: int, period: str) -> None:
    rows = tuple(replace(each, months=months) for each in ITEMS if each.page == 3 and each.period_end != BEFORE)
    answer = _answer(heads("value", lowest=False), rows)
    assert answer is not None
    assert f"({period}December 31, 2022: " in answer.text


def test_no_ranking_for_another_question() -> None:
    assert _answer(heads("value", lowest=False, ranks=False)) is None


def test_an_unsure_ranking_is_no_answer() -> None:
    assert _answer(heads("value", lowest=False), threshold=0.6) is None


def test_equal_figures_have_no_winner() -> None:
    same = tuple(replace(each, value=5.0, text="5") for each in ITEMS if each.page == 3)
    assert _answer(heads("value", lowest=False), same) is None


def test_long_lists_name_the_first_ones_and_count_the_rest() -> None:
    rows = tuple(item(3, row, f"{chr(64 + row) * 4} mill", 100.0 + row) for row in range(1, 13))
    answer = _answer(heads("value", lowest=False), rows)
    assert answer is not None
    assert answer.text.startswith("LLLL mill: $112 (the year ended December 31, 2022: KKKK mill $111;")
    assert answer.text.endswith("; and 4 more)")
    assert len(answer.operands) == 8


@pytest.mark.parametrize("axis", ["rows", "columns"])
def test_changes_need_an_earlier_figure(axis: str) -> None:
    now = [each for each in ITEMS if each.page == 3 and each.period_end != BEFORE]
    items: Sequence[LineItem] = now
    if axis == "columns":
        items = [
            replace(each, row=1, column=n, label="Spent", column_label=each.label) for n, each in enumerate(now, 1)
        ]
    answer = _answer(heads("growth", lowest=False), tuple(items))
    assert answer is None or answer.unit == "USD"  # the largest figure is the best guess left
