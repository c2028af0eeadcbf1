"""The whole local preset over a sample: every role at once, on questions with known answers and on wild text."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from finray.core.errors import IndexMismatchError, IndexMissingError, SettingsError
from finray.core.passages import Passage
from finray.core.predictions import Prediction
from finray.core.questions import GoldEvidence, Question
from finray.core.settings import Settings, load_settings
from finray.engine import open_engine
from finray.models.openai_http import OpenAIChatModel
from tests.weightless import WEIGHTLESS

Ask = Callable[[str], Prediction]

PIECES = [
    "Caldavale Outfitters", "CLDVC", "Grevandor Systems", "Zorblax Inc.", "net income", "revenue", "FY2022", "Q2 2023",
    "FY0", "FY9999", "2021-99-99", "last 99 years", "average", "growth", "between", "highest", "versus", "%", "10-K",
    "8-K dated January 11, 2021", "is defined as", "((((", ")", "/", "---", "* 5", "ıncome", "net ſales", "why", "Did",
    "\N{GRINNING FACE}", "\x00", "\ud83d", "AND", "NOT", "~", "^", '"', "'s", "?", ".",
]  # fmt: skip
WILD = st.one_of(
    st.text(max_size=200),
    st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=8)), max_size=25).map(" ".join),
)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(question=WILD)
@example(question="What were the net ſales of CLDVC in FY2022?")
@example(question="CLDVC's revenue is defined as " + "-" * 3000 + "revenue")
@example(question="CLDVC's margin in FY2022, where margin is defined as " + " + ".join(["revenue"] * 390))
@example(question="(" * 500)
@example(question="\udcff")
def test_no_text_breaks_an_engine(ask: Ask, question: str) -> None:
    prediction = ask(question)
    assert prediction.status in ("answered", "unanswerable", "error")
    assert (prediction.error is None) == (prediction.status != "error")


@pytest.mark.parametrize(
    ("question", "reason"),
    [("", "blank"), ("  \n", "blank"), ("\udcff", "surrogate"), ("a\x00b", "control character"), ("a" * 9000, "8,000")],
)
def test_a_question_that_is_no_text_is_an_error_with_a_reason(ask: Ask, question: str, reason: str) -> None:
    prediction = ask(question)
    assert prediction.status == "error"
    assert prediction.error is not None
    assert reason in prediction.error


@pytest.mark.parametrize(
    "kind", ["numeric_table", "percent_difference", "revenue_growth", "highest_of", "dividends_total", "restated"]
)
def test_computed_answers_are_right_and_cite_the_pages_that_print_the_operands(
    ask: Ask, sample_questions: list[dict[str, Any]], kind: str
) -> None:
    asked = [line for line in sample_questions if line["question_type"] == kind]
    assert len(asked) >= 15
    for line in asked:
        prediction = ask(line["question"])
        assert prediction.status == "answered", line["question"]
        assert prediction.value == pytest.approx(line["value"], rel=1e-6, abs=1e-6), line["question"]
        assert prediction.unit == line["unit"]
        assert prediction.program
        assert prediction.evidence
        gold = {(entry["doc_name"], entry["page"]) for entry in line["evidence"]}
        if kind in ("numeric_table", "restated"):
            assert {(p.doc_name, p.page) for p in prediction.evidence} == gold


def test_what_is_not_in_the_index_is_refused(ask: Ask, sample_questions: list[dict[str, Any]]) -> None:
    asked = [line for line in sample_questions if line["question_type"] == "unanswerable"]
    for line in asked:
        if line["reason"] not in ("company", "year"):
            continue
        prediction = ask(line["question"])
        assert prediction.status == "unanswerable", line["question"]
        assert prediction.value is None
        assert line["absent"] in " ".join(prediction.missing), (line["question"], prediction.missing)


def test_an_answer_carries_its_documents_passages_and_settings(ask: Ask, local_settings: Settings) -> None:
    prediction = ask("What was Caldavale Outfitters' net income in fiscal 2022?")
    assert prediction.documents[0].doc_name == "caldavale-outfitters-2022-10k"
    assert prediction.documents[0].reasons
    assert len(prediction.passages) == local_settings.retrieval.k_passages
    assert prediction.settings_hash == local_settings.answer_hash()
    assert prediction.seconds > 0
    assert prediction.trace


@pytest.mark.slow
def test_what_a_question_read_is_freed_without_the_garbage_collector(
    ask: Ask, sample_index: str, sample_questions: list[dict[str, Any]]
) -> None:
    """Engines look for cycles seldom (``finray.core.garbage``); a filing has megabytes."""
    few = {**WEIGHTLESS, "index.cache_bytes": 1}  # each filing pushes the last one out
    forgetful = open_engine(sample_index, load_settings(overrides=few, environment={}))
    asked = [Question(line["qid"], line["question"]) for line in sample_questions[::40]]

    async def answer(questions: Sequence[Question]) -> int:
        for question in questions:
            await forgetful.answer(question)
        return gc.collect()

    asyncio.run(answer(asked))  # what is loaded with the first questions
    gc.collect()
    gc.disable()
    try:
        unreachable = asyncio.run(answer(asked))
    finally:
        gc.enable()
    assert unreachable < 100  # a filing has thousands of cells


async def test_oracles_retrieve_gold_alone(sample_index: str) -> None:
    gold = (GoldEvidence("grevandor-systems-2021-10k", 6),)
    question = Question("q", "What was the net income of Grevandor Systems in fiscal 2021?", evidence=gold)

    async def passages(oracle: str) -> tuple[Passage, ...]:
        overrides = {**WEIGHTLESS, "retrieval.oracle": oracle}
        oracle_engine = open_engine(sample_index, load_settings(overrides=overrides, environment={}))
        prediction = await oracle_engine.answer(question)
        assert [d.doc_name for d in prediction.documents] == ["grevandor-systems-2021-10k"]
        return prediction.passages

    assert len({p.page for p in await passages("document")}) > 1
    assert {p.page for p in await passages("page")} == {6}


@pytest.mark.parametrize(
    "overrides",
    [
        {"retrieval.method": "dense"},
        {"retrieval.method": "bm25"},
        {
            "retrieval.method": "hirec",
            "methods.hirec.summaries": "facts",
            "document_reranker.model": "overlap",
            "passage_reranker.model": "overlap",
        },
        {"retrieval.hierarchical": False},
        {"loop.transform": "none"},
        {"loop.curate": False},
        {"loop.filter": False},
    ],
    ids=lambda overrides: ",".join(f"{name}={value}" for name, value in overrides.items()),
)
async def test_every_choice_of_components_answers(sample_index: str, overrides: dict[str, object]) -> None:
    chosen = load_settings(overrides={**WEIGHTLESS, **overrides}, environment={})
    prediction = await open_engine(sample_index, chosen).answer(
        Question("q", "What was the net income of Grevandor Systems in fiscal 2022 according to its income statement?")
    )
    assert prediction.status in ("answered", "unanswerable")
    assert prediction.documents
    assert prediction.passages
    assert prediction.settings_hash == chosen.answer_hash()


def test_reranking_needs_a_reranker(sample_index: str) -> None:
    chosen = load_settings(overrides={**WEIGHTLESS, "retrieval.method": "hirec"}, environment={})
    with pytest.raises(SettingsError, match=r"document_reranker\.model"):
        open_engine(sample_index, chosen)


def test_an_engine_needs_an_index_made_with_its_encoder(sample_index: str, tmp_path: Path) -> None:
    with pytest.raises(IndexMismatchError, match="hash"):
        open_engine(sample_index, load_settings(environment={}))
    with pytest.raises(IndexMissingError, match="nowhere"):
        open_engine(str(tmp_path / "nowhere"), load_settings(environment={}))


def test_without_a_given_model_the_settings_name_a_server(sample_index: str) -> None:
    chosen = load_settings(overrides={**WEIGHTLESS, "loop.curator": "hirec"}, environment={})
    curator: Any = open_engine(sample_index, chosen).roles.curator
    assert isinstance(curator._model, OpenAIChatModel)
