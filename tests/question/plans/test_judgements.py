"""Which questions ask for a judgement, and what they claim. No wording here is one of the data's own examples."""

from __future__ import annotations

import asyncio

import pytest

from finray.core.filing import Filing
from finray.core.journal import Journal
from finray.core.settings import EncoderSettings
from finray.models.encoder_loading import load_encoder
from finray.models.hash_encoder import HashEncoder
from finray.models.token_states import MiniLmSentences
from finray.question.companies.catalog import CompanyCatalog
from finray.question.measures.formulas import line_items
from finray.question.plans.judgement_criteria import criteria
from finray.question.plans.judgements import Judgement, Prototypes, judgement_of
from finray.question.rule_reader import RuleReader

TORVANE = Filing("1", "torvane", "torvane.htm", "0" * 64, "Torvane Corp", "10-K", fiscal_year=2023, fiscal_period="FY")
PROTOTYPES = Prototypes(HashEncoder(256))


def _judgement(question: str) -> Judgement | None:
    reader = RuleReader(CompanyCatalog([TORVANE]))
    return judgement_of(asyncio.run(reader.read(question, Journal(None))), PROTOTYPES)


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("Would you class Torvane as a capital-intensive firm in 2023?", "capital_intensity"),
        ("Was Torvane's liquidity sound at the end of 2023?", "liquidity"),
        ("Is Torvane overleveraged as of fiscal 2023?", "leverage"),
        ("Could Torvane service its debt comfortably in 2023?", "interest_coverage"),
        ("Did Torvane turn a profit in 2023, or was it loss-making?", "profitability"),
        ("Is Torvane's quick ratio healthy for fiscal 2023?", "liquidity"),
    ],
)
def test_the_subject_of_a_judgement(question: str, topic: str) -> None:
    judgement = _judgement(question)
    assert judgement is not None
    assert judgement.topic is not None
    assert judgement.topic.name == topic
    assert judgement.static


@pytest.mark.parametrize(
    ("question", "names", "claim"),
    [
        ("Did Torvane's gross margin get better or worse in 2023?", ["gross margin"], 0),
        ("Has Torvane's operating margin deteriorated between 2022 and 2023?", ["operating margin"], -1),
        ("Was Torvane's return on equity stronger in 2023 than in 2022?", ["return on equity"], 1),
    ],
)
def test_a_named_metric_is_compared_with_the_period_before(question: str, names: list[str], claim: int) -> None:
    judgement = _judgement(question)
    assert judgement is not None
    assert [ratio.formula.names[0] for ratio in judgement.ratios] == names
    assert (judgement.trend, judgement.static, judgement.claim) == (True, False, claim)


@pytest.mark.parametrize(
    ("question", "expression"),
    [
        (
            "Did Torvane's operating cash flow pay for its capex and dividends in 2023?",
            "(operating_cash_flow) / (capex + dividends_paid)",
        ),
        ("Was Torvane's dividend covered in 2023?", "(operating_cash_flow - capex) / (dividends_paid)"),
        (
            "Could Torvane meet its current liabilities from current assets at the end of 2023?",
            "(current_assets) / (current_liabilities)",
        ),
    ],
)
def test_what_pays_for_what(question: str, expression: str) -> None:
    judgement = _judgement(question)
    assert judgement is not None
    assert judgement.ratios[0].formula.expression == expression


def test_a_bound_in_the_question_is_the_criterion() -> None:
    judgement = _judgement("Was Torvane's current ratio below 1.2 at the end of 2023?")
    assert judgement is not None
    assert (judgement.ratios[0].yes, judgement.claim) == (1.2, -1)


@pytest.mark.parametrize(
    "question",
    [
        "What was Torvane's current ratio in 2023?",
        "Did the profitability of Torvane's Valves division improve in 2023?",
        "Did Torvane's adjusted operating margin improve in 2023?",
        "Did Torvane's sales of compressors grow in 2023?",
        "Is Torvane's compressor business profitable?",
        "Was there growth in Torvane's catalog sales in 2023?",
        "Was Torvane within its leverage covenant in 2023?",
        "Why did Torvane's gross margin fall in 2023?",
        "Did Torvane acquire a company in 2023?",
    ],
)
def test_no_judgement_that_the_statements_cannot_decide(question: str) -> None:
    assert _judgement(question) is None


def test_every_ratio_of_the_data_is_computable_and_every_criterion_is_explained() -> None:
    for topic in criteria().topics:
        assert topic.ratios, topic.name
        for ratio in topic.ratios:
            items = line_items(ratio.formula)
            assert items
            assert (ratio.yes is None) == (ratio.no is None) == (not ratio.says), (topic.name, ratio)
        assert topic.compares or any(ratio.yes is not None for ratio in topic.ratios), topic.name


def test_sentences_are_compared_as_the_thresholds_were_fitted() -> None:
    """By MiniLM's vectors, to the digits that bf16 keeps."""
    texts = ["Has Torvane taken on more borrowings in 2023?", "Who audits Torvane?"]
    expected = load_encoder(EncoderSettings(model="minilm")).encode_passages(texts)
    assert (MiniLmSentences().encode_passages(texts) * expected).sum(axis=1) == pytest.approx([1.0, 1.0], abs=0.001)


def test_a_judgement_in_other_words_is_near_its_topic() -> None:
    reader = RuleReader(CompanyCatalog([TORVANE]))
    query = asyncio.run(reader.read("Has Torvane taken on more borrowings in 2023?", Journal(None)))
    judgement = judgement_of(query, Prototypes(MiniLmSentences()))
    assert judgement is not None
    assert judgement.topic is not None
    assert judgement.topic.name == "leverage"
