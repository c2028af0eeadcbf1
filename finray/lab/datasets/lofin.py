"""LOFin (Choe et al. 2025, arXiv 2505.20368): the benchmark of HiREC, over 145,897 SEC filings.

Source: github.com/deep-over/LOFin-bench-HiREC. The test sets (``numeric_table``, ``numeric_text``, ``textual``, each a
``test.jsonl``) are encrypted; its data/README.md shows how to download and decrypt them. The filings are PDF files
named ``TICKER_PERIOD_TYPE.pdf`` on the drive linked in its README; their stems are the evidence's ``doc_name``.
``page_num`` counts PDF pages from 0. The question's ``source`` is a field of the record, or follows from its id.
"""

from __future__ import annotations

import re
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
    qid_of,
    read_each,
    text_of,
)

WHERE = (
    "github.com/deep-over/LOFin-bench-HiREC: data/README.md shows how to decrypt the test sets, the README links the "
    "PDF filings"
)
SUBSETS = ("numeric_table", "numeric_text", "textual")
SOURCES = ("finqa", "financebench", "secqa")
_SOURCE_FIELDS = ("source", "data_source", "dataset")
_FINQA_PAGE = re.compile(r"[A-Za-z.\-]{1,8}/(?:19|20)\d\d/page_\d")
_PDF = re.compile(r"\.pdf\Z", re.IGNORECASE)


def load(content: bytes, name: str) -> Iterator[Question | BadLine]:
    """The questions. ``question_type`` is the subset in the file's path, if any."""
    subset = next((subset for subset in SUBSETS if subset in name), None)
    yield from read_each(json_lines(content), lambda _, record: _question(record, subset))


def _question(record: Record, subset: str | None) -> Question:
    return Question(
        qid=qid_of(record, "qid"),
        question=read_question(record.get("question"), MAX_QUESTION_CHARACTERS),
        answer=read_answer(record.get("answer")),
        question_type=subset,
        evidence=tuple(_gold(as_object(each)) for each in list_of(record, "evidences")),
        source=_source(record),
    )


def _source(record: Record) -> str | None:
    """``finqa``, ``financebench`` or ``secqa``, by a field of the record or its id; None if unknown."""
    named = next((record[name] for name in _SOURCE_FIELDS if isinstance(record.get(name), str)), "")
    for text in (named, str(record.get("qid", ""))):
        plain = re.sub(r"[\W_]+", "", text.lower())
        found = next((source for source in SOURCES if source in plain), None)
        if found is not None or _FINQA_PAGE.match(text):
            return found or "finqa"
    return None


def _gold(entry: Record) -> GoldEvidence:
    return GoldEvidence(_PDF.sub("", text_of(entry, "doc_name")), index_of(entry, "page_num"))
