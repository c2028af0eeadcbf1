"""``finray train filing-match`` and ``row-match``: fit the weights that match filings and rows to questions."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from finray.batch.question_files import BadLine, read_questions
from finray.cli.commands.progress import progress_bar
from finray.cli.train import Indexes, Json, Questions
from finray.core.bootstrap import estimate, paired_difference
from finray.core.errors import UsageError
from finray.core.fitted import FittedWeights, weights_json
from finray.core.settings import Settings, load_settings
from finray.core.types import Question
from finray.engine import Engine, open_engine
from finray.lab.evaluation.report import shown
from finray.lab.training.page_ranking_data import Progress
from finray.storage.atomic import replacing

L2 = Annotated[float, typer.Option(min=0.0, help="Penalty on weights away from those chosen by hand.")]
Preset = Annotated[str, typer.Option("--preset", help="What reads questions: local, paper, or a file ending in .toml.")]
_out = Console()


def filing_match(
    questions: Questions = None,
    index: Indexes = None,
    data: Annotated[
        Path, typer.Option(help="What is learned from: written from --questions, read without them.")
    ] = Path("filing_match_data.npz"),
    out: Annotated[Path, typer.Option("--out", help="Where the weights are written.")] = Path("filing_match.json"),
    preset: Preset = "local",
    l2: L2 = 10.0,
    json_: Json = False,
) -> None:
    """Fit the weights by which a filing's period and form match those that a question asks for."""
    from finray.lab.training.filing_match import fit_filing_match, held_out
    from finray.lab.training.filing_match_data import filing_choices, load_filing_choices, save_filing_choices
    from finray.retrieval.filing_match import shipped_filing_match
    from finray.retrieval.filing_relations import WEIGHTS

    if questions:
        choices = [
            choice
            for source, asked, engine, progress in _sources(questions, index or [], load_settings(preset))
            for choice in asyncio.run(filing_choices(asked, engine, source, progress))
        ]
        save_filing_choices(data, choices)
    else:
        choices = load_filing_choices(_existing(data))
    if not choices:
        raise UsageError("no evidence of any question is in the index: nothing to learn from")
    prior = shipped_filing_match().prior
    found = held_out(choices, prior, l2, (1, 3))
    figures = {
        f"gold filing among the first {k}" if k > 1 else "gold filing first": _figures(v) for k, v in found.items()
    }
    trained = {"choices": len(choices), "companies": len({choice.group for choice in choices}), "l2": l2}
    weights = FittedWeights(fit_filing_match(choices, prior, l2), prior)
    _finish(out, weights, trained | {"held_out": figures}, WEIGHTS, as_json=json_)


def row_match(
    questions: Questions = None,
    index: Indexes = None,
    data: Annotated[
        Path, typer.Option(help="What is learned from: written from --questions, read without them.")
    ] = Path("row_match_data.npz"),
    out: Annotated[Path, typer.Option("--out", help="Where the weights are written.")] = Path("row_match.json"),
    preset: Preset = "local",
    l2: L2 = 3.0,
    json_: Json = False,
) -> None:
    """Fit the weights by which the row of a table matches the words that a question asks for."""
    from finray.answering.row_weights import WEIGHTS, fitted_row_weights
    from finray.lab.training.row_match import fit_row_match, held_out
    from finray.lab.training.row_match_data import load_row_choices, row_choices, save_row_choices

    if questions:
        choices = [
            choice
            for source, asked, engine, progress in _sources(questions, index or [], load_settings(preset))
            for choice in asyncio.run(row_choices(asked, engine, source, progress))
        ]
        save_row_choices(data, choices)
    else:
        choices = load_row_choices(_existing(data))
    if not choices:
        raise UsageError("no question asks for one figure that a table of the index prints: nothing to learn from")
    prior = fitted_row_weights().prior
    figures = {"gold cell first": _figures(held_out(choices, prior, l2))}
    trained = {"choices": len(choices), "companies": len({choice.group for choice in choices}), "l2": l2}
    weights = FittedWeights(fit_row_match(choices, prior, l2), prior)
    _finish(out, weights, trained | {"held_out": figures}, WEIGHTS, as_json=json_)


def register(train: typer.Typer) -> None:
    train.command("filing-match")(filing_match)
    train.command("row-match")(row_match)


def _existing(data: Path) -> Path:
    if not data.is_file():
        raise UsageError(f"no {data}: give --questions and --index to make it")
    return data


def _sources(
    questions: Sequence[str], indexes: Sequence[str], settings: Settings
) -> Iterator[tuple[str, list[Question], Engine, Progress]]:
    """(name, questions, engine, progress) of each file. Raises UsageError."""
    if len(questions) != len(indexes):
        raise UsageError(f"{len(questions)} --questions and {len(indexes)} --index: give one index for each file")
    for file, index in zip(questions, indexes, strict=True):
        asked: list[Question] = []
        for line in read_questions(file):
            if isinstance(line, BadLine):
                raise UsageError(f"{file}, line {line.line}: {line.reason}")
            asked.append(line)
        engine = open_engine(index, settings)
        with progress_bar(Console(stderr=True), f"reading {Path(file).name}") as progress:
            yield Path(file).parent.name, asked, engine, progress


def _figures(pairs: Sequence[tuple[float, float]]) -> dict[str, str]:
    """Of (fitted, by hand) on held-out data."""
    fitted, prior = ([pair[side] for pair in pairs] for side in (0, 1))
    return {
        "by hand": shown(estimate(prior)),
        "fitted": shown(estimate(fitted)),
        "difference": shown(paired_difference(fitted, prior)),
    }


def _finish(
    path: Path, fitted: FittedWeights, trained: Mapping[str, Any], what: Mapping[str, str], *, as_json: bool
) -> None:
    with replacing(path) as unfinished:
        unfinished.write_text(weights_json(fitted, trained), encoding="utf-8")
    if as_json:
        _out.print_json(json.dumps({"model": str(path), **trained, "weights": fitted.weights}))
        return
    table = Table(title="Weights", title_justify="left", box=box.SIMPLE)
    for heading in ("weight", "by hand", "fitted"):
        table.add_column(heading, justify="left" if heading == "weight" else "right")
    table.add_column("what it is")
    for name, description in what.items():
        table.add_row(name, f"{fitted.prior[name]:.3f}", f"{fitted.weights[name]:.3f}", description)
    _out.print(table)
    for measure, figures in trained["held_out"].items():
        row = ", ".join(f"{name} {value}" for name, value in figures.items())
        _out.print(f"{measure}, on companies left out: {row}", highlight=False)
    _out.print(f"wrote {path} from {trained['choices']} choices of {trained['companies']} companies", highlight=False)
