"""``finray train figure-choice``: the model that chooses a figure which a sentence of the retrieved pages states."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from finray.cli.options import JsonOption, PresetOption, SetOption, settings_of
from finray.cli.output import emit, err
from finray.cli.progress import progress_bar
from finray.cli.train_cells import weight_table
from finray.cli.train_fitted import L2, Indexes, Questions, sources_of
from finray.core.errors import UsageError

if TYPE_CHECKING:
    from finray.core.settings import Settings
    from finray.lab.training.figure_choice import FigureQuestion


def figure_choice(
    questions: Questions = None,
    index: Indexes = None,
    out: Annotated[Path, typer.Option("--out", help="File to write the model to.")] = Path("figure_choice.json"),
    preset: PresetOption = "local",
    set_: SetOption = None,
    l2: L2 = 0.25,
    json_: JsonOption = False,
) -> int:
    """Fit the model that chooses a figure of a sentence if neither a plan nor a cell gives one (loop.figures)."""
    from finray.answering.figure_choice import SIGNALS, figure_model_json
    from finray.answering.figure_features import FEATURES
    from finray.core.bootstrap import estimate
    from finray.lab.evaluation.report import shown
    from finray.lab.training.figure_choice import WRONG, fit_figure_choice, held_out_figures
    from finray.storage.atomic import replacing

    settings = settings_of(preset, set_)
    settings = settings.model_copy(update={"loop": settings.loop.model_copy(update={"figures": False})})
    given = [each for file, uri in sources_of(questions, index) for each in _gathered(file, uri, settings)]
    if not any(each.gold.any() for each in given):
        raise UsageError("no question has its figure in a sentence of its pages: nothing to learn from")
    model = fit_figure_choice(given, l2)
    tests = held_out_figures(given, l2)
    stated = {each.qid for each in given if each.gold.any()}
    figures, above = sum(each.figure for each in given), [t for t in tests if t.probability >= model.threshold]
    measured = {
        "first, where a sentence states the figure": shown(
            estimate([float(t.right) for t in tests if t.qid in stated])
        ),
        "right": sum(t.right for t in above),
        "wrong": sum(not t.right and t.figure for t in above),
        "no figure asked for": sum(not t.figure for t in above),
    }
    trained: dict[str, Any] = {
        "questions": len(given),
        "figures": figures,
        "without_another_figure": sum(each.figure and not each.taken for each in given),
        "companies": len({each.group for each in given}),
        "sources": [Path(file).stem for file in questions or ()],
        "l2": l2,
        "most_wrong": WRONG,
        "held_out": measured,
    }
    with replacing(out) as unfinished:
        unfinished.write_text(figure_model_json(model, trained), encoding="utf-8")
    record = {"model": str(out), **trained, "threshold": model.threshold}
    listed = ", ".join(f"{name} {value}" for name, value in measured.items())
    lines = [f"on held-out companies, of {figures} questions for a figure: {listed}", f"wrote {out}"]
    tables = (weight_table(FEATURES, model.weights), weight_table(SIGNALS, model.answers))
    emit(record, *tables, *lines, as_json=json_)
    return 0


def _gathered(file: str, index: str, settings: Settings) -> list[FigureQuestion]:
    from finray.engine import open_engine
    from finray.lab.training.figure_choice_data import figure_questions
    from finray.lab.training.inputs import training_questions
    from finray.models.encoder import QueryCache, load_encoder

    asked = training_questions(file)
    encoder = QueryCache(load_encoder(settings.encoder, threads=1))
    engine = open_engine(index, settings, encoder=encoder)
    with progress_bar(err, f"answering {Path(file).name}") as progress:
        return asyncio.run(figure_questions(asked, engine, encoder, Path(file).stem, progress))
