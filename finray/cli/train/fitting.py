"""What the commands that fit small models share: options, sources of training data, and tables of weights.

These models are fitted in minutes and measured on held-out companies.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from rich import box
from rich.table import Table

from finray.cli.output import err
from finray.cli.progress import progress_bar
from finray.core.errors import UsageError
from finray.core.questions import Question
from finray.core.settings import Settings

if TYPE_CHECKING:
    from finray.engine import Engine
    from finray.lab.training.retrieval.page_ranking_data import Progress
    from finray.models.encoder import Encoder

T = TypeVar("T")
Gather = Callable[[Sequence[Question], "Engine", str, "Progress"], Coroutine[Any, Any, T]]
"""Makes training data of questions, an engine over their filings, and the name of their source."""
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
    questions, indexes = questions or (), indexes or ()
    if len(questions) != len(indexes):
        raise UsageError(f"{len(questions)} --questions and {len(indexes)} --index: give one index for each file")
    if not questions and not data.is_file():
        raise UsageError(f"{data} is missing: give --questions and --index to create it")
    return list(zip(questions, indexes, strict=True))


def sources_of(questions: Sequence[str] | None, indexes: Sequence[str] | None) -> list[tuple[str, str]]:
    """(question file, index) of each source. Raises UsageError if there is none or an index is missing."""
    if not questions or len(questions) != len(indexes or ()):
        raise UsageError("give each --questions file the --index that its filings are in")
    return list(zip(questions, indexes or (), strict=True))


def gathered(
    gather: Gather[T], sources: Sequence[tuple[str, str]], settings: Settings, encoder: Encoder | None = None
) -> Iterator[T]:
    """Training data of each source."""
    from finray.engine import open_engine
    from finray.lab.training.fine_tuning.inputs import training_questions

    for file, index in sources:
        asked = training_questions(file)
        engine = open_engine(index, settings, encoder=encoder)
        with progress_bar(err, f"reading {Path(file).name}") as progress:
            yield asyncio.run(gather(asked, engine, Path(file).parent.name, progress))


def write_model(path: Path, text: str) -> None:
    from finray.storage.atomic import replacing

    with replacing(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8")


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
