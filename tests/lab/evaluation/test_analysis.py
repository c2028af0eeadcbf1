"""Breakdowns, the worst questions, and the whole as data."""

from __future__ import annotations

import json

from finray.core.filing import Filing
from finray.core.passages import Passage
from finray.core.predictions import Prediction
from finray.core.questions import GoldEvidence, Question
from finray.lab.evaluation.analysis import Analysis, analyze, as_data, worst_cases
from finray.lab.evaluation.known_filings import KnownFilings

KNOWN = KnownFilings([Filing("A", "A", "", "", "Acme Inc.", "10-K"), Filing("B", "B", "", "", "Bolt Inc.", "10-Q")])


def question(qid: str, *docs: str, kind: str | None = "numeric") -> Question:
    return Question(qid, f"{qid}?", "5", kind, tuple(GoldEvidence(doc, 1) for doc in docs))


def prediction(qid: str, doc: str, page: int, answer: str = "5") -> Prediction:
    return Prediction(qid, f"{qid}?", answer, "answered", passages=(Passage(doc, doc, page, 0, 1, "x", 1.0),))


QUESTIONS = [
    question("right", "A"),
    question("page", "A"),
    question("filing", "B", kind=None),
    question("both", "A", "B"),
    question("gone", "C"),
    question("unasked", "A"),
    Question("bare", "bare?", "5"),
]
PREDICTIONS = [
    prediction("right", "A", 1),
    prediction("page", "A", 2, "7"),
    prediction("filing", "A", 1, "7"),
    prediction("both", "B", 1, "7"),
    prediction("gone", "A", 1, "7"),
    prediction("bare", "A", 1),
]


def analyzed() -> Analysis:
    return analyze(PREDICTIONS, QUESTIONS, KNOWN)


def test_groups_by_type_form_and_company() -> None:
    groups = analyzed().breakdowns
    sizes = {dimension: {name: rows["page_recall@1"].n for name, rows in g.items() if "page_recall@1" in rows}
             for dimension, g in groups.items()}  # fmt: skip
    assert sizes == {
        "question type": {"(none)": 1, "numeric": 4},
        "form": {"10-K": 3, "10-Q": 2, "(unknown)": 1},
        "company": {"Acme Inc.": 3, "Bolt Inc.": 2, "(unknown)": 1},
    }
    assert groups["company"]["Acme Inc."]["page_recall@1"].value == 0.5
    assert list(groups["form"])[-1] == "(unknown)"


def test_the_worst_come_first_and_the_right_never() -> None:
    cases = analyzed().cases
    assert [case.question.qid for case in worst_cases(cases, 10)] == ["filing", "gone", "page", "both"]
    assert [case.question.qid for case in worst_cases(cases, 1)] == ["filing"]
    assert worst_cases(cases, 0) == []


def test_everything_is_data() -> None:
    data = json.loads(json.dumps(as_data(analyzed()), allow_nan=False))
    assert data["questions"] == 6
    errors = {"right": 2, "wrong answer": 1, "wrong page": 1, "wrong filing": 1, "wrong company": 1}
    assert data["errors"] == errors
    assert data["over_k"]["page_recall"]["1"]["n"] == 5
    assert data["cases"]["page"]["error"] == "wrong page"
    assert data["levels"]["1"]["gold page"] == 2


def test_nothing_to_analyze() -> None:
    analysis = analyze([], QUESTIONS, KNOWN)
    assert analysis.cases == ()
    assert json.loads(json.dumps(as_data(analysis), allow_nan=False))["errors"] == {}
