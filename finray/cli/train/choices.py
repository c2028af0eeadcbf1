"""``finray train table-reader``, ``row-words`` and ``figure-choice``: the models that choose a computation over tables,
the rows that it may use, or one figure of a sentence, of the retrieved pages."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from finray.cli.options import JsonOption, PresetOption, SetOption, settings_of
from finray.cli.output import emit, err
from finray.cli.progress import progress_bar
from finray.cli.train.fitting import L2, Indexes, ModelOut, Questions, listed, sources_of, weights_table, write_model
from finray.core.errors import UsageError

if TYPE_CHECKING:
    from finray.core.settings import Settings
    from finray.lab.training.answers.figure_choice import FigureQuestion
    from finray.lab.training.answers.row_words import RowQuestion
    from finray.lab.training.answers.table_reader import ReadingQuestion
    from finray.lab.training.choices import ChoiceQuestion, ChoiceTask, Found
    from finray.lab.training.retrieval.page_ranking_data import Progress

T = TypeVar("T")
ThresholdFrom = Annotated[
    list[str] | None,
    typer.Option(help="A file of --questions that sets the threshold; the others only teach. May be repeated; all."),
]


def table_reader(
    questions: Questions = None,
    index: Indexes = None,
    out: ModelOut = Path("reading_choice.json"),
    preset: PresetOption = "local",
    set_: SetOption = None,
    l2: L2 = 1.0,
    threshold_from: ThresholdFrom = None,
    json_: JsonOption = False,
) -> int:
    """Fit the model that chooses a computation over the tables of the retrieved pages (loop.tables)."""
    from finray.answering.table_reader.reading_features import FEATURES
    from finray.lab.training.answers.table_reader import READINGS

    settings = _without(settings_of(preset, set_), "rankings", "tables", "figures")
    given = [each for file, uri in sources_of(questions, index) for each in _readings(file, uri, settings)]
    return _train(
        given, READINGS, FEATURES, "a reading has the figure", questions or (), threshold_from, out, l2, as_json=json_
    )


def row_words(
    questions: Questions = None,
    index: Indexes = None,
    out: ModelOut = Path("row_words.json"),
    preset: PresetOption = "local",
    set_: SetOption = None,
    l2: L2 = 1.0,
    json_: JsonOption = False,
) -> int:
    """Fit the weights that rank the rows of the retrieved pages, of which the first are read (loop.tables)."""
    from finray.answering.table_reader.row_words import FEATURES, row_words_json
    from finray.answering.table_reader.table_answerer import ROWS
    from finray.core.bootstrap import estimate
    from finray.lab.evaluation.report import shown
    from finray.lab.training.answers.row_words import fit_row_words, held_out_ranks

    settings = _without(settings_of(preset, set_), "rankings", "tables", "figures")
    given = [each for file, uri in sources_of(questions, index) for each in _rows(file, uri, settings)]
    if not given:
        raise UsageError("for no question a row of its pages prints the figure: nothing to learn from")
    weights = fit_row_words(given, l2)
    ranks = held_out_ranks(given, l2)
    recall = {f"all rows among {size}": shown(estimate([float(rank < size) for rank in ranks])) for size in (1, ROWS)}
    trained: dict[str, Any] = {
        "questions": len(given),
        "companies": len({each.group for each in given}),
        "sources": [Path(file).stem for file in questions or ()],
        "l2": l2,
        "held_out": recall,
    }
    write_model(out, row_words_json(weights, trained))
    lines = [f"on held-out companies: {listed(recall)}", f"wrote {out}"]
    emit({"model": str(out), **trained}, weights_table("feature", FEATURES, weights), *lines, as_json=json_)
    return 0


def figure_choice(
    questions: Questions = None,
    index: Indexes = None,
    out: ModelOut = Path("figure_choice.json"),
    preset: PresetOption = "local",
    set_: SetOption = None,
    l2: L2 = 0.25,
    threshold_from: ThresholdFrom = None,
    json_: JsonOption = False,
) -> int:
    """Fit the model that chooses a figure of a sentence if neither a plan nor a table gives one (loop.figures)."""
    from finray.answering.sentences.figure_features import FEATURES
    from finray.lab.training.answers.figure_choice import FIGURES

    settings = _without(settings_of(preset, set_), "rankings", "figures")
    given = [each for file, uri in sources_of(questions, index) for each in _figures(file, uri, settings)]
    return _train(
        given,
        FIGURES,
        FEATURES,
        "a sentence states the figure",
        questions or (),
        threshold_from,
        out,
        l2,
        as_json=json_,
    )


def _without(settings: Settings, *choices: str) -> Settings:
    """An engine that makes the choice itself would leave no question for it."""
    return settings.model_copy(update={"loop": settings.loop.model_copy(update=dict.fromkeys(choices, False))})


def _train(
    given: Sequence[ChoiceQuestion[Found]],
    task: ChoiceTask[Found],
    features: Mapping[str, str],
    condition: str,
    files: Sequence[str],
    threshold_from: Sequence[str] | None,
    out: Path,
    l2: float,
    *,
    as_json: bool,
) -> int:
    from finray.answering.choice_model import fitted_json
    from finray.core.bootstrap import estimate
    from finray.lab.evaluation.report import shown

    known = {each.qid for each in given if each.gold.any()}
    if not known:
        raise UsageError(f"for no question {condition} on its pages: nothing to learn from")
    if unknown := set(threshold_from or ()) - set(files):
        raise UsageError(f"--threshold-from {', '.join(sorted(unknown))} is not among --questions")
    setting = {Path(file).stem for file in threshold_from or files}
    usual = {each.qid for each in given if each.qid.partition(":")[0] in setting}
    model = task.fit(given, l2, lambda each: each.qid in usual)
    threshold = model.thresholds["threshold"]
    tests = task.held_out(given, l2)
    above = [test for test in tests if test.probability >= threshold and test.qid in usual]
    figures = sum(each.figure for each in given if each.qid in usual)
    measured = {
        f"first, where {condition}": shown(estimate([float(test.right) for test in tests if test.qid in known])),
        "right": sum(test.right for test in above),
        "wrong": sum(not test.right and test.figure for test in above),
        "no figure asked for": sum(not test.figure for test in above),
    }
    trained: dict[str, Any] = {
        "questions": len(given),
        "setting_the_threshold": len(usual),
        "figures": figures,
        "without_another_figure": sum(each.figure and not each.taken for each in given),
        "companies": len({each.group for each in given}),
        "sources": [Path(file).stem for file in files],
        "l2": l2,
        "most_wrong": task.wrong,
        "held_out": measured,
    }
    write_model(out, fitted_json(model, features, task.names, trained))
    lines = [f"on held-out companies, of {figures} questions for a figure: {listed(measured)}", f"wrote {out}"]
    tables = (weights_table("feature", features, model.weights), weights_table("signal", task.names, model.answers))
    emit({"model": str(out), **trained, "threshold": threshold}, *tables, *lines, as_json=as_json)
    return 0


def _readings(file: str, index: str, settings: Settings) -> list[ReadingQuestion]:
    from finray.engine import open_engine
    from finray.lab.training.answers.table_reader import reading_questions
    from finray.lab.training.fine_tuning.inputs import training_questions

    asked, engine = training_questions(file), open_engine(index, settings)
    return _answered(file, lambda progress: reading_questions(asked, engine, Path(file).stem, progress))


def _rows(file: str, index: str, settings: Settings) -> list[RowQuestion]:
    from finray.engine import open_engine
    from finray.lab.training.answers.row_words import row_questions
    from finray.lab.training.fine_tuning.inputs import training_questions

    asked, engine = training_questions(file), open_engine(index, settings)
    return _answered(file, lambda progress: row_questions(asked, engine, Path(file).stem, progress))


def _figures(file: str, index: str, settings: Settings) -> list[FigureQuestion]:
    from finray.engine import open_engine
    from finray.lab.training.answers.figure_choice_data import figure_questions
    from finray.lab.training.fine_tuning.inputs import training_questions
    from finray.models.encoder import QueryCache
    from finray.models.encoder_loading import load_encoder

    asked, encoder = training_questions(file), QueryCache(load_encoder(settings.encoder, threads=1))
    engine = open_engine(index, settings, encoder=encoder)
    return _answered(file, lambda progress: figure_questions(asked, engine, encoder, Path(file).stem, progress))


def _answered(file: str, questions: Callable[[Progress], Coroutine[Any, Any, T]]) -> T:
    with progress_bar(err, f"answering {Path(file).name}") as progress:
        return asyncio.run(questions(progress))
