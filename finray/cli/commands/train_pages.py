"""``finray train page-ranker``: fit the page model, and say what it is worth on companies it has not seen."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from finray.batch.question_files import BadLine, read_questions
from finray.cli.commands.progress import progress_bar
from finray.core.bootstrap import Estimate, estimate
from finray.core.errors import UsageError
from finray.core.settings import Settings
from finray.core.types import Question
from finray.engine import build_engine
from finray.index.reader import IndexReader
from finray.lab.evaluation.report import shown
from finray.lab.training.item_lexicon import MIN_FILINGS, MIN_PAGES, index_item_lexicon, item_lexicon_json
from finray.lab.training.page_ranker import RankedQuestion, fit, held_out_recall
from finray.lab.training.page_ranking_data import RankingData, load_ranking_data, ranking_data, save_ranking_data
from finray.models.encoder import load_encoder
from finray.models.query_cache import QueryCache
from finray.retrieval.page_features import FEATURES
from finray.retrieval.page_model import page_model_json
from finray.storage.atomic import replacing

KS = (1, 5, 10, 20)


def run_train_pages(
    questions: Sequence[str],
    indexes: Sequence[str],
    settings: Settings,
    *,
    data_file: Path,
    model_file: Path,
    l2: float,
    as_json: bool,
    out: Console,
) -> int:
    """Read candidates from ``questions`` over ``indexes`` (or, with neither, from ``data_file``), fit, write."""
    if len(questions) != len(indexes):
        raise UsageError(f"{len(questions)} --questions and {len(indexes)} --index: give one index for each file")
    if questions:
        data = _read(questions, indexes, settings)
        save_ranking_data(data_file, data)
    elif data_file.is_file():
        data = load_ranking_data(data_file)
    else:
        raise UsageError(f"no {data_file}: give --questions and --index to make it")
    held_out = {
        "gold filing given": _held_out(data.given, data.end_to_end, l2),
        "end to end": _held_out(data.end_to_end, data.given, l2),
    }
    trained = {"questions": len(data.given), "groups": len({q.group for q in data.given}), "l2": l2}
    weights = fit([*data.given, *data.end_to_end], l2)
    with replacing(model_file) as unfinished:
        unfinished.write_text(page_model_json(weights, trained | {"held_out": _plain(held_out)}), encoding="utf-8")
    if as_json:
        out.print_json(json.dumps({"model": str(model_file), **trained, "held_out": _plain(held_out)}))
    else:
        out.print(_table(held_out))
        out.print(_weights(dict(zip(FEATURES, weights.tolist(), strict=True))))
        out.print(f"wrote {model_file} from {trained['questions']} questions of {trained['groups']} companies")
    return 0


def run_train_item_lexicon(index: str, out_file: Path, out: Console) -> int:
    """Count the words of an index by SEC Item and write the lexicon."""
    lexicon = index_item_lexicon(IndexReader.open(index))
    if not lexicon:
        raise UsageError(
            f"the index at {index!r} is too small to learn from: no word stands on {MIN_PAGES} pages of {MIN_FILINGS} "
            "annual and quarterly reports"
        )
    with replacing(out_file) as unfinished:
        unfinished.write_text(item_lexicon_json(lexicon), encoding="utf-8")
    out.print(f"wrote {out_file}: {len(lexicon):,} words", highlight=False)
    return 0


def _read(questions: Sequence[str], indexes: Sequence[str], settings: Settings) -> RankingData:
    given: list[RankedQuestion] = []
    end_to_end: list[RankedQuestion] = []
    encoder = QueryCache(load_encoder(settings.encoder, threads=1))
    for source, index in zip(questions, indexes, strict=True):
        asked: list[Question] = []
        for question in read_questions(source):
            if isinstance(question, BadLine):
                raise UsageError(f"{source}, line {question.line}: {question.reason}")
            asked.append(question)
        engine = build_engine(IndexReader.open(index, settings), settings, encoder=encoder)
        with progress_bar(Console(stderr=True), f"reading {Path(source).name}") as progress:
            part = asyncio.run(ranking_data(asked, engine, encoder, Path(source).parent.name, progress))
        given += part.given
        end_to_end += part.end_to_end
    return RankingData(tuple(given), tuple(end_to_end))


def _held_out(
    scored: Sequence[RankedQuestion], also: Sequence[RankedQuestion], l2: float
) -> dict[str, dict[str, Estimate]]:
    """source -> recall@k -> estimate, each company ranked by weights fitted without it."""
    recalls = held_out_recall(scored, also, l2, KS)
    sources = dict.fromkeys(qid.partition(":")[0] for qid in recalls)
    return {
        source: {
            f"page_recall@{k}": estimate([r[at] for qid, r in recalls.items() if qid.startswith(f"{source}:")])
            for at, k in enumerate(KS)
        }
        for source in sources
    }


def _plain(held_out: Mapping[str, Mapping[str, Mapping[str, Estimate]]]) -> dict[str, Any]:
    return {
        setting: {source: {name: shown(value) for name, value in rows.items()} for source, rows in sources.items()}
        for setting, sources in held_out.items()
    }


def _table(held_out: Mapping[str, Mapping[str, Mapping[str, Estimate]]]) -> Table:
    table = Table(title="Page recall on companies not learned from", title_justify="left", box=box.SIMPLE)
    table.add_column("questions")
    for k in KS:
        table.add_column(f"@{k}", justify="right")
    for setting, sources in held_out.items():
        for source, rows in sources.items():
            table.add_row(f"{source}, {setting}", *(shown(value) for value in rows.values()))
    return table


def _weights(weights: Mapping[str, float]) -> Table:
    table = Table(title="Weights", title_justify="left", box=box.SIMPLE)
    table.add_column("feature")
    table.add_column("weight", justify="right")
    table.add_column("what it is")
    for name, weight in weights.items():
        table.add_row(name, f"{weight:+.2f}", FEATURES[name])
    return table
