"""Options shared by several commands, and settings from the command line."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from finray.core.errors import SettingsError, UsageError
from finray.core.settings import Settings, load_settings, preset_names


def _presets(incomplete: str) -> list[str]:
    """For the shell's completion; it offers files if no preset fits."""
    return [name for name in preset_names() if name.startswith(incomplete)]


IndexOption = Annotated[str, typer.Option("--index", help="Index location: a folder or s3:// URI.")]
PresetOption = Annotated[
    str,
    typer.Option(
        "--preset",
        help="local, model, page-scorer, hirec, fingear, vllm, or a settings file ending in .toml.",
        autocompletion=_presets,
    ),
]
SetOption = Annotated[
    list[str] | None, typer.Option("--set", help="A setting, such as --set loop.i_max=2. May be repeated.")
]
RunsArgument = Annotated[
    list[str], typer.Argument(help="PREDICTIONS... QUESTIONS: one or more runs, then the questions.")
]
JudgementsOption = Annotated[
    str | None, typer.Option("--judgements", help="Judgements of these predictions by `finray judge`, .jsonl.")
]
QuestionsOut = Annotated[str, typer.Option("--out", help="Questions to write, .jsonl or .parquet, local or s3://.")]
RetryOption = Annotated[bool, typer.Option("--retry-failed", help="Repeat questions that ended in an error.")]
ServiceOption = Annotated[
    str | None, typer.Option("--service", help="URL of a service to whose pages a .xlsx or .csv links; else EDGAR.")
]
WorkersOption = Annotated[
    int | None,
    typer.Option("--workers", min=0, help="Ray workers, by default one for each CPU; 0: one engine, without Ray."),
]
AppOption = Annotated[
    str | None,
    typer.Option(
        "--app",
        help="A running Ray Serve application whose encoder, rerankers and language model the workers call instead of "
        "loading their own.",
    ),
]
EmbedWorkersOption = Annotated[
    str | None,
    typer.Option(help="Embedding workers: a number, or MIN:MAX for as many as there is work and room for."),
]
ShowRayOption = Annotated[bool, typer.Option("--show-ray", help="Show Ray's own progress and warnings too.")]
MarkdownOption = Annotated[bool, typer.Option("--markdown", help="Print the tables in Markdown.")]
ExitZeroOption = Annotated[
    bool,
    typer.Option("--exit-zero", help="Exit with 0 despite listed failures, for schedulers that would repeat the job."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


def settings_of(preset: str, assignments: list[str] | None) -> Settings:
    """Raises SettingsError."""
    return load_settings(preset, overrides_of(assignments))


def overrides_of(assignments: list[str] | None) -> dict[str, Any]:
    """The assignments of ``--set`` by dotted name. Raises SettingsError for one without "="."""
    overrides: dict[str, Any] = {}
    for assignment in assignments or ():
        name, separator, value = assignment.partition("=")
        if not separator:
            raise SettingsError(f"--set {assignment!r}: write it as section.name=value")
        overrides[name.strip()] = value.strip()
    return overrides


def pool_of(workers: str | None, show_ray: bool) -> dict[str, Any]:
    """The settings, by dotted name, of an EmbedWorkersOption and a ShowRayOption. Raises UsageError."""
    shown: dict[str, Any] = {"index_job.show_ray": True} if show_ray else {}
    if workers is None:
        return shown
    least, _, most = workers.partition(":")
    try:
        numbers = int(least), int(most or least)
    except ValueError:
        numbers = (0, 0)
    if not 1 <= numbers[0] <= numbers[1]:
        raise UsageError(f"{workers!r} workers: write a number from 1, or MIN:MAX such as 1:8")
    return shown | {"index_job.embed_workers_min": numbers[0], "index_job.embed_workers_max": numbers[1]}


def runs_and_questions(arguments: list[str]) -> tuple[list[str], str]:
    """The parts of a RunsArgument. Raises UsageError."""
    if len(arguments) < 2:
        raise UsageError("give at least one predictions file and, last, the question file")
    return arguments[:-1], arguments[-1]
