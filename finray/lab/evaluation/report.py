"""Shows evaluations as tables, and as plain data for ``--json``.

Runs over the same questions are shown side by side: different settings, or upper bounds (predictions with
``retrieval.oracle`` set to "document" or "page").
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from finray.core.bootstrap import Estimate
from finray.lab.evaluation.evaluate import Evaluation, compare
from finray.lab.evaluation.text_tables import NOTHING, TextTable

TYPE_METRICS = {
    "document_recall@1": "filing@1",
    "page_recall@5": "page@5",
    "numeric_accuracy": "numeric",
    "textual_accuracy": "textual",
    "textual_rule_accuracy": "textual, by rules",
    "wrong_figure": "wrong figure",
    "answerable_refused": "wrongly refused",
    "unanswerable_refused": "rightly refused",
    "invented_figure": "invented figure",
}
"""Metrics in the table by question type; ``--json`` has all metrics."""


def as_data(evaluation: Evaluation) -> dict[str, Any]:
    """The evaluation without the scores of single questions, for ``json.dumps``."""
    return {
        "questions": evaluation.questions,
        "metrics": _data(evaluation.metrics),
        "by_question_type": {name: _data(rows) for name, rows in evaluation.by_question_type.items()},
        "statuses": dict(evaluation.statuses),
        "outcomes": dict(evaluation.outcomes),
        "latency_seconds": asdict(evaluation.latency),
        "calibration": asdict(evaluation.calibration) if evaluation.calibration else None,
        "usage": {stage: asdict(tokens) for stage, tokens in evaluation.usage.items()},
        "unusable": dict(evaluation.unusable),
        "settings_hashes": dict(evaluation.settings_hashes),
        "judge": evaluation.judge,
        "not_judged": evaluation.not_judged,
        "remarks": list(evaluation.remarks),
    }


def report(evaluations: Mapping[str, Evaluation]) -> RenderableType:
    """Tables of one or more named evaluations; differences are the first minus each other."""
    parts: list[RenderableType] = [_metric_table(evaluations)]
    first = next(iter(evaluations.values()))
    if len(evaluations) == 1 and len(first.by_question_type) > 1:
        parts.append(_type_table(first))
    if len(evaluations) > 1:
        parts.append(_difference_table(evaluations))
    parts.append(_facts_table(evaluations))
    for name, evaluation in evaluations.items():
        parts += [Text(f"{name}: {remark}", style="yellow") for remark in evaluation.remarks]
    return Group(*parts)


def shown(estimate: Estimate | None) -> str:
    """``.853 [.81, .89] n 129``; a dash without a value."""
    if estimate is None or estimate.value is None or estimate.low is None or estimate.high is None:
        return NOTHING
    return f"{_short(estimate.value)} [{_short(estimate.low)}, {_short(estimate.high)}] n {estimate.n}"


def signed(estimate: Estimate | None, places: int) -> str:
    """A difference: ``+.12 [-.03, +.27]`` with two ``places``; a dash without a value."""
    if estimate is None or estimate.value is None or estimate.low is None or estimate.high is None:
        return NOTHING
    numbers = (f"{x:+.{places}f}".replace("0.", ".", 1) for x in (estimate.value, estimate.low, estimate.high))
    return "{} [{}, {}]".format(*numbers)


def judged_by(evaluation: Evaluation) -> str:
    """The judge of textual answers, and the number of answers without a verdict."""
    if evaluation.judge is None:
        return "judged by rules only"
    return evaluation.judge + (f", {evaluation.not_judged} not judged" if evaluation.not_judged else "")


def _metric_table(evaluations: Mapping[str, Evaluation]) -> TextTable:
    names = dict.fromkeys(name for evaluation in evaluations.values() for name in evaluation.metrics)
    rows = [(name, *(shown(evaluation.metrics.get(name)) for evaluation in evaluations.values())) for name in names]
    return TextTable("Mean over questions [95% interval]", ("metric", *evaluations), rows)


def _difference_table(evaluations: Mapping[str, Evaluation]) -> TextTable:
    (first_name, first), *others = evaluations.items()
    differences = {name: compare(first, other) for name, other in others}
    rows = [(metric, *(shown(found.get(metric)) for found in differences.values())) for metric in first.metrics]
    return TextTable(f"{first_name} minus the other, on shared questions", ("metric", *differences), rows)


def _type_table(evaluation: Evaluation) -> TextTable:
    columns = [name for name in TYPE_METRICS if name in evaluation.metrics]
    rows = [
        (name, str(max((row.n for row in found.values()), default=0)), *(_value(found.get(each)) for each in columns))
        for name, found in evaluation.by_question_type.items()
    ]
    return TextTable("By question type", ("type", "n", *(TYPE_METRICS[name] for name in columns)), rows)


def _facts_table(evaluations: Mapping[str, Evaluation]) -> TextTable:
    facts = [_facts(evaluation) for evaluation in evaluations.values()]
    names = dict.fromkeys(name for run in facts for name in run)
    rows = [(name, *(run.get(name, NOTHING) for run in facts)) for name in names]
    return TextTable("Questions", ("", *evaluations), rows)


def _facts(evaluation: Evaluation) -> dict[str, str]:
    latency = evaluation.latency
    facts = {"scored": str(evaluation.questions)}
    for status in ("answered", "unanswerable", "error"):
        facts[status] = str(evaluation.statuses.get(status, 0))
    facts |= {f"outcome: {name}": str(count) for name, count in evaluation.outcomes.items()}
    facts["seconds, p50"] = NOTHING if latency.p50 is None else f"{latency.p50:.3f}"
    facts["seconds, p95"] = NOTHING if latency.p95 is None else f"{latency.p95:.3f}"
    if (stated := evaluation.calibration) is not None:
        facts["confidence, calibration error"] = f"{stated.ece:.3f} n {stated.n}"
        facts["confidence, Brier score"] = f"{stated.brier:.3f} (skill {stated.skill:+.2f})"
    for stage, tokens in evaluation.usage.items():
        each = max(evaluation.questions, 1)
        facts[f"tokens a question, {stage}"] = (
            f"{tokens.prompt_tokens / each:,.0f} in, {tokens.completion_tokens / each:,.0f} out"
            + (f", cost {tokens.cost / each:,.5f}" if tokens.cost else "")
            + (f", {tokens.calls / each:,.1f} calls" if tokens.calls else "")
        )
    facts |= {f"unusable replies, {stage}": str(count) for stage, count in evaluation.unusable.items()}
    cost = sum(tokens.cost for tokens in evaluation.usage.values())
    if cost:
        facts["cost of a question"] = f"{cost / max(evaluation.questions, 1):,.5f}"
    facts["textual answers"] = judged_by(evaluation)
    facts["settings"] = ", ".join(sorted(evaluation.settings_hashes)) or NOTHING
    return facts


def _value(estimate: Estimate | None) -> str:
    return NOTHING if estimate is None or estimate.value is None else _short(estimate.value)


def _short(value: float) -> str:
    return f"{value:.3f}".replace("0.", ".", 1) if abs(value) < 0.9995 else f"{value:.2f}"


def _data(estimates: Mapping[str, Estimate]) -> dict[str, dict[str, Any]]:
    return {name: asdict(estimate) for name, estimate in estimates.items()}
