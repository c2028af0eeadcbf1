"""What `finray evaluate` reports, on a handful of predictions scored by hand."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import pytest
from rich.console import Console

from finray.core.passages import Passage, PassageRef
from finray.core.predictions import Prediction, Status, TokenUsage
from finray.core.questions import GoldEvidence, Question
from finray.lab.evaluation.evaluate import compare, evaluate
from finray.lab.evaluation.report import as_data, report

GOLD = (GoldEvidence("A", 1, "Revenue was 5"),)


def question(qid: str, answer: str | None = "5", kind: str | None = "numeric", gold: bool = True) -> Question:
    return Question(qid, f"{qid}?", answer, kind, GOLD if gold else ())


def prediction(
    qid: str,
    answer: str = "5",
    status: Status = "answered",
    *,
    doc: str = "A",
    page: int = 1,
    seconds: float = 1.0,
) -> Prediction:
    found = (Passage(doc, doc, page, 0, 13, "Revenue was 5", 1.0),)
    return Prediction(
        qid, f"{qid}?", answer, status, passages=found, evidence=found, seconds=seconds,
        usage={"answer": TokenUsage(100, 10)}, settings_hash="h1",
    )  # fmt: skip


QUESTIONS = [
    question("right"),
    question("wrong filing"),
    question("wrong page"),
    question("wrong answer"),
    question("refused"),
    question("textual", "It rose.", "textual"),
    question("failed"),
    question("no evidence", gold=False),
    question("unanswerable", None, "unanswerable", gold=False),
    question("invented", None, "unanswerable", gold=False),
]
PREDICTIONS = [
    prediction("right"),
    prediction("wrong filing", "7", doc="B"),
    prediction("wrong page", "7", page=2),
    prediction("wrong answer", "7"),
    prediction("refused", "not in the index", "unanswerable"),
    prediction("textual", "It grew."),
    replace(prediction("failed", "", "error", seconds=99.0), passages=(), evidence=(), usage={}),
    prediction("no evidence"),
    prediction("unanswerable", "no such company", "unanswerable"),
    prediction("invented", "5", seconds=3.0),
]


def test_means_leave_out_what_does_not_apply() -> None:
    evaluation = evaluate(PREDICTIONS, QUESTIONS)
    expected = {
        "document_recall@1": (5 / 7, 7),
        "page_recall@5": (4 / 7, 7),
        "evidence_page_precision": (4 / 7, 7),
        "rouge_l@5": (6 / 7, 7),
        "numeric_accuracy": (2 / 7, 7),
        "numeric_match": (2 / 7, 7),
        "answerable_refused": (1 / 8, 8),
        "unanswerable_refused": (1 / 2, 2),
    }
    assert evaluation.questions == 10
    for name, (value, n) in expected.items():
        assert evaluation.metrics[name].value == pytest.approx(value), name
        assert evaluation.metrics[name].n == n, name
    assert "textual_accuracy" not in evaluation.metrics
    for estimate in evaluation.metrics.values():
        assert estimate.low is not None
        assert estimate.high is not None
        assert estimate.low <= (estimate.value or 0) <= estimate.high


def test_counts_and_the_first_stage_that_failed() -> None:
    evaluation = evaluate(PREDICTIONS, QUESTIONS)
    assert evaluation.statuses == {"answered": 7, "unanswerable": 2, "error": 1}
    assert evaluation.outcomes == {
        "right": 1,
        "wrong filing": 1,
        "wrong page": 1,
        "refused": 1,
        "wrong answer": 1,
        "not judged": 1,
        "failed": 1,
    }
    assert (evaluation.latency.p50, evaluation.latency.n) == (1.0, 9)
    assert evaluation.usage == {"answer": TokenUsage(900, 90)}
    assert evaluation.settings_hashes == {"h1": 10}
    assert evaluation.by_question_type["textual"]["page_recall@1"].value == 1.0
    assert "numeric_accuracy" not in evaluation.by_question_type["textual"]
    assert evaluation.remarks == (
        "1 textual answers were not judged by a model, only by rules; `finray judge` asks one",
    )
    assert (evaluation.judge, evaluation.not_judged) == (None, 1)


def test_a_judge_decides_on_text_only() -> None:
    asked: list[str] = []

    def judge(question: Question, prediction: Prediction) -> bool:
        asked.append(question.qid)
        return "grew" in prediction.answer

    evaluation = evaluate(PREDICTIONS, QUESTIONS, judge=judge, judged_by="judge x")
    assert asked == ["textual"]
    assert (evaluation.judge, evaluation.not_judged) == ("judge x", 0)
    assert evaluation.metrics["textual_accuracy"].value == 1.0
    assert evaluation.outcomes["right"] == 2
    assert evaluation.remarks == ()


def test_rules_and_a_judge_are_two_figures() -> None:
    asked = [question("a", "It rose.", "t"), question("b", "It rose.", "t"), question("c", "It rose.", "t")]
    given = [prediction("a", "It fell."), prediction("b", "It rose."), prediction("c", "None", "unanswerable")]
    alone = evaluate(given, asked).metrics
    assert "textual_accuracy" not in alone
    assert alone["textual_rule_accuracy"].value == pytest.approx(1 / 3)
    assert alone["textual_rule_accuracy"].n == 3
    both = evaluate(given, asked, judge=lambda q, _: True if q.qid == "a" else None, judged_by="judge x")
    assert both.metrics["textual_rule_accuracy"] == alone["textual_rule_accuracy"]
    assert (both.metrics["textual_accuracy"].value, both.metrics["textual_accuracy"].n) == (0.5, 2)  # c was refused
    assert both.not_judged == 1
    assert "1 textual answers were not judged by the judge x" in both.remarks[-1]
    console = Console(width=160, record=True, file=io.StringIO())
    console.print(report({"run": both}))
    assert "judge x, 1 not judged" in console.export_text()


def test_what_does_not_belong_together_is_remarked() -> None:
    bad_line = Prediction("line-3", "junk", "", "error", error="line 3: not JSON", line=3)
    strangers = [prediction(f"s{n}") for n in range(5)]
    reworded = replace(prediction("refused"), question="another?", settings_hash="h2")
    evaluation = evaluate([prediction("right"), reworded, bad_line, *strangers], QUESTIONS, remarks=["torn"])
    assert evaluation.questions == 2
    assert evaluation.remarks == (
        "torn",
        "8 questions have no prediction and are left out: wrong filing, wrong page, wrong answer, …",
        "5 predictions belong to no question: s0, s1, s2, …",
        "1 lines of the question file could not be asked and are left out",
        "1 predictions answer another wording: refused",
        "the predictions were made under several settings",
    )


def test_paired_differences_use_shared_questions() -> None:
    better = [p if p.qid != "wrong answer" else prediction("wrong answer", "5") for p in PREDICTIONS[:6]]
    differences = compare(evaluate(better, QUESTIONS), evaluate(PREDICTIONS, QUESTIONS))
    assert differences["numeric_accuracy"].value == pytest.approx(1 / 5)
    assert differences["numeric_accuracy"].n == 5
    assert differences["page_recall@1"].value == 0.0


@pytest.mark.parametrize("predictions", [PREDICTIONS, PREDICTIONS[-1:], []])
def test_reports_never_show_nan(predictions: list[Prediction]) -> None:
    evaluation = evaluate(predictions, QUESTIONS)
    text = json.dumps(as_data(evaluation), allow_nan=False)
    assert json.loads(text)["questions"] == len(predictions)
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(report({"run": evaluation}))
    console.print(report({"run": evaluation, "oracle page": evaluate(PREDICTIONS, QUESTIONS)}))
    assert "nan" not in console.export_text().lower().replace("unanswerable", "")


def test_the_table_shows_value_interval_and_n() -> None:
    console = Console(width=160, record=True, file=io.StringIO())
    console.print(report({"run": evaluate(PREDICTIONS, QUESTIONS), "[red]x": evaluate(PREDICTIONS, QUESTIONS)}))
    text = console.export_text()
    assert "page_recall@5" in text
    assert ".571 [" in text
    assert "n 7" in text
    assert "[red]x" in text
    assert "run minus the other" in text
    assert "outcome: wrong filing" in text


def test_evidence_without_a_page_counts_for_filings_only() -> None:
    asked = [
        Question("a", "a?", "5", "numeric", (GoldEvidence("A"),)),
        Question("b", "b?", "5", "numeric", (GoldEvidence("A", 1), GoldEvidence("B"))),
    ]
    evaluation = evaluate([prediction("a", "7"), prediction("b")], asked)
    recalls = [evaluation.metrics[name] for name in ("document_recall@1", "page_recall@1", "evidence_page_recall")]
    assert [(row.value, row.n) for row in recalls] == [(0.75, 2), (1.0, 1), (1.0, 1)]
    assert evaluation.outcomes == {"right": 1, "wrong answer": 1}


def test_the_final_context_is_scored_as_the_answerer_got_it() -> None:
    places = (PassageRef("A", "A", 1, 0, 13), PassageRef("A", "A", 1, 13, 20), PassageRef("A", "A", 7, 0, 9))
    given = replace(prediction("right"), context=places)
    nothing_left = replace(prediction("refused", "none", "unanswerable"), rounds=((),))
    scores = evaluate([given, nothing_left], QUESTIONS).metrics
    shown = [scores[f"context_{name}"].value for name in ("passages", "page_recall", "page_precision")]
    assert shown == [1.5, 0.5, 0.25]


def test_a_run_without_recorded_contexts_has_no_such_metrics() -> None:
    assert not any(name.startswith("context_") for name in evaluate([prediction("right")], QUESTIONS).metrics)
