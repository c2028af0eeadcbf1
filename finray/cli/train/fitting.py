"""Shared by the commands that fit small models: options, sources of training data, figures and tables of weights.

These models are fitted in minutes and measured on held-out companies.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Coroutine, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from rich import box
from rich.console import RenderableType
from rich.table import Table

from finray.cli.output import emit, err
from finray.cli.progress import progress_bar
from finray.core.errors import UsageError
from finray.core.questions import Question
from finray.core.settings import Settings

if TYPE_CHECKING:
    from finray.engine import Engine
    from finray.lab.training.choices import HeldOutChoice
    from finray.lab.training.retrieval.page_ranking_data import Progress
    from finray.models.encoder import Encoder

T = TypeVar("T")
Gather = Callable[[Sequence[Question], "Engine", str, "Progress"], Coroutine[Any, Any, T]]
"""Makes training data from questions, an engine over their filings, and the name of their source."""
Questions = Annotated[
    list[str] | None,
    typer.Option("--questions", help="Questions with evidence, .jsonl or .parquet, local or s3://. May be repeated."),
]
Indexes = Annotated[
    list[str] | None,
    typer.Option("--index", help="Index of their filings: one for all question files, or one for each, in order."),
]
Data = Annotated[Path, typer.Option(help="Training data: written if --questions are given, otherwise read.")]
ModelOut = Annotated[Path, typer.Option("--out", help="File to write the model to.")]
EngineOption = Annotated[str, typer.Option("--preset", help="The engine: local, hirec, or a file ending in .toml.")]
Preset = Annotated[str, typer.Option("--preset", help="The question reader: local, hirec, or a file ending in .toml.")]
L2 = Annotated[float, typer.Option(min=0.0, help="Penalty on large weights.")]


def sources_or_data(
    questions: Sequence[str] | None, indexes: Sequence[str] | None, data: Path
) -> list[tuple[str, str]]:
    """(question file, index) of each source; none if ``data`` is to be read instead. Raises UsageError."""
    if questions or indexes:
        return sources_of(questions, indexes)
    if not data.is_file():
        raise UsageError(f"{data} is missing: give --questions and --index to create it")
    return []


def sources_of(questions: Sequence[str] | None, indexes: Sequence[str] | None) -> list[tuple[str, str]]:
    """(question file, index) of each source; a single index serves all files. Raises UsageError if there is no source
    or an index is missing."""
    questions, indexes = questions or (), indexes or ()
    if not questions or len(indexes) not in (1, len(questions)):
        raise UsageError(
            f"{len(questions)} --questions and {len(indexes)} --index: give question files, and the index that their "
            "filings are in, one for all or one for each"
        )
    return [(file, indexes[number % len(indexes)]) for number, file in enumerate(questions)]


def gathered(
    gather: Gather[T], sources: Sequence[tuple[str, str]], settings: Settings, encoder: Encoder | None = None
) -> Iterator[T]:
    """The training data of each source, which is named after the folder of its question file."""
    for file, index in sources:
        yield _gathered(gather, file, index, settings, encoder, Path(file).parent.name, "reading")


def answered(
    gather: Gather[list[T]], sources: Sequence[tuple[str, str]], settings: Settings, encoder: Encoder | None = None
) -> list[T]:
    """The training data of all sources, each of which is named after its question file."""
    return [
        each
        for file, index in sources
        for each in _gathered(gather, file, index, settings, encoder, Path(file).stem, "answering")
    ]


def _gathered(
    gather: Gather[T], file: str, index: str, settings: Settings, encoder: Encoder | None, name: str, doing: str
) -> T:
    from finray.engine import open_engine
    from finray.lab.training.fine_tuning.inputs import training_questions

    asked = training_questions(file)
    engine = open_engine(index, settings, encoder=encoder)
    with progress_bar(err, f"{doing} {Path(file).name}") as progress:
        return asyncio.run(gather(asked, engine, name, progress))


def stems(files: Sequence[str] | None) -> list[str]:
    """The names of question files without folder and extension."""
    return [Path(file).stem for file in files or ()]


def with_loop(settings: Settings, **changes: object) -> Settings:
    """``settings`` with these changes to ``loop``: an engine that already makes a choice leaves nothing to learn it
    from."""
    return settings.model_copy(update={"loop": settings.loop.model_copy(update=changes)})


def choice_figures(
    tests: Sequence[HeldOutChoice], above: Sequence[HeldOutChoice], known: Collection[str], condition: str, kind: str
) -> dict[str, Any]:
    """Held-out figures of a choice. ``above`` are the tests that reach the threshold, ``known`` the ids of questions
    with a right candidate, which ``condition`` words; questions that ask for no ``kind`` are counted apart."""
    from finray.core.bootstrap import estimate
    from finray.lab.evaluation.report import shown

    return {
        f"first, where {condition}": shown(estimate([float(test.right) for test in tests if test.qid in known])),
        "right": sum(test.right for test in above),
        "wrong": sum(not test.right and test.figure for test in above),
        f"no {kind} asked for": sum(not test.figure for test in above),
    }


def write_model(path: Path, text: str) -> None:
    from finray.storage.atomic import replacing

    with replacing(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8")


def finish(out: Path, text: str, record: Mapping[str, Any], *shown: RenderableType, as_json: bool) -> int:
    """Write the model with this content, and print ``record`` or what is ``shown`` of it. Returns the exit code."""
    write_model(out, text)
    emit({"model": str(out), **record}, *shown, as_json=as_json)
    return 0


def weights_table(what: str, meanings: Mapping[str, str], weights: Iterable[float]) -> Table:
    rows = ((name, f"{weight:+.2f}", meanings[name]) for name, weight in zip(meanings, weights, strict=True))
    return figures_table("Weights", (what, "weight", "meaning"), rows)


def figures_table(title: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """Figures are at the right, words (the first column and meanings) at the left."""
    table = Table(title=title, title_justify="left", box=box.SIMPLE)
    for at, head in enumerate(heads):
        table.add_column(head, justify="left" if at == 0 or head == "meaning" else "right")
    for row in rows:
        table.add_row(*row)
    return table


def listed(figures: Mapping[str, object]) -> str:
    return ", ".join(f"{name} {value}" for name, value in figures.items())
