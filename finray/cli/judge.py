"""The options of ``finray judge``, ``judge-labels`` and ``judge-agreement``."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from finray.cli.options import JsonOption, PresetOption, SetOption, err, out, settings_of
from finray.core.errors import UsageError


def judge(
    predictions: Annotated[
        list[str], typer.Argument(help="PREDICTIONS... QUESTIONS: one or more runs, then the questions.")
    ],
    out_: Annotated[str, typer.Option("--out", help="Judgements, .jsonl, local or s3://; resumes.")],
    preset: PresetOption = "local",
    set_: SetOption = None,
    retry_failed: Annotated[bool, typer.Option(help="Ask again about answers that were not judged.")] = False,
    json_: JsonOption = False,
) -> None:
    """Have a language model judge textual answers against the gold answers; `evaluate --judgements` counts them."""
    from finray.cli.commands.judge import run_judge

    if len(predictions) < 2:
        raise UsageError("give at least one predictions file and, last, the question file")
    settings = settings_of(preset, set_)
    raise typer.Exit(
        run_judge(
            predictions[:-1],
            predictions[-1],
            out_,
            settings,
            retry_failed=retry_failed,
            as_json=json_,
            out=out,
            err=err,
        )
    )


def judge_labels(
    questions: Annotated[str, typer.Argument(help="Questions, .jsonl or .parquet, local or s3://.")],
    out_: Annotated[str, typer.Option("--out", help="Label file to write, .jsonl, local or s3://.")],
    seed: Annotated[int, typer.Option(help="The same seed writes the same answers.")] = 0,
    json_: JsonOption = False,
) -> None:
    """Make answers with known labels out of gold answers by rule, to hold judges against."""
    from finray.cli.commands.judge import run_judge_labels

    raise typer.Exit(run_judge_labels(questions, out_, seed=seed, as_json=json_, out=out))


def judge_agreement(
    labels: Annotated[str, typer.Argument(help="Labelled answers, .jsonl, local or s3://.")],
    by: Annotated[Literal["llm", "rules"], typer.Option(help="The judge to hold against the labels.")] = "llm",
    out_: Annotated[
        str | None, typer.Option("--out", help="Keep the judgements, .jsonl, local or s3://; resumes.")
    ] = None,
    preset: PresetOption = "local",
    set_: SetOption = None,
    json_: JsonOption = False,
) -> None:
    """Show how far a judge agrees with labels: accuracy by class, Cohen's kappa, and where they part."""
    from finray.cli.commands.judge import run_judge_agreement

    settings = settings_of(preset, set_)
    raise typer.Exit(run_judge_agreement(labels, by, out_, settings, as_json=json_, out=out, err=err))
