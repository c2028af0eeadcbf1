"""Figures from plans that a model wrote: what it is shown, what is computed, and what is refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
import pytest

from finray.answering.sentences.features import FEATURES, Candidates
from finray.answering.sentences.read import SentenceFinder
from finray.answering.written_plans.answerer import PlanAnswerer
from finray.core.errors import ModelUnavailableError
from finray.core.journal import Journal
from finray.core.passages import Passage
from finray.core.period import Period
from finray.core.predictions import Answer
from finray.core.query import Query
from finray.core.roles import Curation
from finray.models.plan_writer import WrittenPlan
from tests.answering.made_up_cells import facts, passage


class FakeWriter:
    """Writes ``text``; keeps the sheets that it saw."""

    def __init__(self, *texts: str, probability: float = 0.9) -> None:
        self.texts, self.probability = texts, probability
        self.sheets: list[str] = []

    def write(self, sheet: str, grammar: str) -> Sequence[WrittenPlan]:
        self.sheets.append(sheet)
        return [WrittenPlan(text, float(np.log(self.probability))) for text in self.texts]


class NoSentences:
    def find(self, query: Query, passages: Sequence[Passage]) -> Candidates:
        return Candidates((), (), (), np.zeros((0, len(FEATURES))))


def _query(text: str, *years: int) -> Query:
    return Query(text, text, ("acme",), periods=tuple(Period(year, "FY") for year in years), names=("Acme",))


def _answer(query: Query, writer: FakeWriter, journal: Journal | None = None) -> Answer | None:
    answerer = PlanAnswerer(facts(), cast(SentenceFinder, NoSentences()), writer, least=0.5)
    return answerer.answer(query, Curation((passage(3), passage(5)), answerable=True), journal or Journal())


def _id(sheet: str, label: str) -> str:
    """The id of the row that begins with ``label``."""
    return next(line.split()[0] for line in sheet.splitlines() if line[:1] == "r" and f" {label}" in line)


def test_the_model_sees_labels_and_periods_and_no_figure() -> None:
    writer = FakeWriter("none")
    assert _answer(_query("Capital spending of the beverages in 2022?", 2022), writer) is None
    (sheet,) = writer.sheets
    assert "c1 FY2022, c2 FY2021" in sheet
    assert "North America Beverages" in sheet
    for figure in ("904", "769", "665", "1,371", "41.5", "12.5"):
        assert figure not in sheet


def test_a_plan_is_computed_over_cells_that_are_cited() -> None:
    query = _query("By what percent did spending of the beverages grow in 2022?", 2022)
    seen = FakeWriter("none")
    _answer(query, seen)
    row = _id(seen.sheets[0], "North")
    answer = _answer(query, FakeWriter(f"growth({row}c1, {row}c2)"))
    assert answer is not None
    assert answer.unit == "percent"
    assert answer.value == pytest.approx(17.56, abs=0.01)
    assert [cell.text for cell in answer.operands] == ["904", "769"]
    assert answer.grounded
    assert answer.confidence == 0.9


def test_parts_of_a_whole_are_added_up() -> None:
    query = _query("What share of the spending of both was the snacks'?", 2022)
    seen = FakeWriter("none")
    _answer(query, seen)
    north, snacks = _id(seen.sheets[0], "North"), _id(seen.sheets[0], "Frito")
    answer = _answer(query, FakeWriter(f"share({snacks}c1, sum({north}c1, {snacks}c1))"))
    assert answer is not None
    assert answer.value == pytest.approx(42.4, abs=0.05)


@pytest.mark.parametrize("text", ["r99c1", "revenue of 2022", "growth(r1c1", "ratio(r1c1, 0)"])
def test_a_plan_that_means_nothing_is_no_answer_and_the_trace_says_why(text: str) -> None:
    journal = Journal()
    assert _answer(_query("Capital spending in 2022?", 2022), FakeWriter(text), journal) is None
    assert "no figure from the plan" in journal.lines[-1]


def test_a_cell_of_another_period_than_the_one_asked_for_is_no_answer() -> None:
    query, seen, journal = _query("Spending of the beverages in 2020?", 2020), FakeWriter("none"), Journal()
    _answer(query, seen)
    row = _id(seen.sheets[0], "North")
    assert _answer(query, FakeWriter(f"{row}c1"), journal) is None
    assert "is of a period that the question names" in journal.lines[-1]


def test_the_next_plan_is_tried() -> None:
    query = _query("Spending of the beverages in 2022?", 2022)
    seen = FakeWriter("none")
    _answer(query, seen)
    answer = _answer(query, FakeWriter("r99c1", f"{_id(seen.sheets[0], 'North')}c1"))
    assert answer is not None
    assert answer.value == 904e6


def test_an_unlikely_plan_is_no_answer() -> None:
    assert _answer(_query("Spending in 2022?", 2022), FakeWriter("r1c1", probability=0.3)) is None


def test_a_model_that_fails_leaves_the_answer_to_the_rules_and_the_trace_says_so() -> None:
    class Gone(FakeWriter):
        def write(self, sheet: str, grammar: str) -> Sequence[WrittenPlan]:
            raise ModelUnavailableError("the server at plan_writer.base_url wrote no plan")

    journal = Journal()
    assert _answer(_query("Spending in 2022?", 2022), Gone(), journal) is None
    assert "wrote no plan" in " ".join(journal.lines)
    assert journal.unusable == {"plan": 1}
