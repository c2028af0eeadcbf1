"""Constructed answers: each has the label that its making says."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from finray.core.questions import GoldEvidence, Question
from finray.lab.evaluation.judging.constructed import constructed_labels
from finray.lab.evaluation.judging.labels import LabeledAnswer
from finray.lab.evaluation.mentions import figures

MARGIN = Question(
    "m", "Did Acme's margin improve in FY2022?", "No, Acme's margin declined from 36.8% in FY2021 to 34.6% in FY2022.",
    evidence=(GoldEvidence("ACME_2022", 3),),
)  # fmt: skip
DEBT = Question("d", "What may Beta borrow as of May 26, 2023?", "Beta may borrow $8,400,000,000 in all.",
                evidence=(GoldEvidence("BETA_2023", 5),))  # fmt: skip
PLACES = Question("p", "Where does Acme operate?", "North America, Europe, Asia, Latin America, and Africa.")
QUESTIONS = [MARGIN, DEBT, PLACES]
COMPANIES = {"m": "Acme", "d": "Beta", "p": "Acme"}


def made(qid: str) -> dict[str, LabeledAnswer]:
    found = constructed_labels(QUESTIONS, companies=COMPANIES)
    return {one.kind: one for one in found if one.submission.qid.startswith(f"{qid}:")}


def test_each_kind_does_what_it_says() -> None:
    margin = {kind: one.submission.answer for kind, one in made("m").items()}
    assert margin["gold answer"] == MARGIN.answer
    assert "36.8 percent" in margin["reworded"]
    assert {n.face for n in figures(margin["number changed"])}.isdisjoint(n.face for n in figures(MARGIN.answer or ""))
    assert margin["opposite direction"].startswith("Yes, Acme's margin improved from 36.8%")
    assert "2022" not in margin["wrong year"]
    assert "Beta" in margin["wrong company"]
    assert "Acme" not in margin["wrong company"]
    assert margin["another question's answer"] in (DEBT.answer, PLACES.answer)
    assert made("p")["half of it"].submission.answer == "North America"
    assert "$8,400 million" in made("d")["reworded"].submission.answer
    assert made("d")["wrong year"].submission.answer.startswith("In FY20")


def test_labels_follow_the_kind() -> None:
    found = constructed_labels(QUESTIONS, companies=COMPANIES)
    assert {one.label for one in found if one.kind in ("gold answer", "reworded", "with more detail")} == {"correct"}
    assert {one.label for one in found if one.kind == "refusal"} == {"refused"}
    assert {one.label for one in found if one.kind in ("number changed", "wrong year", "half of it")} == {"incorrect"}
    assert len({one.submission.key for one in found}) == len(found)


def test_the_same_seed_makes_the_same() -> None:
    assert constructed_labels(QUESTIONS, seed=3) == constructed_labels(QUESTIONS, seed=3)
    assert constructed_labels(QUESTIONS, seed=3) != constructed_labels(QUESTIONS, seed=4)


def test_numbers_and_unanswerable_questions_are_left_out() -> None:
    assert constructed_labels([Question("n", "How much?", "5%"), Question("u", "?", "It rose.", "unanswerable")]) == []


@given(st.lists(st.text(min_size=1), min_size=1, max_size=3))
def test_any_gold_answer_will_do(golds: list[str]) -> None:
    questions = [Question(f"{n}", f"What of {gold} in 2020?", gold) for n, gold in enumerate(golds)]
    found = constructed_labels(questions, companies={"0": "Acme", "1": "Beta"})
    by_key = {one.submission.key: one.label for one in found}
    assert len(by_key) == len(found)
