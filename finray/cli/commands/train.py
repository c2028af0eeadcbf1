"""``finray train ...`` and jobs/train_*.py: fine-tune the page scorer and the reranker, and measure what they add."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console

from finray.batch.question_files import BadLine, read_questions
from finray.cli.commands.progress import progress_bar
from finray.core.errors import UsageError
from finray.core.settings import Settings
from finray.core.types import Question
from finray.index.reader import IndexReader
from finray.lab.evaluation.text_tables import TextTable
from finray.lab.training.corpus import Corpus, UnitKind, joined
from finray.lab.training.from_index import index_corpus
from finray.lab.training.options import Hyperparameters, Machine
from finray.lab.training.runs import Kind, Reports, Run, train_folds, train_model
from finray.lab.training.tatqa import tatqa_corpus
from finray.lab.training.trainer import Report, is_main_process
from finray.storage.locations import is_s3


def run_train(
    kind: Kind,
    questions: Sequence[str],
    indexes: Sequence[str],
    tatqa: Sequence[str],
    out_folder: str,
    options: Hyperparameters,
    machine: Machine,
    *,
    hold_out: float,
    folds: int,
    candidates: int,
    most: int,
    dry_run: bool,
    as_json: bool,
    out: Console,
) -> int:
    """Read the data, train, show the held-out figures."""
    if is_s3(out_folder):
        raise UsageError(f"--out {out_folder!r}: a model is trained into a local folder; copy it to S3 afterwards")
    corpus = load_corpus(kind, questions, indexes, tatqa)
    run = Run(kind, corpus, options, machine, (*questions, *tatqa), candidates, most)
    if is_main_process():
        _say(out, as_json, _described(corpus))
    if dry_run:
        return 0
    with _reports() as reports:
        if folds:
            result = train_folds(run, Path(out_folder), folds, reports)
            by_source = result["held_out"]
        else:
            result = train_model(run, Path(out_folder), hold_out, reports)
            by_source = result["held_out"]["by_source"] if result else {}
    if not is_main_process():
        return 0
    if as_json:
        sys.stdout.write(json.dumps(result) + "\n")
    else:
        for source, figures in by_source.items():
            out.print(_held_out_table(source, figures))
        out.print(f"{'folds' if folds else 'model'} in {out_folder}", highlight=False, markup=False, soft_wrap=True)
    return 0


def run_gain(
    models: str,
    questions: str,
    index: str,
    settings: Settings,
    machine: Machine,
    *,
    candidates: int,
    as_json: bool,
    out: Console,
) -> int:
    """Rerank what the pipeline retrieves with a trained model, and compare."""
    from finray.engine import open_engine
    from finray.lab.training.gain import measure_gain

    engine = open_engine(index, settings)
    with progress_bar(Console(stderr=True), "reranking") as report:
        result = measure_gain(engine, _questions(questions), Path(models), candidates, machine, report)
    if as_json:
        sys.stdout.write(json.dumps(result) + "\n")
    else:
        out.print(_gain_table(result))
    return 0


def load_corpus(kind: Kind, questions: Sequence[str], indexes: Sequence[str], tatqa: Sequence[str]) -> Corpus:
    """All inputs as one corpus; the n-th question file goes with the n-th index, or all with the only one.

    Raises UsageError where they do not match, and where they hold nothing to learn from.
    """
    if not questions and not tatqa:
        raise UsageError("nothing to learn from: give --questions with --index, or --tatqa")
    if len(indexes) not in (len(questions), 1 if questions else 0):
        raise UsageError(
            f"{len(questions)} --questions and {len(indexes)} --index: give one index for all, or one each"
        )
    units: UnitKind = "pages" if kind == "page-scorer" else "passages"
    corpora = []
    for number, uri in enumerate(questions):
        reader = IndexReader.open(indexes[number % len(indexes)])
        corpora.append(index_corpus(reader, _questions(uri), units, source=_source(uri, questions)))
    corpora += [tatqa_corpus(uri, units) for uri in tatqa]
    return joined(corpora)


def _questions(uri: str) -> list[Question]:
    read = list(read_questions(uri))
    bad = [line for line in read if isinstance(line, BadLine)]
    if bad:
        raise UsageError(f"{uri!r} line {bad[0].line}: {bad[0].reason} ({len(bad)} bad lines; training needs all good)")
    return [line for line in read if isinstance(line, Question)]


def _source(uri: str, all_uris: Sequence[str]) -> str:
    stem = Path(uri).stem
    alike = [other for other in all_uris if Path(other).stem == stem]
    return stem if len(alike) == 1 else f"{Path(uri).parent.name}/{stem}"


@contextmanager
def _reports() -> Iterator[Reports]:
    """Makes one progress report after another; each ends where the next begins."""
    console = Console(stderr=True)
    with ExitStack() as current:

        def named(what: str) -> Report:
            current.close()
            return current.enter_context(progress_bar(console, what))

        yield named


def _described(corpus: Corpus) -> str:
    sources = sorted({question.source for question in corpus.questions})
    parts = []
    for source in sources:
        own = [question for question in corpus.questions if question.source == source]
        documents = {document for question in own for document in question.documents}
        parts.append(f"{source}: {len(own):,} questions on {len(documents):,} documents")
    reasons: dict[str, int] = {}
    for left in corpus.left_out:
        reasons[left.reason] = reasons.get(left.reason, 0) + 1
    parts += [f"left out: {count:,}, {reason}" for reason, count in sorted(reasons.items())]
    return "\n".join(parts)


def _say(out: Console, as_json: bool, text: str) -> None:
    console = Console(stderr=True) if as_json else out
    console.print(text, highlight=False, markup=False, soft_wrap=True)


def _held_out_table(source: str, figures: Mapping[str, Any]) -> TextTable:
    metrics = list(next(iter(figures["figures"].values())))
    rows = [(name, *(_interval(values[metric]) for metric in metrics)) for name, values in figures["figures"].items()]
    rows += [
        (f"trained - {name}", *(_interval(values[metric], "+") for metric in metrics))
        for name, values in figures["trained_minus"].items()
    ]
    return TextTable(f"{source}, n = {figures['n']}", ("held out", *metrics), rows)


def _gain_table(result: Mapping[str, Any]) -> TextTable:
    ks = list(result["page_recall"]["pipeline"])
    title = f"page recall, n = {result['n']} ({result['learned_from']} left out: the model has learned from them)"
    rows = [(name, *(_interval(values[k]) for k in ks)) for name, values in result["page_recall"].items()]
    rows += [
        (f"{name} - pipeline", *(_interval(values[k], "+") if k in values else "" for k in ks))
        for name, values in result["minus_pipeline"].items()
    ]
    return TextTable(title, ("order", *(f"@{k}" for k in ks)), rows)


def _interval(value: Mapping[str, Any], sign: str = "") -> str:
    return f"{value['value']:{sign}.3f} [{value['low']:{sign}.3f}, {value['high']:{sign}.3f}]"
