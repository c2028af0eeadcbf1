"""The first stage that went wrong, and how near retrieval came."""

from __future__ import annotations

from dataclasses import replace

import pytest

from finray.core.filing import Filing
from finray.core.passages import Passage
from finray.core.predictions import Prediction, Status
from finray.core.questions import GoldEvidence, Question
from finray.lab.evaluation.errors import counted_errors, error_of, level, levels
from finray.lab.evaluation.evaluate import score
from finray.lab.evaluation.known_filings import KnownFilings

KNOWN = KnownFilings(
    Filing(name, name, "", "", company, "10-K")
    for name, company in [("A22", "Acme Inc."), ("A23", "Acme Inc."), ("B22", "Bolt Inc."), ("odd", "")]
)
GOLD = (GoldEvidence("A22", 3),)


def passages(*places: str) -> tuple[Passage, ...]:
    split = [place.split(":") for place in places]
    return tuple(Passage(doc, doc, int(page), 0, 1, "x", 1.0) for doc, page in split)


def answered(*places: str, answer: str = "5", status: Status = "answered") -> Prediction:
    return Prediction("q", "q?", answer, status, passages=passages(*places))


def error(question: Question, prediction: Prediction) -> str:
    return error_of(question, prediction, score(question, prediction), KNOWN)


@pytest.mark.parametrize(
    ("places", "expected"),
    [
        (("B22:1", "A22:3"), "gold page"),
        (("A22:4", "B22:3"), "right filing, other page"),
        (("A23:3", "B22:3"), "right company, other filing"),
        (("B22:3",), "other company"),
        (("B22:3", "odd:1"), "other filing, company unknown"),
        (("elsewhere:3",), "other filing, company unknown"),
        ((), "nothing"),
    ],
)
def test_levels(places: tuple[str, ...], expected: str) -> None:
    assert level(passages(*places), GOLD, KNOWN) == expected


def test_a_gold_filing_outside_the_index_has_no_company() -> None:
    assert level(passages("B22:3"), (GoldEvidence("gone", 1),), KNOWN) == "other filing, company unknown"


@pytest.mark.parametrize(
    ("prediction", "expected"),
    [
        (answered("B22:1"), "right"),
        (answered("A22:3", answer="7"), "wrong answer"),
        (answered("A22:3", status="unanswerable"), "refused"),
        (answered("A22:1", status="unanswerable"), "wrong page"),
        (answered("A23:3", answer="7"), "wrong filing"),
        (answered("B22:3", answer="7"), "wrong company"),
        (answered("odd:3", answer="7"), "wrong filing"),
        (answered(answer="7"), "wrong filing"),
        (replace(answered("A22:3"), status="error"), "failed"),
    ],
)
def test_the_first_stage_that_failed_is_blamed(prediction: Prediction, expected: str) -> None:
    assert error(Question("q", "q?", "5", "numeric", GOLD), prediction) == expected


def test_questions_without_gold_pages() -> None:
    question = Question("q", "q?", "5")
    assert error(question, answered()) == "right"
    assert error(question, answered(answer="7")) == "wrong answer"
    assert error(question, answered(status="unanswerable")) == "refused"
    assert error(replace(question, answer="It rose."), answered()) == "not judged"


def test_questions_without_an_answer() -> None:
    question = Question("q", "q?", None, "unanswerable_company")
    assert error(question, answered(status="unanswerable")) == "right"
    assert error(question, answered("A22:3")) == "invented"


def test_counts_leave_out_what_did_not_occur() -> None:
    pair = (Question("q", "q?", evidence=GOLD), answered("A22:4", "A22:3"))
    assert levels([pair, (Question("r", "r?"), pair[1])], KNOWN, ks=(1, 2)) == {
        1: {"right filing, other page": 1},
        2: {"gold page": 1},
    }
    assert counted_errors(["failed", "right", "failed"]) == {"right": 1, "failed": 2}
