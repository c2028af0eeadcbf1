"""``finray train question-model``: what a question measures, by its words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from finray.cli.options import JsonOption
from finray.cli.output import emit
from finray.core.errors import UsageError


def question_model(
    questions: Annotated[Path, typer.Argument(help="Questions whose measured words are marked, .jsonl.")],
    index: Annotated[str, typer.Option("--index", help="Index of their filings: its companies are recognized.")],
    wordings: Annotated[Path, typer.Option("--wordings", help="People's wordings of metrics, .jsonl.")],
    others: Annotated[
        list[Path],
        typer.Option("--others", help="Questions of benchmarks/table_questions, .jsonl: operations and other rows."),
    ],
    without: Annotated[
        list[str] | None,
        typer.Option("--without", help="Hold out a source of questions or a writer of wordings, and score on these."),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(min=0.0, max=1.0, help="Least probability of a metric; by default from what is held out."),
    ] = None,
    framed: Annotated[int, typer.Option(min=0, help="How many questions are framed of each writer's phrases.")] = 1100,
    steps: Annotated[int, typer.Option(min=1, help="Steps of training, a second or so each.")] = 1400,
    out: Annotated[Path, typer.Option("--out", help="Folder to write the model to.")] = Path(),
    json_: JsonOption = False,
) -> int:
    """Fit the small model that reads what a question measures (transform = "trained").

    Fit it first without some sources and writers, for scores and the threshold, then on everything with this threshold.
    """
    from finray.core.bootstrap import estimate
    from finray.lab.evaluation.report import shown
    from finray.lab.training.question import question_model as fitting
    from finray.lab.training.question.question_data import question_data
    from finray.models.question_model import MetricLabels, QuestionModel

    held = frozenset(without or ())
    if threshold is None and not held:
        raise UsageError("there is no threshold: give --threshold, or --without to find it on what is held out")
    data = question_data(questions, index, wordings, _lines(others), held, framed)
    metrics = data.metrics
    state = fitting.fine_tune(
        data.marked, data.others, data.phrases, metrics, steps=steps, report=lambda line: typer.echo(line, err=True)
    )
    model = QuestionModel(state, MetricLabels(metrics, 0.0))
    named = fitting.named(model, data.held_phrases)
    least = fitting.threshold(named) if threshold is None else threshold
    table = Table("held out", "right", "wrong", title=f"a metric counts from a probability of {least:.2f}")
    record: dict[str, object] = {"questions": len(data.marked) + len(data.others), "threshold": least}
    for name, scores in (
        ("F1 of the marked words", fitting.word_f1(model, data.held_questions)),
        ("operation", fitting.operation_accuracy(model, data.held_questions)),
    ):
        if scores:
            table.add_row(name, shown(estimate(scores)), "")
            record[name] = {"n": len(scores), "right": estimate(scores).value}
    for kind, (right, wrong) in fitting.shares(named, least).items():
        table.add_row(kind, shown(estimate(right)), shown(estimate(wrong)))
        record[kind] = {"n": len(right), "right": estimate(right).value, "wrong": estimate(wrong).value}
    out.mkdir(parents=True, exist_ok=True)
    fitting.save_model(state, MetricLabels(metrics, least), out)
    emit(record, table, f"wrote the model to {out}", as_json=json_)
    return 0


def _lines(paths: Sequence[Path]) -> list[Mapping[str, Any]]:
    from finray.lab.training.readers.row_examples import read_lines

    return [line for path in paths for line in read_lines(path)]
