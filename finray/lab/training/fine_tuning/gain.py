"""Measures the gain of a trained model that reranks the pages of the pipeline.

It compares three orders of the same pages: the pipeline's, the model's, and both fused by reciprocal ranks (k = 60,
Cormack et al. 2009), which needs no tuning. Each question is scored by the model of the fold that held it out.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from finray.core.bootstrap import estimate, paired_difference
from finray.core.errors import UsageError
from finray.core.journal import Journal
from finray.core.passages import Passage
from finray.core.questions import Question
from finray.engine import Engine
from finray.lab.evaluation.metrics import page_recall
from finray.lab.training.fine_tuning.checkpoints import RECORD
from finray.lab.training.fine_tuning.heldout import Scorer
from finray.lab.training.fine_tuning.options import Hyperparameters, Machine
from finray.lab.training.fine_tuning.page_scorer import PageScorer
from finray.lab.training.fine_tuning.reranker import PassageScorer
from finray.lab.training.fine_tuning.similarity import best_first
from finray.lab.training.fine_tuning.trainer import Report
from finray.retrieval.fusion import fuse

KS = (1, 3, 5, 10)
_RRF = 60


def measure_gain(
    engine: Engine, questions: Sequence[Question], models: Path, candidates: int, machine: Machine, report: Report
) -> dict[str, Any]:
    """Page recall at 1, 3, 5 and 10 of the three orders, with 95% intervals and paired differences to the pipeline.

    ``models`` is the folder of one run, or of folds. Skips questions without evidence; skips and counts questions that
    all models were trained on. Raises UsageError if no question is left or ``models`` has no finished training.
    """
    records = model_records(models)
    scorers: dict[Path, Scorer] = {}
    rows: list[dict[str, Any]] = []
    learned = 0
    for done, question in enumerate(questions, start=1):
        report(done, len(questions), "")
        folder = _model_of(question.qid, records)
        if not question.evidence or folder is None:
            learned += folder is None
            continue
        if folder not in scorers:
            scorers[folder] = load_scorer(folder, records[folder], machine)
        rows.append(_row(engine, question, scorers[folder], records[folder]["kind"], candidates))
    if not rows:
        raise UsageError(f"no question is left to measure {str(models)!r} on: it was trained on {learned}")
    return {"n": len(rows), "learned_from": learned, "candidates": candidates, **_figures(rows)}


def model_records(models: Path) -> dict[Path, dict[str, Any]]:
    """The training record of the model in ``models``, or of each fold in it. Raises UsageError if there is none."""
    found = [models] if (models / RECORD).is_file() else sorted(p.parent for p in models.glob(f"fold-*/{RECORD}"))
    if not found:
        raise UsageError(f"no finished training in {str(models)!r}: {RECORD} is missing, also in folds")
    return {folder: json.loads((folder / RECORD).read_text(encoding="utf-8")) for folder in found}


def load_scorer(folder: Path, record: Mapping[str, Any], machine: Machine) -> Scorer:
    """The trained model as a scorer of texts. Raises ModelUnavailableError."""
    names = Hyperparameters.__dataclass_fields__
    options = Hyperparameters(**{name: value for name, value in record["identity"].items() if name in names})
    build = PassageScorer if record["kind"] == "reranker" else PageScorer
    return build(str(folder), options, machine)


def _model_of(qid: str, records: Mapping[Path, Mapping[str, Any]]) -> Path | None:
    """A model that held the question out or did not see it; None if all were trained on it."""
    held = [folder for folder, record in records.items() if qid in record["held_out_questions"]]
    if held:
        return held[0]
    unseen = [folder for folder, record in records.items() if qid not in record["learned_questions"]]
    return unseen[0] if unseen else None


def _row(engine: Engine, question: Question, scorer: Scorer, kind: str, candidates: int) -> dict[str, Any]:
    passages = asyncio.run(_retrieve(engine, question.question, candidates))
    texts = [p.text for p in passages] if kind == "reranker" else _page_texts(engine, passages)
    pipeline = list(range(len(passages)))
    model = best_first(scorer(question.question, texts)) if passages else pipeline
    orders = {"pipeline": pipeline, "model": model, "fused": fused_order([pipeline, model])}
    scores = {
        name: {k: page_recall([passages[i] for i in order[:k]], question.evidence) for k in (*KS, candidates)}
        for name, order in orders.items()
    }
    return {"qid": question.qid, "scores": scores}


async def _retrieve(engine: Engine, question: str, k: int) -> list[Passage]:
    roles, journal = engine.roles, Journal()
    query = await roles.reader.read(question, journal)
    documents = await roles.documents.documents(query, engine.settings.retrieval.k_documents, journal)
    return list(await roles.passages.passages(query, documents, k, journal))


def _page_texts(engine: Engine, passages: Sequence[Passage]) -> list[str]:
    table = engine.reader.pages({p.filing_id for p in passages}, ["filing_id", "page", "text"])
    texts = {(row["filing_id"], row["page"]): row["text"] for row in table.to_pylist()}
    return [texts[p.filing_id, p.page] for p in passages]


def fused_order(orders: Sequence[list[int]]) -> list[int]:
    """Positions by the sum of 1 / (60 + rank) over ``orders``, each of which has all positions, best first."""
    return [position for position, _ in fuse(orders, _RRF)]


def _figures(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    names = ("pipeline", "model", "fused")
    ks = list(rows[0]["scores"]["pipeline"])

    def values(name: str, k: int) -> list[float]:
        return [row["scores"][name][k] for row in rows]

    return {
        "page_recall": {name: {str(k): asdict(estimate(values(name, k))) for k in ks} for name in names},
        "minus_pipeline": {
            name: {str(k): asdict(paired_difference(values(name, k), values("pipeline", k))) for k in KS}
            for name in names[1:]
        },
        "questions": [{"qid": row["qid"]} | {name: row["scores"][name][5] for name in names} for row in rows],
    }
