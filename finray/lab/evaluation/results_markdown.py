"""Writes the results of one question set in Markdown: headline metrics, metrics by kind, accuracy over coverage.

The first run is the main one; others are shown beside it with paired differences (the first minus the other).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from finray.core.bootstrap import Estimate
from finray.core.questions import Question
from finray.lab.evaluation.coverage import Graded, Pairs, answers_given, coverage_points, figures_given
from finray.lab.evaluation.evaluate import Evaluation, compare
from finray.lab.evaluation.html.svg import Axis, Point, Series, line_chart, standalone
from finray.lab.evaluation.markdown import markdown_table
from finray.lab.evaluation.report import shown, signed
from finray.lab.evaluation.runs import Run
from finray.lab.evaluation.text_tables import NOTHING

HEADLINES: Final = {
    "document_recall@1": "filing recall@1",
    "page_recall@5": "page recall@5",
    "numeric_accuracy": "figures right, also in quoted words",
    "right_figure": "figures right, as a value",
    "wrong_figure": "figures wrong",
    "textual_accuracy": "words right, by a judge",
    "textual_rule_accuracy": "words right, by rules",
    "answerable_refused": "answerable refused",
    "unanswerable_refused": "unanswerable refused",
    "invented_figure": "unanswerable, figure made up",
}
"""Metrics of the tables in this order; those that apply to no question are left out."""
_KIND_METRICS: Final = tuple(name for name in HEADLINES if name not in ("textual_rule_accuracy", "textual_accuracy"))
_TICKS: Final = tuple((value / 4, f"{value / 4:g}") for value in range(5))
Rows = list[tuple[str, ...]]


def results_markdown(evaluations: Mapping[str, Evaluation], runs: Sequence[Run], asked: Sequence[Question]) -> str:
    """``evaluations`` by the names of ``runs``, whose predictions answer ``asked``."""
    first = next(iter(evaluations.values()))
    heads, *rows = _headline_rows(evaluations)
    kinds, *kind_rows = _kind_rows(first)
    parts = [
        f"{first.questions} questions; means with 95% bootstrap intervals.",
        markdown_table(heads, rows),
        "By kind" + (f" (`{next(iter(evaluations))}`):" if len(evaluations) > 1 else ":"),
        markdown_table(kinds, kind_rows),
        "Right answers if only the surest are given:",
        markdown_table(("answers", "confidence from", "share of questions", "right"), _coverage_rows(runs[0], asked)),
    ]
    return "\n\n".join(parts)


def coverage_chart(runs: Sequence[Run], asked: Sequence[Question]) -> str:
    """An SVG file of accuracy over coverage: the figures of each run, and all its answers."""
    hundredths = [each / 100 for each in range(1, 101)]
    series: list[Series] = []
    for run in runs:
        for what, (graded, questions) in _given(_pairs(run, asked)).items():
            points = coverage_points(graded, questions, hundredths)
            name = f"{run.name}, {what}" if len(runs) > 1 else what
            series.append(Series(name, tuple(Point(p.coverage, p.right.value or 0.0) for p in points)))
    return standalone(
        line_chart(
            series,
            key="coverage",
            title="Right answers by share of questions answered",
            description="; ".join(f"{number + 1}: {each.name}" for number, each in enumerate(series)),
            x=Axis("share of questions answered, the surest first", _TICKS, 0.0, 1.0),
            markers=False,
        )
    )


def _headline_rows(evaluations: Mapping[str, Evaluation]) -> Rows:
    (name, first), *others = evaluations.items()
    differences = [compare(first, other) for _, other in others]
    rows: Rows = [("", name, *(head for other, _ in others for head in (other, f"{name} minus {other}")))]
    for metric in (metric for metric in HEADLINES if metric in first.metrics):
        row = [HEADLINES[metric], shown(first.metrics[metric])]
        for (_, other), difference in zip(others, differences, strict=True):
            row += [shown(other.metrics.get(metric)), signed(difference.get(metric), 3)]
        rows.append(tuple(row))
    seconds = ["p50, seconds", _seconds(first)]
    for _, other in others:
        seconds += [_seconds(other), ""]
    return [*rows, tuple(seconds)]


def _kind_rows(evaluation: Evaluation) -> Rows:
    columns = [name for name in _KIND_METRICS if name in evaluation.metrics]
    rows: Rows = [("kind", "n", *(HEADLINES[name] for name in columns))]
    for kind, found in evaluation.by_question_type.items():
        n = max((each.n for each in found.values()), default=0)
        rows.append((kind, str(n), *(_short(found.get(name), n) for name in columns)))
    return rows


def _coverage_rows(run: Run, asked: Sequence[Question]) -> Rows:
    rows: Rows = []
    for what, (graded, questions) in _given(_pairs(run, asked)).items():
        for point in coverage_points(graded, questions):
            rows.append((what, f"{point.confidence:.2f}", f"{point.coverage:.3f}", shown(point.right)))
    return rows


def _given(pairs: Pairs) -> dict[str, tuple[list[Graded], int]]:
    return {"figures": figures_given(pairs), "all, quotations by page": answers_given(pairs)}


def _pairs(run: Run, asked: Sequence[Question]) -> Pairs:
    by_qid = {prediction.qid: prediction for prediction in run.predictions}
    return [(question, by_qid[question.qid]) for question in asked if question.qid in by_qid]


def _short(estimate: Estimate | None, n: int) -> str:
    """The estimate, without its ``n`` if the row has the same."""
    return shown(estimate).removesuffix(f" n {n}")


def _seconds(evaluation: Evaluation) -> str:
    return NOTHING if evaluation.latency.p50 is None else f"{evaluation.latency.p50:.2f}"
