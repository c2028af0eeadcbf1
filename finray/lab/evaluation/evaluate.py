"""Scores predictions on a question file: macro means with intervals, and the stages that fail."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from finray.core.bootstrap import Estimate, estimate, paired_difference
from finray.core.predictions import Prediction, TokenUsage
from finray.core.questions import GoldEvidence, Question
from finray.lab.evaluation import metrics
from finray.lab.evaluation.calibration import Calibration, calibration, stated_confidences
from finray.lab.evaluation.judging.rule_judge import judge_by_rules

Judge = Callable[[Question, Prediction], bool | None]
"""Returns whether a textual answer is equivalent to the gold answer; None if it was not judged."""

Scores = Mapping[str, float]
"""Metric name -> score of one question, without metrics that do not apply."""

Outcome = Literal["right", "failed", "wrong filing", "wrong page", "refused", "wrong answer", "not judged"]
OUTCOMES: tuple[Outcome, ...] = (
    "right", "wrong filing", "wrong page", "refused", "wrong answer", "not judged", "failed",
)  # fmt: skip
OUTCOME_PASSAGES = 5
"""Outcomes "wrong filing" and "wrong page" look at this many leading passages."""
NO_TYPE = "(none)"


@dataclass(frozen=True, slots=True)
class Latency:
    """Seconds per question, over the questions that did not fail."""

    p50: float | None
    p95: float | None
    n: int


@dataclass(frozen=True, slots=True)
class Evaluation:
    """``scores`` keeps every question's scores by qid, for paired comparisons."""

    questions: int
    metrics: Mapping[str, Estimate]
    by_question_type: Mapping[str, Mapping[str, Estimate]]
    statuses: Mapping[str, int]
    outcomes: Mapping[Outcome, int]
    latency: Latency
    calibration: Calibration | None
    """Calibration of the stated confidences; None if no answer has one that can be compared with a gold answer."""
    usage: Mapping[str, TokenUsage]
    """LLM tokens of all questions, by stage."""
    unusable: Mapping[str, int]
    """LLM replies that could not be used, by stage."""
    settings_hashes: Mapping[str, int]
    judge: str | None
    """The judge of textual answers; None without a judge."""
    not_judged: int
    """Number of textual answers without a verdict of this judge."""
    remarks: tuple[str, ...]
    scores: Mapping[str, Scores]


def evaluate(
    predictions: Iterable[Prediction],
    questions: Iterable[Question],
    *,
    judge: Judge | None = None,
    judged_by: str = "a judge",
    remarks: Sequence[str] = (),
) -> Evaluation:
    """Score ``predictions`` on ``questions``, matched by qid.

    Retrieval metrics leave out questions without evidence, metrics of pages also those whose pages are unknown, numeric
    metrics those without a numeric gold answer; ``n`` is the number that remains. An error scores 0, and so does
    a refusal of an answerable question. Questions without prediction are left out, with a remark. Textual answers are
    scored by ``judge`` and, as a separate metric, by rules (``textual_rule_accuracy``,
    :mod:`finray.lab.evaluation.judging.rule_judge`).
    """
    by_qid = {prediction.qid: prediction for prediction in predictions}
    asked = {question.qid: question for question in questions}
    pairs = [(question, by_qid[qid]) for qid, question in asked.items() if qid in by_qid]
    scores = {question.qid: score(question, prediction, judge) for question, prediction in pairs}
    by_type: dict[str, list[Scores]] = defaultdict(list)
    for question, _ in pairs:
        by_type[question.question_type or NO_TYPE].append(scores[question.qid])
    outcomes = Counter(outcome(q, prediction, scores[q.qid]) for q, prediction in pairs if q.evidence)
    matched = [prediction for _, prediction in pairs]
    not_judged = sum(metrics.is_textual(q) and "textual_accuracy" not in scores[q.qid] for q, _ in pairs)
    return Evaluation(
        questions=len(pairs),
        metrics=estimates(scores.values()),
        by_question_type={name: estimates(by_type[name]) for name in sorted(by_type)},
        statuses=Counter(prediction.status for prediction in matched),
        outcomes={name: outcomes[name] for name in OUTCOMES if outcomes[name]},
        latency=_latency(matched),
        calibration=calibration(stated_confidences(pairs)),
        usage=_usage(matched),
        unusable=sum((Counter(prediction.unusable) for prediction in matched), Counter()),
        settings_hashes=Counter(prediction.settings_hash for prediction in matched),
        judge=None if judge is None else judged_by,
        not_judged=not_judged,
        remarks=(*remarks, *_remarks(by_qid, asked, pairs), *_judge_remarks(not_judged, judge, judged_by)),
        scores=scores,
    )


def score(question: Question, prediction: Prediction, judge: Judge | None = None) -> Scores:
    """Every metric that applies to ``question``, in the order of a report."""
    scores: dict[str, float] = {}
    if question.evidence:
        scores |= _retrieval_scores(question, prediction)
    answered = prediction.status == "answered"
    reference = metrics.numeric_reference(question)
    if reference is not None:
        scores["numeric_match"] = answered and metrics.numeric_match(prediction.answer, reference)
        accurate = answered and metrics.numeric_accuracy(question, prediction, reference)
        scores["numeric_accuracy"] = accurate
        scores["right_figure"] = accurate and prediction.value is not None
        scores["wrong_figure"] = answered and prediction.value is not None and not accurate
    elif question.answer is not None and metrics.is_textual(question):
        by_rules = answered and judge_by_rules(question.question, question.answer, prediction.answer)[0] == "correct"
        scores["textual_rule_accuracy"] = by_rules
        verdict = judge(question, prediction) if judge is not None and answered else None
        if judge is not None and (verdict is not None or not answered):
            scores["textual_accuracy"] = bool(verdict)
    refused = "unanswerable_refused" if metrics.is_unanswerable(question) else "answerable_refused"
    scores[refused] = prediction.status == "unanswerable"
    if metrics.is_unanswerable(question):
        scores["invented_figure"] = answered and prediction.value is not None
    return {name: float(value) for name, value in scores.items()}


def outcome(question: Question, prediction: Prediction, scores: Scores) -> Outcome:
    """The first stage that failed, or "right". Without evidence, retrieval is not blamed."""
    if prediction.status == "error":
        return "failed"
    accuracy = scores.get("numeric_accuracy", scores.get("textual_accuracy"))
    if accuracy == 1.0:
        return "right"
    leading = prediction.passages[:OUTCOME_PASSAGES]
    if question.evidence and metrics.document_recall(leading, question.evidence) == 0:
        return "wrong filing"
    if metrics.paged(question.evidence) and not metrics.found_pages(leading, question.evidence):
        return "wrong page"
    if prediction.status == "unanswerable":
        return "refused"
    return "not judged" if accuracy is None else "wrong answer"


def compare(first: Evaluation, second: Evaluation) -> dict[str, Estimate]:
    """Paired differences ``first - second`` for each metric, over the questions that both scored."""
    differences = {}
    for name in (name for name in first.metrics if name in second.metrics):
        shared = [q for q, s in first.scores.items() if name in s and name in second.scores.get(q, {})]
        differences[name] = paired_difference(
            [first.scores[qid][name] for qid in shared], [second.scores[qid][name] for qid in shared]
        )
    return differences


def _retrieval_scores(question: Question, prediction: Prediction) -> dict[str, float]:
    gold, scores = question.evidence, {}
    paged = metrics.paged(gold)
    overlaps = metrics.context_overlaps(prediction.passages[: max(metrics.KS)], gold)
    for k in metrics.KS:
        leading = prediction.passages[:k]
        scores[f"document_recall@{k}"] = metrics.document_recall(leading, gold)
        if paged:
            scores[f"page_recall@{k}"] = metrics.page_recall(leading, paged)
            scores[f"page_precision@{k}"] = metrics.page_precision(leading, paged)
        if overlaps is not None:
            scores[f"bleu@{k}"] = max((bleu for bleu, _ in overlaps[:k]), default=0.0)
            scores[f"rouge_l@{k}"] = max((rouge for _, rouge in overlaps[:k]), default=0.0)
    for k in metrics.SPAN_KS if metrics.has_spans(gold) else ():
        precision, recall = metrics.span_scores(prediction.passages[:k], gold)
        scores |= {f"span_recall@{k}": recall, f"span_precision@{k}": precision}
    if paged:
        scores["evidence_page_recall"] = metrics.page_recall(prediction.evidence, paged)
        scores["evidence_page_precision"] = metrics.page_precision(prediction.evidence, paged)
    return scores | context_scores(prediction, gold)


def context_scores(prediction: Prediction, gold: Sequence[GoldEvidence]) -> dict[str, float]:
    """Recall, precision and number of the passages that the answerer was given (LOFin's final context and k).

    Empty for predictions that do not record their context. Without passages, or if the curator kept none, the recorded
    context is empty and scores 0.
    """
    nothing_given = (
        prediction.status == "error" or not prediction.passages or (prediction.rounds and not prediction.rounds[-1])
    )
    if not prediction.context and not nothing_given:
        return {}
    scores = {"context_passages": float(len(prediction.context))}
    if paged := metrics.paged(gold):
        scores["context_page_recall"] = metrics.page_recall(prediction.context, paged)
        scores["context_page_precision"] = metrics.page_precision(prediction.context, paged)
    if metrics.has_spans(gold):
        precision, recall = metrics.span_scores(prediction.context, gold)
        scores |= {"context_span_recall": recall, "context_span_precision": precision}
    return scores


def estimates(scores: Iterable[Scores]) -> dict[str, Estimate]:
    """Mean and interval of each metric over the questions to which it applies, in the order of a report."""
    columns: dict[str, list[float]] = defaultdict(list)
    for row in scores:
        for name, value in row.items():
            columns[name].append(value)
    return {name: estimate(columns[name]) for name in sorted(columns, key=_report_order)}


def _report_order(name: str) -> tuple[int, str, int]:
    family, _, k = name.partition("@")
    order = (
        "document_recall", "page_recall", "page_precision", "span_recall", "span_precision", "evidence_page_recall",
        "evidence_page_precision", "context_passages", "context_page_recall", "context_page_precision",
        "context_span_recall", "context_span_precision",
        "bleu", "rouge_l", "numeric_match", "numeric_accuracy", "right_figure", "wrong_figure", "textual_accuracy",
        "textual_rule_accuracy", "answerable_refused", "unanswerable_refused",
        "invented_figure",
    )  # fmt: skip
    return order.index(family), family, int(k or 0)


def _latency(predictions: Sequence[Prediction]) -> Latency:
    seconds = [prediction.seconds for prediction in predictions if prediction.status != "error"]
    if not seconds:
        return Latency(None, None, 0)
    p50, p95 = np.quantile(seconds, [0.5, 0.95])
    return Latency(float(p50), float(p95), len(seconds))


def _usage(predictions: Sequence[Prediction]) -> dict[str, TokenUsage]:
    total: dict[str, TokenUsage] = {}
    for prediction in predictions:
        for stage, tokens in prediction.usage.items():
            total[stage] = total.get(stage, TokenUsage()) + tokens
    return total


def _remarks(
    by_qid: Mapping[str, Prediction], asked: Mapping[str, Question], pairs: Sequence[tuple[Question, Prediction]]
) -> list[str]:
    remarks = []
    bad_lines = sum(p.line is not None for qid, p in by_qid.items() if qid not in asked)
    unknown = [qid for qid, p in by_qid.items() if qid not in asked and p.line is None]
    missing = [qid for qid in asked if qid not in by_qid]
    if missing:
        remarks.append(f"{len(missing)} questions have no prediction and are left out: {_some(missing)}")
    if unknown:
        remarks.append(f"{len(unknown)} predictions belong to no question: {_some(unknown)}")
    if bad_lines:
        remarks.append(f"{bad_lines} lines of the question file could not be asked and are left out")
    reworded = [question.qid for question, p in pairs if p.question != question.question]
    if reworded:
        remarks.append(f"{len(reworded)} predictions answer another wording: {_some(reworded)}")
    if len({prediction.settings_hash for _, prediction in pairs}) > 1:
        remarks.append("the predictions were made under several settings")
    return remarks


def _judge_remarks(not_judged: int, judge: Judge | None, judged_by: str) -> list[str]:
    if not not_judged:
        return []
    if judge is None:
        return [f"{not_judged} textual answers were not judged by a model, only by rules; `finray judge` asks one"]
    return [f"{not_judged} textual answers were not judged by the {judged_by}: textual_accuracy leaves them out"]


def _some(qids: Sequence[str], limit: int = 3) -> str:
    return ", ".join(qids[:limit]) + (", …" if len(qids) > limit else "")
