"""The questions that come with finray: readable, each with its evidence, no company in two files."""

from __future__ import annotations

from pathlib import Path

import pytest

from finray.batch.question_files import BadLine, read_questions
from finray.core.questions import Question
from finray.lab.evaluation.metrics import is_unanswerable

FOLDER = Path(__file__).parents[3] / "benchmarks" / "filing_questions"
SIZES = {"develop": 692, "validate": 400, "final": 484}


def questions(name: str) -> list[Question]:
    lines = list(read_questions(str(FOLDER / f"{name}.jsonl")))
    assert [line for line in lines if isinstance(line, BadLine)] == []
    return [line for line in lines if isinstance(line, Question)]


def company(doc_name: str) -> str:
    """The part of a file's name that its company's other filings share, except for two companies with two spellings."""
    start = doc_name.replace("-", "_").split("_")[0].lower()
    return {"adbe": "adobe", "amzn": "amazon", "ko": "cocacola", "wmt": "walmart"}.get(start, start)


@pytest.mark.parametrize("name", SIZES)
def test_every_question_has_its_answer_and_evidence(name: str) -> None:
    asked = questions(name)
    assert len({question.qid for question in asked}) == len(asked) == SIZES[name]
    for question in asked:
        assert question.answer, question.qid
        assert is_unanswerable(question) or question.evidence, question.qid
        assert question.value is None or question.unit, question.qid


def test_no_company_is_in_two_files() -> None:
    companies = [
        {company(evidence.doc_name) for question in questions(name) for evidence in question.evidence} for name in SIZES
    ]
    assert len(set().union(*companies)) == sum(map(len, companies))
