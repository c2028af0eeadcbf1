"""Refusals name what the index lacks and what is nearest, without a model call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from finray.answering.confidence import SIGNALS, ConfidenceModel, load_confidence_model
from finray.answering.guard import GuardedAnswerer
from finray.answering.table_reader.table_answerer import TableAnswerer, TableReading
from finray.core.journal import Journal
from finray.core.period import Period
from finray.core.predictions import Answer, CitedCell, Prediction
from finray.core.query import Query
from finray.core.roles import Curation
from finray.engine import Engine
from finray.index.reading.facts import FilingFacts
from finray.index.reading.reader import IndexReader
from finray.question.companies.catalog import CompanyCatalog
from tests.answering.made_up_cells import FILING, facts, passage
from tests.answering.table_reader.scores import FakeRowReader
from tests.answering.table_reader.test_table_answerer import MODEL

Ask = Callable[[str], Prediction]


def test_a_company_that_is_not_there_is_named_with_those_that_are(ask: Ask) -> None:
    prediction = ask("What was Grevandale Cyztem's revenue in fiscal 2022?")
    assert prediction.status == "unanswerable"
    assert prediction.missing == ("filings of Grevandale Cyztem",)
    assert any("Grevandor Systems" in each for each in prediction.nearest)
    assert "Nearest: " in prediction.answer


def test_a_misspelled_company_is_answered_for(ask: Ask) -> None:
    assert ask("What was Grevandor Sytsems' revenue in fiscal 2022?").value == 1_408_729_000


@pytest.mark.parametrize(
    "question",
    [
        "Which geographies does the business that Waste Holdings operates in cover as of 2022?",
        "As of May 26, 2022, what is the total amount Lennar may borrow under its credit agreement?",
    ],
)
def test_a_name_counts_anywhere_in_the_question(ask: Ask, question: str) -> None:
    prediction = ask(question)
    assert prediction.status == "unanswerable"
    assert prediction.value is None


def test_a_missing_year_is_refused_with_the_nearest_filings(ask: Ask) -> None:
    prediction = ask("What was Grevandor Systems' revenue in fiscal 2035?")
    assert prediction.status == "unanswerable"
    assert "2035" in prediction.missing[0]
    assert "for FY 2023" in prediction.nearest[0]


def test_a_subject_in_the_filings_is_quoted_without_a_figure(ask: Ask) -> None:
    prediction = ask("How does Grevandor Systems describe the way it competes in its markets in fiscal 2022?")
    assert prediction.status == "answered"
    assert prediction.value is None
    assert prediction.evidence
    assert "“" in prediction.answer


class _Never:
    async def answer(self, query: Query, curation: Curation, journal: Journal) -> Answer:
        raise AssertionError("asked about what is not there")


async def test_no_model_is_asked_about_what_is_not_there(reader: IndexReader, engine: Engine) -> None:
    guarded = GuardedAnswerer(_Never(), FilingFacts(reader, CompanyCatalog(reader.filings())))
    stranger = Query("q", "What was Acme's revenue?", unknown_companies=("Acme",))
    answer = await guarded.answer(stranger, Curation((), False), Journal())
    assert (answer.status, answer.missing) == ("unanswerable", ("filings of Acme",))
    company = next(iter(CompanyCatalog(reader.filings()).companies))
    future = replace(stranger, unknown_companies=(), companies=(company,), periods=(Period(2040, "FY"),))
    assert (await guarded.answer(future, Curation((), False), Journal())).status == "unanswerable"


class _Fixed:
    """Answers from cells as read, or with a quotation."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer

    async def answer(self, query: Query, curation: Curation, journal: Journal) -> Answer:
        return self._answer


@pytest.mark.parametrize(
    ("least", "computed", "status"), [(1.0, True, "unanswerable"), (0.0, True, "answered"), (1.0, False, "answered")]
)
async def test_an_unsure_computed_figure_is_refused_with_its_cells(
    reader: IndexReader, least: float, computed: bool, status: str
) -> None:
    filing = reader.filings()[0]
    cell = CitedCell("rent", 7.0, filing.doc_name, filing.filing_id, 2, "Rent expense", "7")
    given = Answer("$7", "answered", 7.0, "USD", operands=(cell,) if computed else ())
    known = FilingFacts(reader, CompanyCatalog(reader.filings()))
    guarded = GuardedAnswerer(_Fixed(given), known, load_confidence_model(""), least)
    query = Query("q", "What was rent?", anywhere=True)
    answer = await guarded.answer(query, Curation((), True), Journal())
    assert answer.status == status
    if status == "unanswerable":
        assert answer.value is None
        assert f"Rent expense: 7 ({filing.doc_name}, p. 3)" in answer.text


def _planned(value: float, label: str) -> Answer:
    cell = CitedCell("spending", value, FILING.doc_name, FILING.filing_id, 3, label, f"{value / 1e6:.0f}")
    return Answer(f"${value / 1e6:.0f} million", "answered", value, "USD", operands=(cell,))


@pytest.mark.parametrize(
    ("planned", "threshold", "expected"),
    [
        (_planned(904e6, "North America Beverages"), 0.4, 904e6),  # the reading agrees
        (_planned(665e6, "Frito Snacks"), 0.4, 904e6),  # it does not, and is sure enough to answer itself
        (_planned(665e6, "Frito Snacks"), 0.6, None),  # it does not, and nothing is sure enough
    ],
)
async def test_the_reading_of_the_tables_has_a_say_in_the_figure_of_a_plan(
    planned: Answer, threshold: float, expected: float | None
) -> None:
    signs = {"agreed": 2.0, "other": -10.0}
    confidence = ConfidenceModel(np.asarray([signs.get(name, 0.0) for name in SIGNALS]))
    tables = TableAnswerer(facts(), FakeRowReader("value", "North"), replace(MODEL, threshold=threshold))
    guarded = GuardedAnswerer(_Fixed(planned), facts(), confidence, 0.5, tables=tables)
    text = "What was spent on Beverages in 2022?"
    query = Query(text, text, ("acme",), periods=(Period(2022, "FY"),), names=("Acme",))
    journal = Journal()
    answer = await guarded.answer(query, Curation((passage(3), passage(5)), True), journal)
    assert answer.value == expected
    assert ("less than 0.5" in "".join(journal.lines)) == (expected != planned.value)
    if expected is None:
        assert "Frito Snacks: 665" in answer.text


class _Unread(TableAnswerer):
    def read(self, query: Query, curation: Curation, journal: Journal) -> TableReading | None:
        raise AssertionError("read beside a tagged figure")


async def test_no_opinion_is_wanted_on_tagged_figures() -> None:
    planned = _planned(904e6, "North America Beverages")
    tagged = replace(planned, operands=tuple(replace(cell, concept="us-gaap:Capital") for cell in planned.operands))
    text = "What was spent on Beverages in 2022?"
    query = Query(text, text, ("acme",), periods=(Period(2022, "FY"),), names=("Acme",))
    guarded = GuardedAnswerer(_Fixed(tagged), facts(), load_confidence_model(""), 0.0, tables=_Unread(facts()))
    answer = await guarded.answer(query, Curation((passage(3),), True), Journal())
    assert answer.value == 904e6
