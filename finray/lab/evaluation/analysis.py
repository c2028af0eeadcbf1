"""The full analysis of one run's predictions, for `finray report` and its ``--json``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from finray.core.predictions import Prediction
from finray.core.questions import Question
from finray.lab.evaluation.breakdown import Breakdown, Dimension, breakdowns
from finray.lab.evaluation.curves import Curve, curves_over_iterations, curves_over_k
from finray.lab.evaluation.errors import ERRORS, Error, Level, counted_errors, error_of, levels
from finray.lab.evaluation.evaluate import Evaluation, Judge, Scores, evaluate
from finray.lab.evaluation.known_filings import KnownFilings
from finray.lab.evaluation.report import as_data as evaluation_data


@dataclass(frozen=True, slots=True)
class Case:
    """One question with its prediction, scores and error."""

    question: Question
    prediction: Prediction
    scores: Scores
    error: Error


@dataclass(frozen=True, slots=True)
class Analysis:
    evaluation: Evaluation
    cases: tuple[Case, ...]
    over_k: Mapping[str, Curve]
    over_iterations: Mapping[str, Curve]
    """Empty if the predictions recorded no iterations."""
    errors: Mapping[Error, int]
    levels: Mapping[int, Mapping[Level, int]]
    breakdowns: Mapping[Dimension, Breakdown]


def analyze(
    predictions: Iterable[Prediction],
    questions: Iterable[Question],
    known: KnownFilings,
    *,
    judge: Judge | None = None,
    judged_by: str = "a judge",
    remarks: Sequence[str] = (),
) -> Analysis:
    """The analysis of ``predictions``; :func:`finray.lab.evaluation.evaluate.evaluate` describes what is left out."""
    by_qid = {prediction.qid: prediction for prediction in predictions}
    asked = list(questions)
    evaluation = evaluate(by_qid.values(), asked, judge=judge, judged_by=judged_by, remarks=remarks)
    pairs = [(question, by_qid[question.qid]) for question in asked if question.qid in evaluation.scores]
    cases = tuple(
        Case(q, prediction, evaluation.scores[q.qid], error_of(q, prediction, evaluation.scores[q.qid], known))
        for q, prediction in pairs
    )
    return Analysis(
        evaluation=evaluation,
        cases=cases,
        over_k=curves_over_k(pairs),
        over_iterations=curves_over_iterations(pairs),
        errors=counted_errors([case.error for case in cases]),
        levels=levels(pairs, known),
        breakdowns=breakdowns([question for question, _ in pairs], evaluation.scores, known),
    )


def worst_cases(cases: Sequence[Case], limit: int) -> list[Case]:
    """The wrong questions: those that failed at the earliest stage first, then those with the lowest page recall."""
    wrong = [case for case in cases if case.error not in ("right", "not judged")]
    wrong.sort(key=lambda case: (-ERRORS.index(case.error), case.scores.get("page_recall@5", 0.0), case.question.qid))
    return wrong[:limit]


def as_data(analysis: Analysis) -> dict[str, Any]:
    """The analysis for ``json.dumps``: the data of `finray evaluate --json`, and more."""
    return evaluation_data(analysis.evaluation) | {
        "over_k": _curve_data(analysis.over_k),
        "over_iterations": _curve_data(analysis.over_iterations),
        "errors": dict(analysis.errors),
        "levels": {str(k): dict(counts) for k, counts in analysis.levels.items()},
        "breakdowns": {
            dimension: {
                group: {metric: asdict(row) for metric, row in rows.items()} for group, rows in breakdown.items()
            }
            for dimension, breakdown in analysis.breakdowns.items()
        },
        "cases": {case.question.qid: {"error": case.error, "scores": dict(case.scores)} for case in analysis.cases},
    }


def _curve_data(curves: Mapping[str, Curve]) -> dict[str, dict[str, Any]]:
    return {name: {str(x): asdict(point) for x, point in curve.items()} for name, curve in curves.items()}
