"""``finray train item-lexicon``, ``page-ranker`` and ``confidence``: fit small models in minutes, and measure them on
held-out companies."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.table import Table

from finray.cli.options import JsonOption
from finray.cli.output import emit, err
from finray.cli.progress import progress_bar
from finray.core.errors import UsageError
from finray.core.settings import Settings, load_settings
from finray.core.types import Question

if TYPE_CHECKING:
    from finray.core.bootstrap import Estimate
    from finray.lab.evaluation.calibration import Calibration
    from finray.lab.training.page_ranker import RankedQuestion
    from finray.lab.training.page_ranking_data import RankingData

Questions = Annotated[
    list[str] | None,
    typer.Option("--questions", help="Questions with evidence, .jsonl or .parquet, local or s3://. May be repeated."),
]
Indexes = Annotated[
    list[str] | None,
    typer.Option("--index", help="Index of their filings: one for all question files, or one for each, in order."),
]
_KS = (1, 5, 10, 20)
HeldOut = Mapping[str, Mapping[str, Mapping[str, "Estimate"]]]
"""Setting -> question file -> ``page_recall@k`` -> estimate."""


def item_lexicon(
    index: Annotated[str, typer.Option("--index", help="Index of at least a hundred annual and quarterly reports.")],
    out: Annotated[Path, typer.Option("--out", help="File to write the lexicon to.")] = Path("item_lexicon.json"),
) -> int:
    """Learn which SEC Items use which words (finray/retrieval/item_lexicon.json, one feature of the page model)."""
    from finray.index.reader import IndexReader
    from finray.lab.training.item_lexicon import MIN_FILINGS, MIN_PAGES, index_item_lexicon, item_lexicon_json

    lexicon = index_item_lexicon(IndexReader.open(index))
    if not lexicon:
        raise UsageError(
            f"the index at {index!r} is too small to learn from: no word occurs on {MIN_PAGES} pages of {MIN_FILINGS} "
            "annual and quarterly reports"
        )
    _write(out, item_lexicon_json(lexicon))
    emit(lexicon, f"wrote {out}: {len(lexicon):,} words", as_json=False)
    return 0


def page_ranker(
    questions: Questions = None,
    index: Indexes = None,
    data: Annotated[Path, typer.Option(help="Training data: written if --questions are given, otherwise read.")] = Path(
        "page_model_data.npz"
    ),
    out: Annotated[Path, typer.Option("--out", help="File to write the model to.")] = Path("page_model.json"),
    l2: Annotated[float, typer.Option(min=0.0, help="Penalty on large weights.")] = 2.0,
    json_: JsonOption = False,
) -> int:
    """Fit the small model that weighs the features of pages (the ranking of the method "finray")."""
    from finray.lab.training.page_ranker import fit
    from finray.lab.training.page_ranking_data import load_ranking_data, save_ranking_data
    from finray.retrieval.page_features import FEATURES
    from finray.retrieval.page_model import page_model_json

    questions, index = questions or [], index or []
    if len(questions) != len(index):
        raise UsageError(f"{len(questions)} --questions and {len(index)} --index: give one index for each file")
    if questions:
        examples = _ranking_data(questions, index, load_settings("local"))
        save_ranking_data(data, examples)
    elif data.is_file():
        examples = load_ranking_data(data)
    else:
        raise UsageError(f"{data} is missing: give --questions and --index to create it")
    held_out = {
        "gold filing given": _held_out(examples.given, examples.end_to_end, l2),
        "end to end": _held_out(examples.end_to_end, examples.given, l2),
    }
    groups = len({question.group for question in examples.given})
    trained = {"questions": len(examples.given), "groups": groups, "l2": l2, "held_out": _plain(held_out)}
    weights = fit([*examples.given, *examples.end_to_end], l2)
    _write(out, page_model_json(weights, trained))
    emit(
        {"model": str(out), **trained},
        _recall_table(held_out),
        _weights(dict(zip(FEATURES, weights.tolist(), strict=True)), FEATURES, "feature"),
        f"wrote {out} from {len(examples.given)} questions of {groups} companies",
        as_json=json_,
    )
    return 0


def confidence(
    questions: Questions = None,
    index: Indexes = None,
    out: Annotated[Path, typer.Option("--out", help="File to write the model to.")] = Path("confidence.json"),
    preset: Annotated[str, typer.Option("--preset", help="The engine: local, paper, or a file ending in .toml.")] = (
        "local"
    ),
    l2: Annotated[float, typer.Option(min=0.0, help="Penalty on large weights.")] = 1.0,
    json_: JsonOption = False,
) -> int:
    """Fit the confidence of answers, from questions with known answers and unanswerable ones (probes)."""
    from finray.answering.confidence import SIGNALS, confidence_model_json
    from finray.batch.question_files import read_questions
    from finray.engine import open_engine
    from finray.lab.evaluation.calibration import calibration
    from finray.lab.training.confidence import GradedAnswer, fit_confidence, graded_answers, held_out_confidences
    from finray.models.encoder import load_encoder

    questions, index, settings = questions or [], index or [], load_settings(preset)
    if not questions or len(questions) != len(index):
        raise UsageError("give each --questions file the --index that its filings are in")
    answers: list[GradedAnswer] = []
    encoder = load_encoder(settings.encoder, threads=1)
    for source, uri in zip(questions, index, strict=True):
        asked = [line for line in read_questions(source) if isinstance(line, Question)]
        engine = open_engine(uri, settings, encoder=encoder)
        with progress_bar(err, f"answering {Path(source).name}") as progress:
            answers += asyncio.run(graded_answers(asked, engine, progress))
    if not answers:
        raise UsageError("no answer can be compared with a gold answer: nothing to learn from")
    held_out = calibration(held_out_confidences(answers, l2))
    model = fit_confidence(answers, l2)
    trained: dict[str, Any] = {"answers": len(answers), "groups": len({each.group for each in answers}), "l2": l2}
    figures = _figures(held_out) if held_out is not None else {}
    if figures:
        trained["held_out"] = figures
    _write(out, confidence_model_json(model, trained))
    weights = dict(zip(SIGNALS, (round(float(weight), 2) for weight in model.weights), strict=True))
    lines = [f"wrote {out}"]
    if figures:
        lines.insert(0, f"on held-out companies: {', '.join(f'{name} {value}' for name, value in figures.items())}")
    record = {"model": str(out), **trained, "weights": weights}
    emit(record, _weights(weights, SIGNALS, "signal"), *lines, as_json=json_)
    return 0


def _write(path: Path, text: str) -> None:
    from finray.storage.atomic import replacing

    with replacing(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8")


def _ranking_data(questions: Sequence[str], indexes: Sequence[str], settings: Settings) -> RankingData:
    from finray.engine import build_engine
    from finray.index.reader import IndexReader
    from finray.lab.training.inputs import training_questions
    from finray.lab.training.page_ranking_data import RankingData, ranking_data
    from finray.models.encoder import load_encoder
    from finray.models.query_cache import QueryCache

    given: list[RankedQuestion] = []
    end_to_end: list[RankedQuestion] = []
    encoder = QueryCache(load_encoder(settings.encoder, threads=1))
    for source, index in zip(questions, indexes, strict=True):
        asked = training_questions(source)
        engine = build_engine(IndexReader.open(index, settings), settings, encoder=encoder)
        with progress_bar(err, f"reading {Path(source).name}") as progress:
            part = asyncio.run(ranking_data(asked, engine, encoder, Path(source).parent.name, progress))
        given += part.given
        end_to_end += part.end_to_end
    return RankingData(tuple(given), tuple(end_to_end))


def _held_out(
    scored: Sequence[RankedQuestion], also: Sequence[RankedQuestion], l2: float
) -> dict[str, dict[str, Estimate]]:
    """Source -> recall@k -> estimate; each company is ranked by weights fitted without it."""
    from finray.core.bootstrap import estimate
    from finray.lab.training.page_ranker import held_out_recall

    recalls = held_out_recall(scored, also, l2, _KS)
    sources = dict.fromkeys(qid.partition(":")[0] for qid in recalls)
    return {
        source: {
            f"page_recall@{k}": estimate([r[at] for qid, r in recalls.items() if qid.startswith(f"{source}:")])
            for at, k in enumerate(_KS)
        }
        for source in sources
    }


def _plain(held_out: HeldOut) -> dict[str, Any]:
    from finray.lab.evaluation.report import shown

    return {
        setting: {source: {name: shown(value) for name, value in rows.items()} for source, rows in sources.items()}
        for setting, sources in held_out.items()
    }


def _recall_table(held_out: HeldOut) -> Table:
    from finray.lab.evaluation.report import shown

    table = Table(title="Page recall on held-out companies", title_justify="left", box=box.SIMPLE)
    table.add_column("questions")
    for k in _KS:
        table.add_column(f"@{k}", justify="right")
    for setting, sources in held_out.items():
        for source, rows in sources.items():
            table.add_row(f"{source}, {setting}", *(shown(value) for value in rows.values()))
    return table


def _weights(weights: Mapping[str, float], meanings: Mapping[str, str], what: str) -> Table:
    table = Table(title="Weights", title_justify="left", box=box.SIMPLE)
    table.add_column(what)
    table.add_column("weight", justify="right")
    table.add_column("meaning")
    for name, weight in weights.items():
        table.add_row(name, f"{weight:+.2f}", meanings[name])
    return table


def _figures(found: Calibration) -> dict[str, float]:
    return {
        "n": found.n,
        "accuracy": round(found.accuracy, 3),
        "ece": round(found.ece, 3),
        "brier": round(found.brier, 3),
        "brier_skill": round(found.skill, 3),
    }
