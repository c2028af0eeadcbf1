"""Training data of the page model: the candidate pages of questions with evidence, with their features."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from finray.core.journal import Journal
from finray.core.passages import Document
from finray.core.questions import Question
from finray.engine import Engine
from finray.index.reading.reader import IndexReader
from finray.lab.training.retrieval.page_ranker import RankedQuestion, ranked_question
from finray.lab.training.stored import stored_arrays
from finray.models.encoder import Encoder
from finray.question.companies.catalog import CompanyCatalog
from finray.retrieval.filing_pages import PageCache
from finray.retrieval.page_features import FEATURES, page_candidates

Progress = Callable[[int, int], None]
"""Called with (questions done, questions)."""


@dataclass(frozen=True, slots=True)
class RankingData:
    """The same questions twice: with gold filings, and with the filings that document retrieval chose."""

    given: tuple[RankedQuestion, ...]
    end_to_end: tuple[RankedQuestion, ...]


async def ranking_data(
    questions: Sequence[Question], engine: Engine, encoder: Encoder, source: str, progress: Progress
) -> RankingData:
    """Candidates of ``questions`` over the engine's index, without questions whose gold filings it lacks.

    Groups are companies; qids get the prefix ``source``.
    """
    reader: IndexReader = engine.reader
    filings = {filing.doc_name: filing for filing in reader.filings()}
    names = {filing.filing_id: filing.doc_name for filing in filings.values()}
    catalog = CompanyCatalog(list(filings.values()))
    pages = PageCache(reader)
    given: list[RankedQuestion] = []
    end_to_end: list[RankedQuestion] = []
    for done, question in enumerate(questions):
        progress(done, len(questions))
        named = dict.fromkeys(evidence.doc_name for evidence in question.evidence if evidence.pages)
        gold = [filings[name] for name in named if name in filings]
        if not gold:
            continue
        group = catalog.companies[catalog.company_of_filing[gold[0].filing_id]].name
        query = await engine.roles.reader.read(question.question, Journal())
        chosen = await engine.roles.documents.documents(query, engine.settings.retrieval.k_documents, Journal())
        for into, documents in ((given, [Document(filing, 1.0) for filing in gold]), (end_to_end, list(chosen))):
            ranked = ranked_question(question, group, page_candidates(query, documents, pages, encoder), names)
            into.append(replace(ranked, qid=f"{source}:{ranked.qid}"))
    progress(len(questions), len(questions))
    return RankingData(tuple(given), tuple(end_to_end))


def save_ranking_data(path: Path, data: RankingData) -> None:
    """Save numbers only, without text of questions or filings; features as float16, compressed."""
    arrays: dict[str, Any] = {"feature_names": np.asarray(list(FEATURES))}
    for name, lists in (("given", data.given), ("end_to_end", data.end_to_end)):
        arrays[f"{name}_features"] = np.concatenate(
            [q.features for q in lists] or [np.zeros((0, len(FEATURES)))]
        ).astype(np.float16)
        records = [[q.qid, q.group, len(q.features), [sorted(rows) for rows in q.evidence]] for q in lists]
        arrays[f"{name}_questions"] = np.frombuffer(json.dumps(records).encode(), dtype=np.uint8)
    with path.open("wb") as file:
        np.savez_compressed(file, **arrays)


def load_ranking_data(path: Path) -> RankingData:
    """Load a file of ``save_ranking_data``. Raises UsageError for any other file, or one with other features."""
    with stored_arrays(path, "page model") as arrays:
        if arrays["feature_names"].tolist() != list(FEATURES):
            raise ValueError(f"its features are {', '.join(arrays['feature_names'].tolist())}")
        return RankingData(*(_lists(arrays, name) for name in ("given", "end_to_end")))


def _lists(arrays: np.lib.npyio.NpzFile, name: str) -> tuple[RankedQuestion, ...]:
    features = arrays[f"{name}_features"].astype(np.float64)
    result, start = [], 0
    for qid, group, count, evidence in json.loads(arrays[f"{name}_questions"].tobytes()):
        rows = features[start : start + count]
        result.append(RankedQuestion(qid, group, rows, tuple(map(frozenset, evidence))))
        start += count
    return tuple(result)
