"""The report's tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from markupsafe import Markup

from finray.core.bootstrap import Estimate
from finray.core.predictions import TokenUsage
from finray.lab.evaluation.analysis import Analysis
from finray.lab.evaluation.breakdown import Dimension
from finray.lab.evaluation.evaluate import compare
from finray.lab.evaluation.html.labels import interval, metric_label, metric_meaning, seconds, share
from finray.lab.evaluation.html.svg import interval_bar
from finray.lab.evaluation.report import judged_by
from finray.lab.evaluation.text_tables import NOTHING

Runs = Mapping[str, Analysis]

KEY_METRICS = (
    "document_recall@1", "page_recall@1", "page_recall@5", "evidence_page_recall", "numeric_accuracy",
    "textual_accuracy", "textual_rule_accuracy", "wrong_figure", "answerable_refused", "invented_figure",
)  # fmt: skip
"""The figures at the top of the report, if they apply."""
_GROUP_METRICS = (
    "document_recall@1", "page_recall@1", "page_recall@5", "page_recall@10", "numeric_accuracy", "textual_accuracy",
    "textual_rule_accuracy", "wrong_figure", "answerable_refused", "unanswerable_refused",
    "invented_figure",
)  # fmt: skip
_FEW_METRICS = ("document_recall@1", "page_recall@5", "numeric_accuracy", "textual_accuracy")
"""Metrics of groups if there are several runs."""
LOWER_IS_BETTER = frozenset({"answerable_refused", "invented_figure", "wrong_figure"})


@dataclass(frozen=True, slots=True)
class Cell:
    value: str
    interval: str = ""
    n: int = 0
    bar: Markup | None = None
    shade: float | None = None
    """0 (bad) to 1 (good), for the heat map."""
    few: bool = False
    """Whether its value covers fewer questions than the row has."""


@dataclass(frozen=True, slots=True)
class Row:
    label: str
    note: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Grouped:
    """A breakdown. Each of ``runs`` has all ``columns``; ``row.note`` is the number of questions."""

    dimension: str
    runs: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[Row, ...]


def key_figures(analysis: Analysis) -> list[Row]:
    metrics = analysis.evaluation.metrics
    rows = [_row(name, [metrics[name]]) for name in KEY_METRICS if name in metrics]
    latency = analysis.evaluation.latency
    if latency.n:
        rows.append(Row("Median latency", f"95% within {seconds(latency.p95)}", (Cell(seconds(latency.p50)),)))
    return rows


def summary(runs: Runs) -> list[Row]:
    """Every metric of every run."""
    evaluations = [analysis.evaluation for analysis in runs.values()]
    names = dict.fromkeys(name for evaluation in evaluations for name in evaluation.metrics)
    rows = [_row(name, [evaluation.metrics.get(name) for evaluation in evaluations]) for name in names]
    notes = ["", *(row.note for row in rows)]
    return [replace(row, note="") if row.note == before else row for before, row in zip(notes, rows, strict=False)]


def differences(runs: Runs) -> list[Row]:
    """The first run minus each other one, paired by question; empty for one run."""
    (_, first), *others = runs.items()
    compared = [compare(first.evaluation, other.evaluation) for _, other in others]
    names = first.evaluation.metrics if compared else ()
    return [Row(metric_label(name), "", tuple(_difference(rows.get(name)) for rows in compared)) for name in names]


def grouped(runs: Runs, dimension: Dimension) -> Grouped | None:
    """The heat map of one dimension; None if it has only one group."""
    breakdowns = [analysis.breakdowns[dimension] for analysis in runs.values()]
    groups = dict.fromkeys(group for breakdown in breakdowns for group in breakdown)
    if len(groups) < 2:
        return None
    present = {metric for breakdown in breakdowns for rows in breakdown.values() for metric in rows}
    columns = [name for name in (_GROUP_METRICS if len(runs) == 1 else _FEW_METRICS) if name in present]
    rows = []
    for group in groups:
        found = [breakdown.get(group, {}) for breakdown in breakdowns]
        n = max((estimate.n for metrics in found for estimate in metrics.values()), default=0)
        cells = tuple(_heat(name, metrics.get(name)) for metrics in found for name in columns)
        rows.append(Row(group, str(n), tuple(replace(cell, few=cell.n != n) for cell in cells)))
    return Grouped(dimension, tuple(runs), tuple(metric_label(name) for name in columns), tuple(rows))


def facts(runs: Runs) -> list[Row]:
    """Counts, tokens, judge and settings of each run."""
    evaluations = [analysis.evaluation for analysis in runs.values()]
    rows = [_text_row("Questions scored", (str(e.questions) for e in evaluations))]
    rows += [
        _text_row(f"Status “{status}”", (str(e.statuses.get(status, 0)) for e in evaluations))
        for status in ("answered", "unanswerable", "error")
    ]
    stages = dict.fromkeys(stage for e in evaluations for stage, tokens in e.usage.items() if tokens.prompt_tokens)
    for stage in stages:
        texts = (_tokens(e.usage.get(stage), e.questions) for e in evaluations)
        rows.append(_text_row(f"Tokens a question, {stage}", texts))
    rows.append(_text_row("Textual answers", (judged_by(e) for e in evaluations)))
    rows.append(_text_row("Settings", (", ".join(sorted(e.settings_hashes)) or NOTHING for e in evaluations)))
    return rows


def _row(name: str, estimates: Iterable[Estimate | None]) -> Row:
    cells = tuple(_cell(estimate, number) for number, estimate in enumerate(estimates))
    return Row(metric_label(name), metric_meaning(name), cells)


def _cell(estimate: Estimate | None, number: int) -> Cell:
    if estimate is None or estimate.value is None or estimate.low is None or estimate.high is None:
        return Cell(NOTHING)
    bar = interval_bar(estimate.value, estimate.low, estimate.high, number)
    return Cell(share(estimate.value), interval(estimate), estimate.n, bar)


def _difference(estimate: Estimate | None) -> Cell:
    if estimate is None or estimate.value is None or estimate.low is None or estimate.high is None:
        return Cell(NOTHING)
    value = f"{estimate.value:+.3f}" if estimate.value else "0"
    apart = estimate.low > 0 or estimate.high < 0
    return Cell(value, f"{estimate.low:+.2f} to {estimate.high:+.2f}", estimate.n, shade=1.0 if apart else None)


def _heat(name: str, estimate: Estimate | None) -> Cell:
    if estimate is None or estimate.value is None:
        return Cell(NOTHING)
    shade = 1 - estimate.value if name in LOWER_IS_BETTER else estimate.value
    return Cell(f"{estimate.value:.2f}", interval(estimate), estimate.n, shade=shade)


def _text_row(label: str, texts: Iterable[str]) -> Row:
    return Row(label, "", tuple(Cell(text) for text in texts))


def _tokens(tokens: TokenUsage | None, questions: int) -> str:
    if tokens is None:
        return NOTHING
    each = max(questions, 1)
    return f"{tokens.prompt_tokens / each:,.0f} in, {tokens.completion_tokens / each:,.0f} out"
