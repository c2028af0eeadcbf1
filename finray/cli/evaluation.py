"""Questions to test with, and how good the answers are: questions, probes, convert, evaluate, report, compare."""

from __future__ import annotations

from typing import Annotated

import typer

from finray.cli.options import (
    IndexOption,
    JsonOption,
    JudgementsOption,
    PresetOption,
    SetOption,
    err,
    out,
    overrides_of,
)
from finray.core.errors import UsageError
from finray.core.settings import load_settings


def questions(
    sources: Annotated[
        list[str], typer.Argument(help="Folders, globs, files or s3:// locations of EDGAR HTML filings.")
    ],
    out_: Annotated[str, typer.Option("--out", help="Questions to write, .jsonl or .parquet, local or s3://.")],
    per_filing: Annotated[int, typer.Option(min=1, help="At most so many questions about one filing.")] = 40,
    seed: Annotated[int, typer.Option(help="The same seed writes the same questions.")] = 0,
    json_: JsonOption = False,
) -> None:
    """Write questions with exact answers and pages from the inline-XBRL tags of filings."""
    from finray.cli.commands.questions import run_questions

    settings = load_settings()
    raise typer.Exit(run_questions(sources, out_, settings, per_filing=per_filing, seed=seed, as_json=json_, out=out))


def probes(
    questions_: Annotated[str, typer.Argument(metavar="QUESTIONS", help="Questions that the index can answer.")],
    index: IndexOption,
    out_: Annotated[str, typer.Option("--out", help="Questions to write, .jsonl or .parquet, local or s3://.")],
    count: Annotated[int, typer.Option(min=1, help="At most so many of each of the three types.")] = 60,
    seed: Annotated[int, typer.Option(help="The same seed writes the same questions.")] = 0,
    json_: JsonOption = False,
) -> None:
    """Write questions that the index cannot answer: other companies, other years, metrics a company does not report."""
    from finray.cli.commands.probes import run_probes

    raise typer.Exit(run_probes(questions_, index, out_, count=count, seed=seed, as_json=json_, out=out))


def convert(
    dataset: Annotated[str, typer.Argument(help="financebench, lofin, finqa, tatqa, legalbench-rag or finray.")],
    source: Annotated[str, typer.Argument(help="The file as it was published, local or s3://.")],
    out_: Annotated[str, typer.Option("--out", help="Questions to write, .jsonl or .parquet, local or s3://.")],
    json_: JsonOption = False,
) -> None:
    """Turn a published data set into finray's question format; where a file is missing, say where to get it."""
    from finray.cli.commands.convert import run_convert

    raise typer.Exit(run_convert(dataset, source, out_, as_json=json_, out=out))


def evaluate(
    predictions: Annotated[
        list[str], typer.Argument(help="PREDICTIONS... QUESTIONS: one or more runs, then the questions.")
    ],
    judgements: JudgementsOption = None,
    json_: JsonOption = False,
) -> None:
    """Score predictions against gold answers and pages; several runs stand side by side."""
    from finray.cli.commands.evaluate import run_evaluate

    if len(predictions) < 2:
        raise UsageError("give at least one predictions file and, last, the question file")
    raise typer.Exit(run_evaluate(predictions[:-1], predictions[-1], judgements=judgements, as_json=json_, out=out))


def report(
    predictions: Annotated[
        list[str], typer.Argument(help="PREDICTIONS... QUESTIONS: one or more runs, then the questions.")
    ],
    out_: Annotated[str, typer.Option("--out", help="The page to write, .html, local or s3://.")],
    index: Annotated[
        str | None, typer.Option("--index", help="Index to read companies, forms and the text of pages from.")
    ] = None,
    title: Annotated[str | None, typer.Option(help="Heading of the page.")] = None,
    worst: Annotated[int, typer.Option(min=0, help="How many of the worst questions to show with their pages.")] = 10,
    judgements: JudgementsOption = None,
    json_: JsonOption = False,
) -> None:
    """Write one HTML page that shows how good answers are and where they go wrong; several runs stand side by side."""
    from finray.cli.commands.report import run_report

    if len(predictions) < 2:
        raise UsageError("give at least one predictions file and, last, the question file")
    raise typer.Exit(
        run_report(
            predictions[:-1],
            predictions[-1],
            out_,
            index=index,
            title=title,
            worst=worst,
            judgements=judgements,
            as_json=json_,
            out=out,
        )
    )


def compare(
    methods: Annotated[
        list[str], typer.Argument(help="Retrieval methods, the baseline first: NAME or NAME:section.key=value,...")
    ],
    questions: Annotated[str, typer.Option("--questions", help="Questions, .jsonl or .parquet, local or s3://.")],
    index: IndexOption,
    preset: PresetOption = "local",
    set_: SetOption = None,
    out_: Annotated[
        str | None, typer.Option("--out", help="Folder or s3:// prefix for a predictions file each; resumes.")
    ] = None,
    retrieval_only: Annotated[
        bool, typer.Option("--retrieval-only/--answers", help="Retrieve only, or curate and answer as well.")
    ] = True,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the tables in Markdown.")] = False,
    json_: JsonOption = False,
) -> None:
    """Retrieve with several methods and print one table: recall, precision, overlap, latency, and paired differences.

    docs/methods.md lists the methods and what each needs.
    """
    from finray.cli.commands.compare import run_compare

    raise typer.Exit(
        run_compare(
            methods,
            questions,
            index,
            preset=preset,
            overrides=overrides_of(set_),
            folder=out_,
            retrieval_only=retrieval_only,
            as_json=json_,
            markdown=markdown,
            out=out,
            err=err,
        )
    )
