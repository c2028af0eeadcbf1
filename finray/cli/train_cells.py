"""``finray train cell-choice``: the model that chooses one cell of the retrieved pages."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from finray.cli.options import JsonOption, PresetOption, SetOption, settings_of
from finray.cli.output import emit, err
from finray.cli.progress import progress_bar
from finray.cli.train_fitted import L2, Indexes, Questions, sources_of
from finray.core.errors import UsageError

if TYPE_CHECKING:
    from finray.core.settings import Settings
    from finray.lab.training.cell_choice import CellQuestion


def cell_choice(
    questions: Questions = None,
    index: Indexes = None,
    out: Annotated[Path, typer.Option("--out", help="File to write the model to.")] = Path("cell_choice.json"),
    preset: PresetOption = "local",
    set_: SetOption = None,
    l2: L2 = 1.0,
    json_: JsonOption = False,
) -> int:
    """Fit the model that chooses one cell of the retrieved pages if no plan gives a figure (loop.cells)."""
    from finray.answering.cell_choice import SIGNALS, cell_model_json
    from finray.answering.cell_features import FEATURES
    from finray.core.bootstrap import estimate
    from finray.lab.evaluation.report import shown
    from finray.lab.training.cell_choice import WRONG, fit_cell_choice, held_out_choices
    from finray.storage.atomic import replacing

    settings = settings_of(preset, set_)
    settings = settings.model_copy(update={"loop": settings.loop.model_copy(update={"cells": False})})
    given = [each for file, uri in sources_of(questions, index) for each in _gathered(file, uri, settings)]
    if not any(each.gold.any() for each in given):
        raise UsageError("no question has its figure among the cells of its pages: nothing to learn from")
    model = fit_cell_choice(given, l2)
    tests = held_out_choices(given, l2)
    printed = {each.qid for each in given if each.gold.any()}
    figures, above = sum(each.figure for each in given), [t for t in tests if t.probability >= model.threshold]
    measured = {
        "first, where a cell prints the figure": shown(estimate([float(t.right) for t in tests if t.qid in printed])),
        "right": sum(t.right for t in above),
        "wrong": sum(not t.right and t.figure for t in above),
        "no figure asked for": sum(not t.figure for t in above),
    }
    trained: dict[str, Any] = {
        "questions": len(given),
        "figures": figures,
        "without_a_planned_figure": sum(each.figure and not each.taken for each in given),
        "companies": len({each.group for each in given}),
        "sources": [Path(file).stem for file in questions or ()],
        "l2": l2,
        "most_wrong": WRONG,
        "held_out": measured,
    }
    with replacing(out) as unfinished:
        unfinished.write_text(cell_model_json(model, trained), encoding="utf-8")
    record = {"model": str(out), **trained, "threshold": model.threshold}
    listed = ", ".join(f"{name} {value}" for name, value in measured.items())
    lines = [f"on held-out companies, of {figures} questions for a figure: {listed}", f"wrote {out}"]
    emit(record, weight_table(FEATURES, model.weights), weight_table(SIGNALS, model.answers), *lines, as_json=json_)
    return 0


def _gathered(file: str, index: str, settings: Settings) -> list[CellQuestion]:
    from finray.engine import open_engine
    from finray.lab.training.cell_choice_data import cell_questions
    from finray.lab.training.inputs import training_questions

    asked = training_questions(file)
    engine = open_engine(index, settings)
    with progress_bar(err, f"answering {Path(file).name}") as progress:
        return asyncio.run(cell_questions(asked, engine, Path(file).stem, progress))


def weight_table(meanings: Mapping[str, str], weights: Iterable[float]) -> Table:
    table = Table("name", "weight", "meaning")
    for name, weight in zip(meanings, weights, strict=True):
        table.add_row(name, f"{weight:+.2f}", meanings[name])
    return table
