"""Precision, recall, F1 and relevancy of retrieved passages: by rules, and as a model judges them."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.core.passages import Passage
from finray.core.questions import GoldEvidence, Question
from finray.lab.evaluation.context import ContextScores, context_quality, harmonic_mean, rule_scores
from finray.lab.evaluation.judging.context_judge import cut_evenly, judge_context
from tests.scripted_chat import ScriptedChatModel

QUESTION = Question(
    "q",
    "What was the CET1 ratio of JPMorgan in 2008?",
    answer="7.0 percent",
    evidence=(GoldEvidence("jpm", 3, "CET1", (9,)), GoldEvidence("jpm", 5)),
)


def passage(page: int, text: str = "", doc_name: str = "jpm") -> Passage:
    return Passage(doc_name, f"id-{doc_name}", page, 0, len(text), text, 1.0)


@pytest.mark.parametrize(
    ("precision", "recall", "f1"),
    [(0.79, 0.61, 0.69), (0.76, 0.62, 0.68), (0.72, 0.65, 0.68), (0.37, 0.24, 0.29), (0.69, 0.11, 0.19)],
)
def test_f1_is_that_of_the_means_as_in_table_1(precision: float, recall: float, f1: float) -> None:
    assert harmonic_mean(precision, recall) == pytest.approx(f1, abs=0.005)


def test_by_rules_a_passage_is_relevant_on_a_gold_page() -> None:
    scores = rule_scores(QUESTION, [passage(3), passage(9), passage(4), passage(3, doc_name="other")])
    assert scores.precision == 0.5 and scores.recall == 0.5


def test_by_rules_relevancy_is_the_share_of_the_questions_words_and_figures() -> None:
    everything = passage(3, "JPMorgan's CET1 ratios in 2008")
    half = passage(4, "The ratio was 2008")
    found = rule_scores(QUESTION, [everything, half])
    assert found.relevancy is not None and 0.6 < found.relevancy < 1
    assert rule_scores(QUESTION, [everything]).relevancy == 1.0


def test_without_gold_pages_only_relevancy_is_known() -> None:
    scores = rule_scores(Question("q", "What is EBITDA?"), [passage(0, "EBITDA")])
    assert (scores.precision, scores.recall, scores.relevancy) == (None, None, 1.0)
    assert rule_scores(QUESTION, []) == ContextScores(0.0, 0.0, 0.0)


def test_means_leave_out_what_is_unknown() -> None:
    quality = context_quality([ContextScores(1.0, 0.5, 0.0), ContextScores(None, None, 1.0)])
    assert (quality.precision.n, quality.relevancy.n) == (1, 2)
    assert quality.f1 == pytest.approx(2 / 3)
    assert context_quality([]).f1 is None


RELEVANCE = {"relevant": [1], "relevancy": 2}
SUPPORT = {"statements": ["The CET1 ratio was 7.0 percent.", "It was that of 2008."], "supported": [2]}
Reply = str | dict[str, object]


def judged(
    relevance: Reply = RELEVANCE, support: Reply = SUPPORT, question: Question = QUESTION
) -> tuple[ContextScores | None, ScriptedChatModel]:
    model = ScriptedChatModel(lambda messages: support if "`supported`" in messages[0].content else relevance)
    scores, usage = asyncio.run(judge_context(model, question, [passage(3, "CET1 was 7.0%"), passage(4, "Nothing")]))
    assert usage.prompt_tokens > 0
    return scores, model


def test_a_model_judges_passages_and_the_whole_without_the_reference_and_statements_with_it() -> None:
    scores, model = judged()
    assert scores == ContextScores(0.5, 0.5, 1.0)
    relevance, support = (call[1].content for call in model.calls)
    assert "CET1 was 7.0%" in relevance and "7.0 percent" not in relevance
    assert "CET1 was 7.0%" in support and "7.0 percent" in support


def test_without_a_gold_answer_there_is_no_recall() -> None:
    scores, model = judged(question=Question("q", "What was the CET1 ratio?"))
    assert scores == ContextScores(0.5, None, 1.0) and len(model.calls) == 1


def test_sections_are_read_too() -> None:
    support = "## statements\n- The ratio was 7.0 percent.\n- It was that of 2008.\n## supported\nnone"
    scores, _ = judged("## relevant\n1, 2\n## relevancy\n1", support)
    assert scores == ContextScores(1.0, 0.0, 0.5)


@pytest.mark.parametrize(
    ("relevance", "support", "calls"),
    [
        ("I cannot judge this.", SUPPORT, 2),
        ({"relevant": [1], "relevancy": 3}, SUPPORT, 2),
        ({"relevant": [1], "relevancy": True}, SUPPORT, 2),
        ({"relevant": "all", "relevancy": 1}, SUPPORT, 2),
        (RELEVANCE, {"statements": [], "supported": []}, 3),
        (RELEVANCE, {"statements": 2, "supported": [1]}, 3),
        (RELEVANCE, {"statements": ["One."], "supported": 1}, 3),
    ],
)
def test_an_unusable_reply_is_asked_for_again_and_then_no_score(relevance: Reply, support: Reply, calls: int) -> None:
    scores, model = judged(relevance, support)
    assert scores is None and len(model.calls) == calls


@given(st.lists(st.integers(0, 50), max_size=8), st.integers(0, 100))
def test_long_passages_are_cut_to_what_short_ones_leave(lengths: list[int], characters: int) -> None:
    cut = [len(text) for text in cut_evenly(["x" * length for length in lengths], characters)]
    assert sum(cut) <= characters
    assert cut == lengths or sum(cut) > characters - len(lengths)
    assert cut_evenly(["ab", "c" * 9, "d" * 9], 12) == ["ab", "c" * 5, "d" * 5]


def test_fifteen_long_passages_fit_a_context_of_16_000_tokens() -> None:
    model = ScriptedChatModel(lambda messages: SUPPORT if "`supported`" in messages[0].content else RELEVANCE)
    asyncio.run(judge_context(model, QUESTION, [passage(page, "9" * 10_000) for page in range(15)]))
    assert all(len(call[1].content) < 3 * 13_000 for call in model.calls)


def test_no_passages_are_not_judged() -> None:
    scores, usage = asyncio.run(judge_context(ScriptedChatModel(lambda _: ""), QUESTION, []))
    assert scores == ContextScores(0.0, 0.0, 0.0) and usage.prompt_tokens == 0
