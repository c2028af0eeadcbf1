"""FinQA (Chen et al. 2021, arXiv 2109.00122): calculations over one page of an annual report.

Source: github.com/czyssrs/FinQA, folder ``dataset`` (``train.json``, ``dev.json``, ``test.json``); MIT. The data set is
its own corpus: each question includes the text and table of its page. The pages are FinTabNet's, from annual reports of
S&P 500 companies of 1999 to 2019; ``ETR/2016/page_23.pdf`` is page 23 of Entergy's for 2016. The evidence treats that
page as a document, ``ETR_2016_page_23``, page 0, with the gold sentences and table rows as text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from finray.batch.question_files import BadLine
from finray.core.errors import QuestionError
from finray.core.question_fields import read_answer, read_question, read_value
from finray.core.questions import GoldEvidence, Question
from finray.lab.datasets.records import (
    MAX_QUESTION_CHARACTERS,
    Record,
    as_object,
    json_list,
    optional_text,
    qid_of,
    read_each,
    text_of,
)

WHERE = "github.com/czyssrs/FinQA, folder dataset: train.json, dev.json, test.json (MIT)"

_PAGE = re.compile(r"\A(?P<page>[^\s]{1,120}?)(?:\.pdf)?-\d{1,6}\Z")


def load(content: bytes, name: str) -> Iterator[Question | BadLine]:
    """The questions; those of the private test set have no answer. Raises SourceError."""
    yield from read_each(json_list(content, name), _question)


def _question(_number: int, record: Record) -> Question:
    qid = qid_of(record, "id")
    page = _PAGE.match(qid)
    if page is None:
        raise QuestionError(f"'id' is {qid!r}, not like 'ETR/2016/page_23.pdf-2'")
    qa = as_object(record.get("qa"))
    gold = {} if qa.get("gold_inds") is None else as_object(qa["gold_inds"])
    text = "\n".join(text_of(gold, name) for name in gold) or None
    value = qa.get("exe_ans")
    answer = qa.get("answer")
    return Question(
        qid=qid,
        question=read_question(qa.get("question"), MAX_QUESTION_CHARACTERS),
        # A few records have a result but no written answer.
        answer=read_answer(value if answer in (None, "") else answer),
        evidence=(GoldEvidence(page["page"].replace("/", "_"), 0, text),),
        value=read_value(value),
        program=optional_text(qa, "program"),
    )
