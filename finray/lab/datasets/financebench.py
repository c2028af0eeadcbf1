"""FinanceBench (Islam et al. 2023, arXiv 2311.11944): analysts' questions about filings.

Source: github.com/patronus-ai/financebench, ``data/financebench_open_source.jsonl``; CC BY-NC 4.0. The filings
are the PDF files of the same repository's folder ``pdfs``, whose stems are the ``doc_name`` of the evidence.
``evidence_page_num`` counts PDF pages from 0, as finray does.
"""

from __future__ import annotations

from collections.abc import Iterator

from finray.batch.question_files import BadLine
from finray.core.question_fields import read_answer, read_question
from finray.core.questions import GoldEvidence, Question
from finray.lab.datasets.records import (
    MAX_QUESTION_CHARACTERS,
    Record,
    as_object,
    index_of,
    json_lines,
    list_of,
    optional_text,
    qid_of,
    read_each,
    text_of,
)

WHERE = (
    "github.com/patronus-ai/financebench: data/financebench_open_source.jsonl, and the filings in pdfs/ (CC BY-NC 4.0)"
)


def load(content: bytes, _name: str) -> Iterator[Question | BadLine]:
    """The questions of the open-source file."""
    yield from read_each(json_lines(content), _question)


def _question(_number: int, record: Record) -> Question:
    return Question(
        qid=qid_of(record, "financebench_id"),
        question=read_question(record.get("question"), MAX_QUESTION_CHARACTERS),
        answer=read_answer(record.get("answer")),
        question_type=optional_text(record, "question_type"),
        evidence=tuple(_gold(as_object(each), record) for each in list_of(record, "evidence")),
    )


def _gold(entry: Record, record: Record) -> GoldEvidence:
    # The two releases use different keys, and a few entries name the filing only in the question.
    name = optional_text(entry, "doc_name") or optional_text(entry, "evidence_doc_name") or text_of(record, "doc_name")
    return GoldEvidence(name, index_of(entry, "evidence_page_num"), optional_text(entry, "evidence_text"))
