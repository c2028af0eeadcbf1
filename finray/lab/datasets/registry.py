"""The published data sets that finray reads, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from finray.batch.question_files import BadLine, parse_jsonl, parse_parquet
from finray.core.errors import SourceError, UsageError
from finray.core.questions import Question
from finray.lab.datasets import financebench, finqa, legalbench_rag, lofin, tatqa
from finray.lab.datasets.records import MAX_QUESTION_CHARACTERS
from finray.storage.locations import exists, read_bytes


@dataclass(frozen=True, slots=True)
class Dataset:
    """``load`` turns a file's bytes and name into questions and bad records; ``where`` is the source of the files."""

    load: Callable[[bytes, str], Iterator[Question | BadLine]]
    where: str


def _own(content: bytes, name: str) -> Iterator[Question | BadLine]:
    parse = parse_parquet if name.lower().endswith(".parquet") else parse_jsonl
    return parse(content, max_characters=MAX_QUESTION_CHARACTERS, name=name)


DATASETS = {
    "financebench": Dataset(financebench.load, financebench.WHERE),
    "finqa": Dataset(finqa.load, finqa.WHERE),
    "finray": Dataset(_own, "finray questions, finray sample, or your own: docs/formats.md describes the format"),
    "legalbench-rag": Dataset(legalbench_rag.load, legalbench_rag.WHERE),
    "legalbench-rag-mini": Dataset(legalbench_rag.load_mini, legalbench_rag.WHERE),
    "lofin": Dataset(lofin.load, lofin.WHERE),
    "tatqa": Dataset(tatqa.load, tatqa.WHERE),
}


def load_dataset(name: str, uri: str) -> Iterator[Question | BadLine]:
    """The questions of one file of the data set ``name``, and a BadLine for each record that cannot be used.

    Raises UsageError for an unknown name. Raises SourceError if the file is missing (the message names the source) or
    is another kind of file.
    """
    if name not in DATASETS:
        raise UsageError(f"unknown data set {name!r}; finray reads {', '.join(sorted(DATASETS))}")
    dataset = DATASETS[name]
    if not exists(uri):
        raise SourceError(f"nothing at {uri!r}; where to get {name}: {dataset.where}")
    return dataset.load(read_bytes(uri), uri)
