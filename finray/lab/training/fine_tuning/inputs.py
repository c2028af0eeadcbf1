"""Inputs of a training run: question files with their indexes, and TAT-QA files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from finray.batch.question_files import BadLine, read_questions
from finray.core.errors import UsageError
from finray.core.questions import Question
from finray.index.reading.reader import IndexReader
from finray.lab.training.fine_tuning.corpus import Corpus, UnitKind, joined
from finray.lab.training.fine_tuning.from_index import index_corpus
from finray.lab.training.fine_tuning.runs import Kind
from finray.lab.training.fine_tuning.tatqa import tatqa_corpus


def load_corpus(
    kind: Kind,
    questions: Sequence[str],
    indexes: Sequence[str],
    tatqa: Sequence[str],
    *,
    gold_tables: bool = False,
    titles: bool = False,
) -> Corpus:
    """All inputs as one corpus. The n-th question file belongs to the n-th index; a single index serves all files.
    ``gold_tables`` and ``titles`` are those of :func:`index_corpus`.

    Raises UsageError if their numbers do not match or no question can be used.
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
        asked, source = training_questions(uri), _source(uri, questions)
        corpora.append(index_corpus(reader, asked, units, source, gold_tables=gold_tables, titles=titles))
    corpora += [tatqa_corpus(uri, units) for uri in tatqa]
    return joined(corpora)


def training_questions(uri: str) -> list[Question]:
    """All questions of a file. Raises UsageError for a bad line, SourceError."""
    read = list(read_questions(uri))
    bad = [line for line in read if isinstance(line, BadLine)]
    if bad:
        raise UsageError(f"{uri!r} line {bad[0].line}: {bad[0].reason} ({len(bad)} bad lines; fix all for training)")
    return [line for line in read if isinstance(line, Question)]


def _source(uri: str, all_uris: Sequence[str]) -> str:
    stem = Path(uri).stem
    alike = [other for other in all_uris if Path(other).stem == stem]
    return stem if len(alike) == 1 else f"{Path(uri).parent.name}/{stem}"
