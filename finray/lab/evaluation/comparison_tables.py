"""Shows a comparison of retrieval methods as tables for a terminal or Markdown, and as data.

The first method is the baseline. Differences are paired over the same questions and have a bootstrap interval
(:mod:`finray.core.bootstrap`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from rich.console import Group, RenderableType
from rich.text import Text

from finray.core.bootstrap import Estimate
from finray.lab.evaluation.evaluate import Evaluation, compare
from finray.lab.evaluation.markdown import markdown_table
from finray.lab.evaluation.report import as_data, signed
from finray.lab.evaluation.text_tables import NOTHING, TextTable

COLUMNS: Final = {
    "document_recall@1": "filing R@1",
    "document_recall@5": "filing R@5",
    "page_recall@1": "page R@1",
    "page_recall@5": "page R@5",
    "page_recall@10": "page R@10",
    "page_precision@5": "page P@5",
    "bleu@5": "BLEU@5",
    "rouge_l@5": "ROUGE-L@5",
    "numeric_accuracy": "numeric",
}
"""Metrics in the order of the table; those without a value in any run are left out."""
Rows = list[tuple[str, ...]]


def comparison_data(evaluations: Mapping[str, Evaluation], *, retrieval_only: bool) -> dict[str, Any]:
    """Data for ``json.dumps``: each evaluation, and its differences to the first (method minus first)."""
    first = next(iter(evaluations))
    return {
        "baseline": first,
        "retrieval_only": retrieval_only,
        "methods": {label: as_data(evaluation) for label, evaluation in evaluations.items()},
        "differences": {
            label: {name: asdict(difference) for name, difference in rows.items()}
            for label, rows in _differences(evaluations).items()
        },
    }


def comparison_tables(evaluations: Mapping[str, Evaluation], *, retrieval_only: bool) -> RenderableType:
    """Means, latency and tokens of each method, then the differences to the first."""
    heads, *rows = _value_rows(evaluations)
    parts: list[RenderableType] = [TextTable(_title(evaluations, retrieval_only=retrieval_only), heads, rows)]
    if len(evaluations) > 1:
        first = next(iter(evaluations))
        heading = f"Difference to {first}, paired over the same questions [95% interval]"
        heads, *rows = _difference_rows(evaluations)
        parts.append(TextTable(heading, heads, rows))
    for label, evaluation in evaluations.items():
        parts += [Text(f"{label}: {remark}", style="yellow") for remark in _remarks(evaluation, retrieval_only)]
    return Group(*parts)


def comparison_markdown(evaluations: Mapping[str, Evaluation], *, retrieval_only: bool) -> str:
    """The same tables in Markdown, for the documentation."""
    heads, *rows = _value_rows(evaluations)
    parts = [_title(evaluations, retrieval_only=retrieval_only), markdown_table(heads, rows)]
    if len(evaluations) > 1:
        first = next(iter(evaluations))
        heads, *rows = _difference_rows(evaluations)
        parts += [
            f"Difference to `{first}`, paired over the same questions [95% bootstrap interval]:",
            markdown_table(heads, rows),
        ]
    return "\n\n".join(parts)


def _title(evaluations: Mapping[str, Evaluation], *, retrieval_only: bool) -> str:
    n = max(evaluation.questions for evaluation in evaluations.values())
    what = "retrieval only, without curation and answers" if retrieval_only else "with curation and answers"
    return f"Mean over {n} questions; {what}"


def _value_rows(evaluations: Mapping[str, Evaluation]) -> Rows:
    names = _columns(evaluations, [evaluation.metrics for evaluation in evaluations.values()])
    stages = any(evaluation.usage for evaluation in evaluations.values())
    errors = any(evaluation.statuses.get("error") for evaluation in evaluations.values())
    header = ["method", *(COLUMNS[name] for name in names), "p50 ms", "p95 ms"]
    header += ["tokens in/out", "calls"] * stages + ["errors"] * errors
    rows: Rows = [tuple(header)]
    for label, evaluation in evaluations.items():
        row = [label, *(_mean(evaluation.metrics.get(name)) for name in names)]
        row += [_milliseconds(evaluation.latency.p50), _milliseconds(evaluation.latency.p95)]
        row += [_tokens(evaluation), _calls(evaluation)] * stages + [str(evaluation.statuses.get("error", 0))] * errors
        rows.append(tuple(row))
    return rows


def _difference_rows(evaluations: Mapping[str, Evaluation]) -> Rows:
    differences = _differences(evaluations)
    names = _columns(evaluations, [*differences.values()])
    rows: Rows = [("method", *(COLUMNS[name] for name in names))]
    return rows + [(label, *(signed(found.get(name), 2) for name in names)) for label, found in differences.items()]


def _columns(evaluations: Mapping[str, Evaluation], found: Sequence[Mapping[str, Estimate]]) -> list[str]:
    """The metrics in ``found``, without accuracy if no run answered anything."""
    answered = any(evaluation.statuses.get("answered") for evaluation in evaluations.values())
    return [
        name
        for name in COLUMNS
        if any(name in metrics for metrics in found) and (answered or name != "numeric_accuracy")
    ]


def _differences(evaluations: Mapping[str, Evaluation]) -> dict[str, dict[str, Estimate]]:
    (_, first), *others = evaluations.items()
    return {label: compare(other, first) for label, other in others}


def _remarks(evaluation: Evaluation, retrieval_only: bool) -> list[str]:
    """The remarks, without those that every retrieval-only run has."""
    return [remark for remark in evaluation.remarks if not (retrieval_only and "not judged" in remark)]


def _mean(estimate: Estimate | None) -> str:
    return NOTHING if estimate is None or estimate.value is None else f"{estimate.value:.3f}".replace("0.", ".", 1)


def _milliseconds(seconds: float | None) -> str:
    return NOTHING if seconds is None else f"{seconds * 1000:.0f}"


def _tokens(evaluation: Evaluation) -> str:
    each = max(evaluation.questions, 1)
    read = sum(tokens.prompt_tokens for tokens in evaluation.usage.values())
    written = sum(tokens.completion_tokens for tokens in evaluation.usage.values())
    return f"{read / each:,.0f}/{written / each:,.0f}"


def _calls(evaluation: Evaluation) -> str:
    """Replies of language models for each question."""
    calls = sum(tokens.calls for tokens in evaluation.usage.values())
    return f"{calls / max(evaluation.questions, 1):,.1f}"
