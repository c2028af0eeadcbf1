"""``finray evaluate``, ``errors`` and ``report``: score predictions and write tables or an HTML page."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Annotated

import typer

from finray.cli.options import (
    IndexOption,
    JsonOption,
    JudgementsOption,
    MarkdownOption,
    RunsArgument,
    runs_and_questions,
)
from finray.cli.output import emit
from finray.core.errors import UsageError


def evaluate(
    predictions: RunsArgument,
    judgements: JudgementsOption = None,
    markdown: MarkdownOption = False,
    curve: Annotated[
        str | None, typer.Option(help="Draw accuracy against coverage: a file ending in .svg, local or s3://.")
    ] = None,
    json_: JsonOption = False,
) -> int:
    """Score predictions against gold answers and pages; several runs are shown side by side."""
    from finray.lab.evaluation import evaluate as evaluation
    from finray.lab.evaluation.report import as_data, report
    from finray.lab.evaluation.results_markdown import coverage_chart, results_markdown
    from finray.lab.evaluation.runs import read_judge, read_runs
    from finray.storage.locations import write_bytes

    if curve is not None and not curve.lower().endswith(".svg"):
        raise UsageError(f"--curve {curve!r}: the file name of the curve must end in .svg")
    runs, asked = read_runs(*runs_and_questions(predictions))
    judge, judged_by = read_judge(judgements)
    evaluations = {
        run.name: evaluation.evaluate(run.predictions, asked, judge=judge, judged_by=judged_by, remarks=run.remarks)
        for run in runs
    }
    data = {name: as_data(found) for name, found in evaluations.items()}
    if curve is not None:
        write_bytes(curve, coverage_chart(runs, asked).encode("utf-8"))
    text = results_markdown(evaluations, runs, asked) if markdown else report(evaluations)
    emit(data if len(data) > 1 else next(iter(data.values())), text, as_json=json_)
    return 0


def errors(
    predictions: Annotated[str, typer.Argument(help="Predictions, with their traces if possible.")],
    questions: Annotated[str, typer.Argument(help="Questions with gold answers and pages.")],
    index: IndexOption,
    markdown: MarkdownOption = False,
    json_: JsonOption = False,
) -> int:
    """Count why questions for a figure fail: filing, page, line item, plan, row, operation, scale.

    docs/evaluation.md explains the stages.
    """
    from finray.index.reading.reader import IndexReader
    from finray.lab.evaluation import figure_error_report
    from finray.lab.evaluation.figure_errors import figure_cases
    from finray.lab.evaluation.runs import read_runs

    (run,), asked = read_runs([predictions], questions)
    cases = figure_cases(asked, run.predictions, IndexReader.open(index))
    write = figure_error_report.markdown if markdown else figure_error_report.tables
    emit(figure_error_report.as_data(cases), write(cases), as_json=json_)
    return 0


def report(
    predictions: RunsArgument,
    out_: Annotated[str, typer.Option("--out", help="The page to write, .html, local or s3://.")],
    index: Annotated[
        str | None, typer.Option("--index", help="Index to read companies, forms and the text of pages from.")
    ] = None,
    title: Annotated[str | None, typer.Option(help="Heading of the page.")] = None,
    worst: Annotated[int, typer.Option(min=0, help="How many of the worst questions to show with their pages.")] = 10,
    judgements: JudgementsOption = None,
    json_: JsonOption = False,
) -> int:
    """Write one HTML page with scores and an analysis of errors; several runs are shown side by side."""
    from finray.index.reading.reader import IndexReader
    from finray.lab.evaluation.analysis import analyze, as_data
    from finray.lab.evaluation.html.page import render
    from finray.lab.evaluation.known_filings import KnownFilings
    from finray.lab.evaluation.runs import read_judge, read_runs
    from finray.storage.locations import write_bytes

    runs_, questions = runs_and_questions(predictions)
    if not out_.lower().endswith((".html", ".htm")):
        raise UsageError(f"--out {out_!r}: the file name of a report must end in .html")
    runs, asked = read_runs(runs_, questions)
    reader = IndexReader.open(index) if index else None
    known = (
        KnownFilings(reader.filings())
        if reader
        else KnownFilings.of_predictions(prediction for run in runs for prediction in run.predictions)
    )
    judge, judged_by = read_judge(judgements)
    analyses = {
        run.name: analyze(run.predictions, asked, known, judge=judge, judged_by=judged_by, remarks=run.remarks)
        for run in runs
    }
    name = PurePosixPath(questions).name
    page = render(analyses, known, title=title or f"Answers to {name}", questions=name, reader=reader, worst=worst)
    write_bytes(out_, page.encode("utf-8"))
    record = {"report": out_, "runs": {name: as_data(analysis) for name, analysis in analyses.items()}}
    text = f"{len(asked)} questions, {len(runs)} {'run' if len(runs) == 1 else 'runs'} -> {out_}"
    emit(record, text, as_json=json_)
    return 0
