"""What the trained reader adds to the rules."""

from __future__ import annotations

import pytest

from finray.core.journal import Journal
from finray.core.query import Query
from finray.models.question_model import question_model
from finray.question.companies.catalog import CompanyCatalog
from finray.question.measures.measure_tagger import MeasureTagger
from finray.question.measures.metric_recognizer import MetricRecognizer
from finray.question.measures.named import tagged_measures
from finray.question.rule_reader import RuleReader
from finray.question.trained_reader import TrainedReader
from tests.question.companies.test_catalog import filing


@pytest.fixture(scope="module")
def reader() -> TrainedReader:
    rules = RuleReader(CompanyCatalog([filing(1, "Torvane Inc", cik="7")]))
    return TrainedReader(rules, MeasureTagger(question_model()), MetricRecognizer(question_model()))


async def _read(reader: TrainedReader, question: str) -> Query:
    return await reader.read(question, Journal())


async def test_the_row_is_found_without_its_instructions(reader: TrainedReader) -> None:
    query = await _read(
        reader, "Looking at Torvane: what did the store opening costs come to in fiscal 2024? Keep it short."
    )
    assert any(p.text == "store opening costs" for measures in query.measures for p in measures.phrases.values())


async def test_a_product_in_question_is_not_the_whole_company(reader: TrainedReader) -> None:
    query = await _read(reader, "What net revenue did the Glimmerwand brand bring in for Torvane in FY2021?")
    assert not any(formula.expression == "revenue" for m in query.measures for formula in m.formulas)


async def test_words_are_no_figure(reader: TrainedReader) -> None:
    query = await _read(reader, "Why did Torvane close its plant in FY2021?")
    assert query.measures == ()


@pytest.mark.parametrize(
    "question",
    [
        "As the auditor who takes over this engagement, I am tying out figures. What was Torvane's goodwill in FY2021?",
        "Which amount of rent does Torvane report for FY2021?",
    ],
)
async def test_a_question_for_a_figure_does_not_ask_for_words(reader: TrainedReader, question: str) -> None:
    query = await _read(reader, question)
    assert "words" not in query.intents
    assert query.measures != ()


async def test_another_operation_than_the_rules_read_adds_nothing(reader: TrainedReader) -> None:
    query = await _read(reader, "How did Torvane's pension cost grow from FY2020 to FY2021?")
    assert tagged_measures(query, [["pension cost"], ["plan assets"]], "value") == ()


async def test_other_words_for_a_metric_are_read_as_its_name(reader: TrainedReader) -> None:
    query = await _read(reader, "How much did Torvane still owe its suppliers at the end of fiscal 2022?")
    assert query.metrics == ("accounts_payable",)
    assert "owe its suppliers" in query.own_words


async def test_a_question_with_the_usual_name_is_read_as_it_is(reader: TrainedReader) -> None:
    query = await _read(reader, "What were Torvane's total current assets in FY2021?")
    assert query.metrics == ("current_assets",)
    assert query.own_words == ""


async def test_a_name_that_the_index_lacks_is_kept(reader: TrainedReader) -> None:
    query = await _read(reader, "How much did UPS spend on acquisitions for fiscal year 2022?")
    assert query.unknown_companies == ("UPS",)
