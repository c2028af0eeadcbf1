"""``finray train filing-match`` and ``row-match``: fit the weights that match filings and rows to questions."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.table import Table

from finray.cli.options import JsonOption
from finray.cli.output import emit, err
from finray.cli.progress import progress_bar
from finray.cli.train_fitted import Indexes, Questions
from finray.core.errors import UsageError
from finray.core.settings import Settings, load_settings
from finray.core.types import Question

if TYPE_CHECKING:
    from finray.core.fitted import FittedWeights
    from finray.engine import Engine
    from finray.lab.training.page_ranking_data import Progress

L2 = Annotated[float, typer.Option(min=0.0, help="Penalty on weights away from those chosen by hand.")]
Preset = Annotated[str, typer.Option("--preset", help="The question reader: local, paper, or a file ending in .toml.")]


def filing_match(
    questions: Questions = None,
    index: Indexes = None,
    data: Annotated[Path, typer.Option(help="Training data: written if --questions are given, otherwise read.")] = Path(
        "filing_match_data.npz"
    ),
    out: Annotated[Path, typer.Option("--out", help="File to write the weights to.")] = Path("filing_match.json"),
    preset: Preset = "local",
    l2: L2 = 10.0,
    json_: JsonOption = False,
) -> int:
    """Fit the weights that match a filing's period and form to those of a question."""
    from finray.core.fitted import FittedWeights
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
        raise UsageError("the index has no evidence of any question: nothing to learn from")
    prior = shipped_filing_match().prior
    found = held_out(choices, prior, l2, (1, 3))
    figures = {
        f"gold filing among the first {k}" if k > 1 else "gold filing first": _figures(v) for k, v in found.items()
    }
    trained = {"choices": len(choices), "companies": len({choice.group for choice in choices}), "l2": l2}
    weights = FittedWeights(fit_filing_match(choices, prior, l2), prior)
    return _finish(out, weights, trained | {"held_out": figures}, WEIGHTS, as_json=json_)


def row_match(
    questions: Questions = None,
    index: Indexes = None,
    data: Annotated[Path, typer.Option(help="Training data: written if --questions are given, otherwise read.")] = Path(
        "row_match_data.npz"
    ),
    out: Annotated[Path, typer.Option("--out", help="File to write the weights to.")] = Path("row_match.json"),
    preset: Preset = "local",
    l2: L2 = 3.0,
    json_: JsonOption = False,
) -> int:
    """Fit the weights that match the row of a table to the words of a question."""
    from finray.answering.row_weights import WEIGHTS, fitted_row_weights
    from finray.core.fitted import FittedWeights
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
    return _finish(out, weights, trained | {"held_out": figures}, WEIGHTS, as_json=json_)


def _existing(data: Path) -> Path:
    if not data.is_file():
        raise UsageError(f"{data} is missing: give --questions and --index to create it")
    return data


def _sources(
    questions: Sequence[str], indexes: Sequence[str], settings: Settings
) -> Iterator[tuple[str, list[Question], Engine, Progress]]:
    """Yield (name, questions, engine, progress) for each file. Raises UsageError."""
    if len(questions) != len(indexes):
        raise UsageError(f"{len(questions)} --questions and {len(indexes)} --index: give one index for each file")
    from finray.batch.question_files import BadLine, read_questions
    from finray.engine import open_engine

    for file, index in zip(questions, indexes, strict=True):
        asked: list[Question] = []
        for line in read_questions(file):
            if isinstance(line, BadLine):
                raise UsageError(f"{file}, line {line.line}: {line.reason}")
            asked.append(line)
        engine = open_engine(index, settings)
        with progress_bar(err, f"reading {Path(file).name}") as progress:
            yield Path(file).parent.name, asked, engine, progress


def _figures(pairs: Sequence[tuple[float, float]]) -> dict[str, str]:
    """Estimates from pairs (fitted, chosen by hand) on held-out data."""
    from finray.core.bootstrap import estimate, paired_difference
    from finray.lab.evaluation.report import shown

    fitted, prior = ([pair[side] for pair in pairs] for side in (0, 1))
    return {
        "by hand": shown(estimate(prior)),
        "fitted": shown(estimate(fitted)),
        "difference": shown(paired_difference(fitted, prior)),
    }


def _finish(
    path: Path, fitted: FittedWeights, trained: Mapping[str, Any], what: Mapping[str, str], *, as_json: bool
) -> int:
    from finray.core.fitted import weights_json
    from finray.storage.atomic import replacing

    with replacing(path) as unfinished:
        unfinished.write_text(weights_json(fitted, trained), encoding="utf-8")
    table = Table(title="Weights", title_justify="left", box=box.SIMPLE)
    for heading in ("weight", "by hand", "fitted"):
        table.add_column(heading, justify="left" if heading == "weight" else "right")
    table.add_column("meaning")
    for name, description in what.items():
        table.add_row(name, f"{fitted.prior[name]:.3f}", f"{fitted.weights[name]:.3f}", description)
    lines = [
        f"{measure}, on held-out companies: {', '.join(f'{name} {value}' for name, value in figures.items())}"
        for measure, figures in trained["held_out"].items()
    ]
    lines.append(f"wrote {path} from {trained['choices']} choices of {trained['companies']} companies")
    emit({"model": str(path), **trained, "weights": fitted.weights}, table, *lines, as_json=as_json)
    return 0
