"""The cell that prints what a phrase asks for; no cell if two figures fit equally well."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import pytest

from finray.answering.cells.cell_words import Rarity
from finray.answering.cells.filing_cells import FilingCells
from finray.answering.cells.lookup import Hit, comparable, look_up, look_up_any, standing
from finray.answering.cells.row_match import Matcher
from finray.answering.cells.row_weights import shipped_row_weights, standing_factor
from finray.core.filing import LineItem
from finray.question.measures.phrase import phrase_of
from tests.answering.made_up_cells import item

END = dt.date(2024, 12, 31)


def _item(label: str, value: float, **changes: object) -> LineItem:
    return item(50, int(value) % 997, label, value, **{"period_end": END, **changes})


TABLE = [
    _item("Federal", 100, section="Current:", caption="The provision for income taxes consisted of the following:"),
    _item("State", 20, section="Current:", caption="The provision for income taxes consisted of the following:"),
    _item("Federal", -30, section="Deferred:", caption="The provision for income taxes consisted of the following:"),
    _item("State", -5, section="Deferred:", caption="The provision for income taxes consisted of the following:"),
    _item("Accounts payable", 410, months=0, statement="balance"),
    _item("Operating income", 900, statement="income"),
    _item("Operating income", 300, column_label="Americas"),
    _item("Operating income", 200, column_label="Europe"),
    _item("Europe", 2_000, section="Net sales:"),
    _item("Europe", 1_200, section="Cost of sales:"),
]


def _look(text: str, months: int | None = 12, items: list[LineItem] = TABLE) -> Hit | None:
    phrase = phrase_of(text)
    assert phrase is not None
    return look_up(phrase, FilingCells(items), END, months, {})


def _sure(text: str, months: int | None = 12) -> float | None:
    hit = _look(text, months)
    return hit.line_item.value if hit is not None and hit.sure else None


def test_row_and_heading_together_name_the_figure() -> None:
    assert _sure("current federal income tax expense") == 100
    assert _sure("deferred state income tax expense") == -5


def test_plain_speech_finds_the_caption() -> None:
    assert _sure("money owed to suppliers") == 410


def test_a_segment_is_a_column_or_a_row() -> None:
    assert _sure("operating income of the Americas segment") == 300
    assert _sure("Europe revenue") == 2_000
    assert _sure("Europe cost of goods sold") == 1_200


def test_the_whole_is_not_a_part_and_a_part_that_is_not_there_is_not_the_whole() -> None:
    assert _sure("operating income") == 900
    assert _sure("operating income of the Antarctica segment") is None


def test_two_figures_that_fit_alike_are_none() -> None:
    items = [_item("Restructuring charges", 40), _item("Restructuring charges", 55)]
    hit = _look("restructuring charges", items=items)
    assert hit is not None
    assert not hit.sure


def test_the_same_figure_in_thousands_and_millions_is_one() -> None:
    items = [_item("Restructuring charges", 40_000_000), _item("Restructuring charges", 40_012_000)]
    hit = _look("restructuring charges", items=items)
    assert hit is not None
    assert hit.sure


def test_a_day_has_no_flow_and_a_quarter_no_year() -> None:
    assert _look("operating income", None) is None
    assert _look("operating income", 3) is None


@pytest.mark.parametrize(("label", "sure"), [("Impairment charges", True), ("Goodwill impairment and other", False)])
def test_a_dash_answers_only_in_the_very_row_that_is_asked_for(label: str, sure: bool) -> None:
    hit = _look("impairment charges", items=[_item(label, 0, text="—")])
    assert hit is not None
    assert hit.sure == sure


def test_an_exact_figure_replaces_one_that_a_sentence_rounds() -> None:
    rounded = _item("Commercial paper outstanding", 6_000e6, text="6.0", months=0, concept="us-gaap:CommercialPaper")
    exact = replace(rounded, label="Commercial paper", value=5_985e6, text="5,985", statement="balance", row=7)
    other = replace(rounded, label="Commercial paper, weighted average outstanding", value=4_100e6, text="4.1", row=8)
    for items in ([rounded, exact, other], [exact, rounded, other]):
        hit = _look("commercial paper", None, items)
        assert hit is not None
        assert hit.line_item.value == 5_985e6


def test_no_row_of_another_measure_answers_a_question_that_states_its_own() -> None:
    rate = [_item("Foreign currency translation losses", 0.4, unit="percent", text="0.4"), *TABLE]
    phrase = phrase_of("foreign currency translation losses")
    assert phrase is not None
    assert phrase.measure == "money"
    found = look_up_any(phrase, FilingCells(rate), END, 12, {})
    assert found is not None
    assert found.line_item.unit == "percent"
    stated = look_up_any(replace(phrase, stated=True), FilingCells(rate), END, 12, {})
    assert stated is None or not stated.sure


def test_cells_that_cannot_win_are_left_out_without_another_answer() -> None:
    weights = shipped_row_weights()
    for text in ("operating income", "deferred federal income tax expense", "net sales in Europe", "accounts payable"):
        phrase = phrase_of(text)
        assert phrase is not None
        cells = FilingCells(TABLE)
        for months in (12, None):
            scores = [
                (fit.score * standing_factor(standing(cell, months, False), weights), cell.value)
                for cell in comparable(phrase, cells, END, months)
                if (fit := Matcher(phrase, Rarity(TABLE)).fit(cell)).score > 0
            ]
            hit = look_up(phrase, cells, END, months, {})
            assert (hit is None) == (not scores)
            if hit is not None:
                best = max(scores, key=lambda each: each[0])
                assert hit.line_item.value == best[1]
                next_best = max((score for score, value in scores if abs(value) != abs(best[1])), default=0.0)
                assert (hit.margin >= 1.8) == (best[0] >= 1.8 * next_best)


def test_no_score_exceeds_its_bound() -> None:
    for text in ("operating income of Europe", "current state income tax", "cost of sales"):
        phrase = phrase_of(text)
        assert phrase is not None
        matcher = FilingCells(TABLE).matcher(phrase)
        assert all(matcher.fit(cell).score <= matcher.bound(cell) + 1e-9 for cell in TABLE)
