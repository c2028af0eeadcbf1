"""LegalBench-RAG (Pipitone and Alami 2024, arXiv 2408.10343): queries and the spans of contracts that answer them.

Source: the download in the README of github.com/zeroentropy-ai/legalbenchrag: ``benchmarks/*.json`` and, beside that
folder, ``corpus/``: text files of contracts and policies (ContractNLI, CUAD, MAUD, PrivacyQA, each with its own
license). A snippet is a range of characters of one file. Index ``corpus/`` with ``collection.profile = "documents"``:
the evidence is the section of that index, and the characters in it; a snippet across sections is one entry for each.
A file whose name occurs in two folders is named by its id in the index.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import PurePosixPath

from finray.batch.question_files import BadLine
from finray.core.errors import QuestionError, SourceError
from finray.core.question_fields import excerpt, read_question
from finray.core.questions import GoldEvidence, Question
from finray.filings.documents import document_id, read_text, sections, spans_of
from finray.filings.read import doc_name
from finray.lab.datasets.records import (
    MAX_QUESTION_CHARACTERS,
    Numbered,
    Record,
    as_object,
    index_of,
    json_list,
    list_of,
    read_each,
    text_of,
)
from finray.storage.locations import exists, join, list_objects, normalize, read_bytes

WHERE = (
    "the README of github.com/zeroentropy-ai/legalbenchrag links the download: benchmarks/*.json, and beside "
    "that folder corpus/"
)
MINI = 194
"""Queries of each benchmark in LegalBench-RAG-mini (section 4.4): 776 of four."""

Read = Callable[[str], tuple[str, Sequence[str]]]
"""The name and the sections of a file of the corpus."""


def load(content: bytes, name: str) -> Iterator[Question | BadLine]:
    """The queries, numbered within their file: ``cuad-17``. Raises SourceError, also if there is no corpus."""
    return _load(content, name, lambda tests: tests)


def load_mini(content: bytes, name: str) -> Iterator[Question | BadLine]:
    """The queries of LegalBench-RAG-mini, with the numbers they have in the whole file."""
    return _load(content, name, mini)


def mini(tests: Sequence[Numbered]) -> list[Numbered]:
    """At most 194 tests, in the order of the authors' script: a random number seeded with the name of the file."""
    if len(tests) <= MINI:
        return list(tests)

    def draw(test: Numbered) -> float:
        try:
            path = text_of(as_object(list_of(as_object(test[1]), "snippets")[0]), "file_path")
        except (QuestionError, IndexError):
            return 1.0  # unusable: last
        return random.Random(path).random()

    return sorted(tests, key=draw)[:MINI]


def _load(
    content: bytes, name: str, chosen: Callable[[Sequence[Numbered]], Sequence[Numbered]]
) -> Iterator[Question | BadLine]:
    path = PurePosixPath(name.replace("\\", "/"))
    tests = chosen(list(json_list(content, name, "tests")))
    corpus = _corpus(name)
    yield from read_each(tests, lambda number, record: _question(path.stem, number, record, corpus))


def _corpus(name: str) -> Read:
    folder = normalize(name).rpartition("/")[0]
    place = join(folder.rpartition("/")[0], "corpus")
    if not exists(place):
        raise SourceError(
            f"no corpus at {place!r}, in whose files {name!r} marks its snippets; where to get it: {WHERE}"
        )

    names = Counter(doc_name(file.uri) for file in list_objects(place))

    @cache
    def read(path: str) -> tuple[str, Sequence[str]]:
        try:
            content = read_bytes(join(place, path))
            own = doc_name(path)
            return own if names[own] == 1 else document_id(content), sections(read_text(content))
        except SourceError as error:
            raise QuestionError(f"a snippet of {excerpt(path)!r}, which the corpus lacks: {error}") from error

    return read


def _question(stem: str, number: int, record: Record, corpus: Read) -> Question:
    snippets = [as_object(each) for each in list_of(record, "snippets")]
    return Question(
        qid=f"{stem}-{number}",
        question=read_question(record.get("query"), MAX_QUESTION_CHARACTERS),
        question_type=stem,
        evidence=tuple(gold for snippet in snippets for gold in _gold(snippet, corpus)),
        source="legalbench-rag",
    )


def _gold(snippet: Record, corpus: Read) -> Iterator[GoldEvidence]:
    path, span = text_of(snippet, "file_path"), list_of(snippet, "span")
    if "\0" in path or not {"", ".", ".."}.isdisjoint(path.replace("\\", "/").split("/")):
        raise QuestionError(f"'file_path' is {excerpt(path)!r}, not a file inside the corpus")
    if len(span) != 2:
        raise QuestionError(f"'span' has {len(span)} values, not a start and an end")
    start, end = (index_of({"span": each}, "span") for each in span)
    name, texts = corpus(path)
    parts = list(spans_of(texts, start, end))
    if not parts or end > sum(map(len, texts)):
        raise QuestionError(
            f"'span' {start} to {end} is none of {excerpt(path)!r}, {sum(map(len, texts)):,} characters"
        )
    for page, first, last in parts:
        yield GoldEvidence(name, page, texts[page][first:last], start=first, end=last)
