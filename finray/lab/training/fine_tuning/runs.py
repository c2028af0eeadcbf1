"""Training runs: a model with held-out metrics, or folds. Each has a folder that resumes and that settings can name."""

from __future__ import annotations

import json
import platform
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

from finray.core.errors import UsageError
from finray.lab.training.fine_tuning.checkpoints import RunFolder, write_json
from finray.lab.training.fine_tuning.corpus import Corpus, TrainingQuestion
from finray.lab.training.fine_tuning.folds import folds_by_document, held_out
from finray.lab.training.fine_tuning.heldout import HeldOut, Scorer, held_out_sample, score_held_out, summary
from finray.lab.training.fine_tuning.options import Hyperparameters, Machine
from finray.lab.training.fine_tuning.page_scorer import PageScorer, page_scorer_columns, page_scorer_task
from finray.lab.training.fine_tuning.reranker import PassageScorer, reranker_columns, reranker_task
from finray.lab.training.fine_tuning.trainer import Report, Task, fit, is_main_process
from finray.storage.atomic import replacing

Kind = Literal["page-scorer", "reranker"]
FOLDS = "folds.json"
_ROWS = "held_out.jsonl"
_PACKAGES = ("torch", "transformers", "sentence-transformers")


@dataclass(frozen=True)
class Run:
    """A training run without its split of questions. The held-out test has up to ``candidates`` similar texts for each
    question and ``most`` questions of each source. ``inputs`` names the data for the record."""

    kind: Kind
    corpus: Corpus
    options: Hyperparameters
    machine: Machine
    inputs: Sequence[str] = ()
    candidates: int = 50
    most: int = 200


Reports = Callable[[str], Report]
"""Starts a progress report with the given name."""


def train_model(run: Run, out: Path, share: float, reports: Reports) -> dict[str, Any]:
    """Train with ``share`` of the questions held out. Returns the record, which is also in ``out``/training.json.

    Returns the record of a finished run, and resumes an interrupted one. Raises UsageError.
    """
    learn, test = held_out(run.corpus.questions, share, run.options.seed)
    return _train(run, out, learn, test, {"held_out_share": share}, reports)


def train_folds(run: Run, out: Path, folds: int, reports: Reports) -> dict[str, Any]:
    """Train a model for each fold on the other folds, in ``out``/fold-1 and so on. Returns the pooled metrics.

    Each question is scored once, by a model that was not trained on its filings. Raises UsageError.
    """
    parts = folds_by_document(run.corpus.questions, folds, run.options.seed)
    rows: list[HeldOut] = []
    for number, test in enumerate(parts, start=1):
        learn = [question for part in parts if part is not test for question in part]
        folder = out / f"fold-{number}"
        _train(run, folder, learn, test, {"fold": f"{number} of {folds}"}, reports)
        if is_main_process():
            rows += read_rows(folder)
    result = {"kind": run.kind, "folds": folds, "n": len(rows), "held_out": summary(rows)}
    if is_main_process():
        write_json(out / FOLDS, result)
    return result


def read_rows(folder: Path) -> list[HeldOut]:
    """The held-out metrics of each question of a finished run."""
    lines = (folder / _ROWS).read_text(encoding="utf-8").splitlines()
    return [HeldOut(**json.loads(line)) for line in lines]


def _train(
    run: Run,
    out: Path,
    learn: Sequence[TrainingQuestion],
    test: Sequence[TrainingQuestion],
    split: Mapping[str, Any],
    reports: Reports,
) -> dict[str, Any]:
    folder = RunFolder(out)
    identity = {"kind": run.kind, "data": run.corpus.digest(), **run.options.as_dict(), **split}
    done = folder.finished(identity)
    if done is not None:
        return done
    columns, build = _examples(run, learn)
    examples = len(next(iter(columns.values())))
    if not examples:
        raise UsageError("no training example: no question has negatives; give filings of several pages")
    model, trained = fit(build, run.options, run.machine, folder, identity, reports(f"training {out.name}"))
    if not is_main_process():
        return {}
    model.save_pretrained(str(out), create_model_card=False)
    sample = held_out_sample(test, run.most, run.options.seed)
    rows = score_held_out(run.corpus, sample, _scorers(run, out, bool(sample)), run.candidates, reports("held out"))
    with replacing(out / _ROWS) as scratch:
        scratch.write_text("".join(json.dumps(asdict(row)) + "\n" for row in rows), encoding="utf-8")
    record = {
        "kind": run.kind,
        "identity": identity,
        "inputs": list(run.inputs),
        "questions": len(learn),
        "documents": len({document for question in learn for document in question.documents}),
        "examples": examples,
        "left_out": dict(sorted(Counter(left.reason for left in run.corpus.left_out).items())),
        "training": asdict(trained),
        "learned_questions": sorted(question.qid for question in learn),
        "held_out_questions": sorted(question.qid for question in test),
        "held_out": {"candidates": run.candidates, "by_source": summary(rows)},
        "versions": {"python": platform.python_version(), "finray": _version("finray")}
        | {name: _version(name) for name in _PACKAGES},
    }
    folder.finish(record)
    return record


def _examples(run: Run, learn: Sequence[TrainingQuestion]) -> tuple[dict[str, Any], Callable[[str], Task]]:
    if run.kind == "page-scorer":
        pages = page_scorer_columns(run.corpus, learn, run.options)
        return pages, lambda device: page_scorer_task(pages, run.options, device)
    pairs = reranker_columns(run.corpus, learn, run.options)
    return pairs, lambda device: reranker_task(pairs, run.options, device)


def _scorers(run: Run, out: Path, needed: bool) -> dict[str, Scorer]:
    """The trained model and, for the page scorer, the untrained one (a new cross-encoder's head is random)."""
    if not needed:
        return {}
    if run.kind == "reranker":
        return {"trained": PassageScorer(str(out), run.options, run.machine)}
    return {
        "trained": PageScorer(str(out), run.options, run.machine),
        "untrained": PageScorer(run.options.base, run.options, run.machine),
    }


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed as a package"  # the working directory of a Ray job
