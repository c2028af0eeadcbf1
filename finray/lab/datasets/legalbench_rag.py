"""LegalBench-RAG (Pipitone and Alami 2024, arXiv 2408.10343): queries and the spans of contracts that answer them.

Source: the download in the README of github.com/zeroentropy-ai/legalbenchrag: ``benchmarks/*.json`` and ``corpus/``,
text files of contracts and policies (ContractNLI, CUAD, MAUD, PrivacyQA, each with its own license). They are not SEC
filings and have no pages. The evidence is page 0 of the file's stem with the snippet as text, so document recall and
context overlap are meaningful, page recall is not.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from finray.batch.question_files import BadLine
from finray.core.question_fields import read_question
from finray.core.types import GoldEvidence, Question
from finray.filings.read import doc_name
from finray.lab.datasets.records import (
    MAX_QUESTION_CHARACTERS,
    Record,
    as_object,
    json_list,
    list_of,
    optional_text,
    read_each,
    text_of,
)

WHERE = "the README of github.com/zeroentropy-ai/legalbenchrag links the download: benchmarks/*.json and corpus/"


def load(content: bytes, name: str) -> Iterator[Question | BadLine]:
    """The queries, numbered within their file: ``cuad-17``. Raises SourceError."""
    stem = PurePosixPath(name.replace("\\", "/")).stem
    yield from read_each(json_list(content, name, "tests"), lambda number, record: _question(stem, number, record))


def _question(stem: str, number: int, record: Record) -> Question:
    snippets = [as_object(each) for each in list_of(record, "snippets")]
    return Question(
        qid=f"{stem}-{number}",
        question=read_question(record.get("query"), MAX_QUESTION_CHARACTERS),
        question_type=stem,
        evidence=tuple(
            GoldEvidence(doc_name(text_of(each, "file_path")), 0, optional_text(each, "answer")) for each in snippets
        ),
    )
