"""``finray train table-reader``, ``row-words`` and ``figure-choice``: models that choose a computation over the tables
of the retrieved pages, the rows that it may use, or one figure of a sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from finray.cli.options import JsonOption, PresetOption, SetOption, settings_of
from finray.cli.train.fitting import (
    L2,
    Indexes,
    ModelOut,
    Questions,
    answered,
    choice_figures,
    finish,
    listed,
    sources_of,
    stems,
    weights_table,
    with_loop,
)
from finray.core.errors import UsageError

if TYPE_CHECKING:
    from finray.lab.training.choices import ChoiceQuestion, ChoiceTask, Found

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
    from finray.lab.training.answers.table_reader import READINGS, reading_questions

    settings = with_loop(settings_of(preset, set_), tables=False, figures=False)
    given = answered(reading_questions, sources_of(questions, index), settings)
    condition = "a reading has the figure"
    return _train(given, READINGS, FEATURES, condition, questions or (), threshold_from, out, l2, as_json=json_)


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
    from finray.answering.choice_model import linear_json
    from finray.answering.table_reader.row_words import FEATURES
    from finray.answering.table_reader.table_answerer import ROWS
    from finray.core.bootstrap import estimate
    from finray.lab.evaluation.report import shown
    from finray.lab.training.answers.row_words import fit_row_words, held_out_ranks, row_questions

    settings = with_loop(settings_of(preset, set_), tables=False, figures=False)
    given = answered(row_questions, sources_of(questions, index), settings)
    if not given:
        raise UsageError("for no question a row of its pages prints the figure: nothing to learn from")
    weights = fit_row_words(given, l2)
    ranks = held_out_ranks(given, l2)
    recall = {f"all rows among {size}": shown(estimate([float(rank < size) for rank in ranks])) for size in (1, ROWS)}
    trained: dict[str, Any] = {
        "questions": len(given),
        "companies": len({each.group for each in given}),
        "sources": stems(questions),
        "l2": l2,
        "held_out": recall,
    }
    lines = [f"on held-out companies: {listed(recall)}", f"wrote {out}"]
    table = weights_table("feature", FEATURES, weights)
    return finish(out, linear_json(weights, FEATURES, trained), trained, table, *lines, as_json=json_)


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
    from finray.lab.training.answers.figure_choice import FIGURES, figure_questions
    from finray.models.encoder import QueryCache
    from finray.models.encoder_loading import load_encoder

    settings = with_loop(settings_of(preset, set_), figures=False)
    sources = sources_of(questions, index)
    encoder = QueryCache(load_encoder(settings.encoder, threads=1))
    given = answered(
        lambda asked, engine, source, progress: figure_questions(asked, engine, encoder, source, progress),
        sources,
        settings,
        encoder,
    )
    condition = "a sentence states the figure"
    return _train(given, FIGURES, FEATURES, condition, questions or (), threshold_from, out, l2, as_json=json_)


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
    """Fit, measure and write the model of ``task``. ``condition`` is what makes a question one to learn from."""
    from finray.answering.choice_model import fitted_json

    known = {each.qid for each in given if each.gold.any()}
    if not known:
        raise UsageError(f"for no question {condition} on its pages: nothing to learn from")
    if unknown := set(threshold_from or ()) - set(files):
        raise UsageError(f"--threshold-from {', '.join(sorted(unknown))} is not among --questions")
    setting = set(stems(threshold_from or files))
    usual = {each.qid for each in given if each.qid.partition(":")[0] in setting}
    model = task.fit(given, l2, lambda each: each.qid in usual)
    threshold = model.thresholds["threshold"]
    tests = task.held_out(given, l2)
    above = [test for test in tests if test.probability >= threshold and test.qid in usual]
    figures = sum(each.figure for each in given if each.qid in usual)
    measured = choice_figures(tests, above, known, condition, "figure")
    trained: dict[str, Any] = {
        "questions": len(given),
        "setting_the_threshold": len(usual),
        "figures": figures,
        "without_another_figure": sum(each.figure and not each.taken for each in given),
        "companies": len({each.group for each in given}),
        "sources": stems(files),
        "l2": l2,
        "most_wrong": task.wrong,
        "held_out": measured,
    }
    lines = [f"on held-out companies, of {figures} questions for a figure: {listed(measured)}", f"wrote {out}"]
    tables = (weights_table("feature", features, model.weights), weights_table("signal", task.names, model.answers))
    content = fitted_json(model, features, task.names, trained)
    return finish(out, content, {**trained, "threshold": threshold}, *tables, *lines, as_json=as_json)
