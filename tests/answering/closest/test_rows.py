"""Rows in place of a refusal: whole, with their heads, and without a stated value."""

from __future__ import annotations

import datetime as dt

import numpy as np

from finray.answering.closest.features import FEATURES, closest_candidates, shown_pieces
from finray.answering.closest.model import OF_QUESTION, SIGNALS, ClosestModel, question_signals, shipped_closest_model
from finray.answering.closest.rows import LEAD, ClosestRows
from finray.core.filing import Filing, LineItem, Page
from finray.core.journal import Journal
from finray.core.passages import Passage
from finray.core.predictions import Answer
from finray.core.query import Query
from finray.core.roles import Curation
from finray.index.reading.facts import FilingFacts
from finray.question.rule_reader import with_measures

TEXT = """Inventories
The company holds lanterns, wicks and oil in four warehouses near the coast of Dunhaven.
(in millions)
2022
2021
Lanterns
441
400
Wicks
37
35
Oil for lamps
12
11
Total inventories
490
446
"""


class _Facts(FilingFacts):
    def __init__(self) -> None:
        pass

    def filing(self, filing_id: str) -> Filing:
        return Filing(
            filing_id, "ACME", "", "", "Acme", "10-K", period_end=dt.date(2022, 12, 31), fiscal_year=2022,
            fiscal_period="FY",
        )  # fmt: skip

    def company_of(self, filing_id: str) -> str:
        return "acme"

    def has_company(self, company: str) -> bool:
        return False

    def pages(self, places: object) -> dict[tuple[str, int], Page]:
        return {("f", 0): Page(0, TEXT, headings="Inventories")}

    def line_items(self, filing_ids: object) -> dict[str, tuple[LineItem, ...]]:  # type: ignore[override]
        rows = [("Lanterns", 441, 400), ("Wicks", 37, 35), ("Oil for lamps", 12, 11), ("Total inventories", 490, 446)]
        return {
            "f": tuple(
                LineItem(
                    0, None, label, value * 1e6, str(value), "USD", 1_000_000, dt.date(2022 - column, 12, 31), 0,
                    row=row, column=column + 1,
                )
                for row, (label, *values) in enumerate(rows)
                for column, value in enumerate(values)
            )
        }  # fmt: skip


def passages() -> tuple[Passage, ...]:
    return (Passage("ACME", "f", 0, 0, len(TEXT), TEXT, 0.6),)


def model(constant: float) -> ClosestModel:
    weights = {"near": 4.0, "label": 2.0, "row": 1.0}
    answers = [constant if name == "constant" else 0.0 for name in SIGNALS]
    return ClosestModel(np.asarray([weights.get(name, 0.0) for name in FEATURES]), np.asarray(answers), 0.5)


REFUSAL = Answer.refused("the number of wicks")


def ask(question: str, constant: float = 2.0) -> Answer:
    query = with_measures(Query(question=question, text=question))
    curation = Curation(passages(), answerable=True)
    return ClosestRows(_Facts(), model(constant)).shown(REFUSAL, query, curation, Journal())


def test_the_refusal_stays_one_and_shows_rows_with_their_heads() -> None:
    answer = ask("How many wicks were in stock in 2022?")
    assert answer.closest
    assert (answer.status, answer.value, answer.confidence) == ("unanswerable", None, None)
    assert answer.missing == REFUSAL.missing
    assert answer.text.startswith(f"{REFUSAL.text}\n\n{LEAD}")
    assert "ACME, p. 1" in answer.text
    assert "Wicks" in answer.text
    assert "37" in answer.text
    assert "2022" in answer.text
    assert answer.evidence[0].page == 0


def test_unlikely_rows_are_not_shown() -> None:
    assert ask("How many wicks were in stock in 2022?", constant=-2.0) is REFUSAL


def test_a_question_without_a_common_word_has_no_rows() -> None:
    assert ask("zzz?") is REFUSAL


def test_the_best_row_shares_the_question_s_words() -> None:
    question = "What was the value of oil for lamps?"
    query = with_measures(Query(question=question, text=question))
    found = closest_candidates(query, passages(), _Facts())
    scores = np.asarray(found.features @ model(0.0).weights)
    best = shown_pieces(found, scores, 1, 0.0)[0]
    assert found.text(best).startswith("Oil for lamps")
    assert np.isfinite(found.features).all()
    assert len(question_signals(query)) == len(OF_QUESTION) - 1


def test_the_shipped_model_fits_this_version() -> None:
    shipped = shipped_closest_model()
    assert shipped.weights.shape == (len(FEATURES),)
    assert 0.0 < shipped.threshold < 1.0
