"""``finray train rankings``: models that choose which row or column of a table is the largest, grew fastest or fell
most."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from finray.cli.options import JsonOption, PresetOption, SetOption, settings_of
from finray.cli.output import emit, err
from finray.cli.progress import progress_bar
from finray.cli.train.fitting import (
    L2,
    Indexes,
    Questions,
    choice_figures,
    listed,
    sources_of,
    stems,
    weights_table,
    with_loop,
    write_model,
)
from finray.core.errors import UsageError

if TYPE_CHECKING:
    from finray.engine import Engine
    from finray.lab.training.answers.recorded import Recorded


def rankings(
    questions: Questions = None,
    index: Indexes = None,
    labelled: Annotated[
        list[Path] | None,
        typer.Option(help="Ranking questions with labels of what they ask, .jsonl, without a filing. May be repeated."),
    ] = None,
    others: Annotated[
        list[str] | None, typer.Option(help="A file of questions that ask for no ranking. May be repeated.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for the three files of the model.")] = Path("rankings"),
    preset: PresetOption = "local",
    set_: SetOption = None,
    l2: L2 = 1.0,
    json_: JsonOption = False,
) -> int:
    """Fit the models that rank rows and columns of the retrieved pages (loop.rankings)."""
    from finray.answering.choice_model import fitted_json, linear_json
    from finray.answering.question_heads import write_question_heads
    from finray.answering.rankings.asked import WEIGHTS
    from finray.answering.rankings.block_features import BLOCK_FEATURES
    from finray.answering.rankings.features import FEATURES
    from finray.engine import open_engine
    from finray.index.reading.facts import FilingFacts
    from finray.lab.training.answers.ranking_labels import labelled_questions
    from finray.lab.training.answers.rankings import RANKINGS, fit_rankings
    from finray.lab.training.fine_tuning.inputs import training_questions
    from finray.question.companies.catalog import CompanyCatalog
    from finray.storage.atomic import replacing

    settings = with_loop(
        settings_of(preset, set_), rankings=False, tables=False, figures=False, closest=False, least_confidence=0.0
    )
    sources = sources_of(questions, index)
    if len({uri for _, uri in sources}) > 1:
        raise UsageError("give all --questions the same --index: their rankings are read from one")
    written = [each for path in labelled or () for each in labelled_questions(path)]
    unasked = [each.question for file in others or () for each in training_questions(file)]
    engine = open_engine(sources[0][1], settings)
    recorded = [(Path(file).stem, each) for file, _ in sources for each in _recorded(file, engine)]
    facts = FilingFacts(engine.reader, CompanyCatalog(engine.reader.filings()))
    try:
        with progress_bar(err, "reading tables") as progress:
            fitted = fit_rankings(recorded, written, unasked, facts, l2, progress)
    except ValueError as error:  # a head or a choice that no question shows
        raise UsageError(f"too few questions to learn from: {error}; give more, --labelled or --others") from error
    tests = RANKINGS.held_out(fitted.questions, l2)
    known = {each.qid for each in fitted.questions if each.gold.any()}
    threshold = fitted.choice.thresholds["threshold"]
    above = [test for test in tests if test.probability >= threshold]
    measured = choice_figures(tests, above, known, "a ranking has the answer", "ranking")
    trained: dict[str, Any] = {
        "questions": len(recorded),
        "rankings": sum(each.figure for each in fitted.questions),
        "labelled": len(written),
        "others": len(unasked),
        "companies": len({each.group for each in fitted.questions}),
        "sources": stems(questions),
        "l2": l2,
        "most_wrong": RANKINGS.wrong,
        "held_out": measured,
    }
    write_model(out / "ranking_blocks.json", linear_json(fitted.blocks, BLOCK_FEATURES, trained))
    write_model(out / "ranking_choice.json", fitted_json(fitted.choice, FEATURES, RANKINGS.names, trained))
    with replacing(out / WEIGHTS) as unfinished, unfinished.open("wb") as file:
        write_question_heads(fitted.heads, file)
    lines = [f"on held-out companies: {listed(measured)}", f"wrote {out}"]
    table = weights_table("feature", FEATURES, fitted.choice.weights)
    emit({"model": str(out), **trained, "threshold": threshold}, table, *lines, as_json=json_)
    return 0


def _recorded(file: str, engine: Engine) -> list[Recorded]:
    from finray.lab.training.answers.recorded import recorded_answers
    from finray.lab.training.fine_tuning.inputs import training_questions

    async def answered() -> list[Recorded]:
        with progress_bar(err, f"answering {Path(file).name}") as progress:
            return [each async for each in recorded_answers(training_questions(file), engine, progress)]

    return asyncio.run(answered())
