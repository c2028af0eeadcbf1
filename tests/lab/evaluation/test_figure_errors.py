"""Why a question for a figure failed, on one page of an invented filing."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest

from finray.core.filing import Filing, LineItem
from finray.core.passages import Passage
from finray.core.predictions import CitedCell, Prediction, Status
from finray.core.questions import GoldEvidence, Question
from finray.lab.evaluation.figure_error_report import as_data, markdown
from finray.lab.evaluation.figure_errors import FigureError, digits, figure_cases, gold_operands

PAGE = """Segment results
North 904 881
South 1,250 1,100
At year-end 2023 the company had about 5,120 employees in all of its offices.
Backlog 77 70"""


class Pages:
    """An index of one filing, "D", whose page 3 is PAGE; the row of the backlog is no line item."""

    def filings(self) -> list[Filing]:
        return [Filing("id", "D", "d.pdf", "0", "Acme", "10-K")]

    def line_items_of_page(self, filing_id: str, page: int) -> tuple[LineItem, ...]:
        rows = [("North", "904"), ("North", "881"), ("South", "1,250"), ("South", "1,100")]
        return tuple(
            LineItem(3, None, label, float(text.replace(",", "")) * 1e6, text, "USD", 10**6, dt.date(2023, 12, 31), 12)
            for label, text in rows
            if (filing_id, page) == ("id", 3)
        )

    def page_texts(self, pages: list[tuple[str, int]]) -> dict[tuple[str, int], str]:
        return {place: PAGE for place in pages if place == ("id", 3)}


def passage(page: int = 3, doc: str = "D") -> Passage:
    return Passage(doc, doc, page, 0, 5, "North", 1.0)


def question(answer: str, value: float, unit: str, row: str = "North 904 881", program: str | None = None) -> Question:
    return Question("q", "How much?", answer, "cell", (GoldEvidence("D", 3, row),), value, unit, program)


def prediction(
    value: float | None = None,
    unit: str | None = "USD",
    *,
    answer: str = "",
    refused: bool = False,
    passages: tuple[Passage, ...] = (passage(),),
    plan: int | None = None,
    cells: tuple[str, ...] = (),
) -> Prediction:
    trace = ("transform: read", *((f"curate: 0 of {plan} operands found on 0 pages",) if plan else ()))
    operands = tuple(CitedCell(f"x{text}", 0.0, "D", "id", 3, "North", text) for text in cells)
    status: Status = "unanswerable" if refused else "answered"
    return Prediction(
        "q", "How much?", answer, status, value, unit, passages=passages, trace=trace, operands=operands
    )  # fmt: skip


CELL = question("$904 million", 904e6, "USD")
RATIO = question("72.3%", 72.32, "percent", program="904/1250*100")
HEADS = question(
    "5,120 employees", 5120, "count", "At year-end 2023 the company had about 5,120 employees in all of its offices."
)


@pytest.mark.parametrize(
    ("asked", "given", "error"),
    [
        (CELL, prediction(904e6), "right figure"),
        (CELL, prediction(answer="North had $904 million"), "right in words"),
        (CELL, prediction(refused=True, passages=()), "refused before search"),
        (CELL, prediction(refused=True, passages=(passage(doc="E"),)), "wrong filing"),
        (CELL, prediction(refused=True, passages=(passage(page=9),)), "wrong page"),
        (CELL, prediction(refused=True), "parsed, no plan"),
        (CELL, prediction(refused=True, plan=1), "parsed, row not chosen"),
        (CELL, prediction(refused=True, plan=2), "parsed, other operation planned"),
        (CELL, prediction(904e3, cells=("904",)), "scale, unit or sign"),
        (CELL, prediction(-904e6, cells=("904",)), "scale, unit or sign"),
        (CELL, prediction(881e6, cells=("881",)), "other cell"),
        (CELL, prediction(23e6, cells=("904", "881")), "operation"),
        (question("904 sites", 904, "count"), prediction(refused=True), "parsed at another scale"),
        (question("$77 million", 77e6, "USD", "Backlog 77 70"), prediction(refused=True), "in a table, not parsed"),
        (question("$3 million", 3e6, "USD"), prediction(refused=True), "not printed"),
        (HEADS, prediction(refused=True), "in a sentence"),
        (RATIO, prediction(refused=True, plan=2), "parsed, row not chosen"),
        (RATIO, prediction(refused=True, plan=1), "parsed, other operation planned"),
        (RATIO, prediction(138.3, "percent", cells=("904", "1,250")), "operation"),
        (RATIO, prediction(80.1, "percent", cells=("881", "1,100")), "other cell"),
    ],
)
def test_the_first_stage_that_fails(asked: Question, given: Prediction, error: FigureError) -> None:
    (case,) = figure_cases([asked], [given], Pages())
    assert case.error == error


def test_questions_that_cannot_be_placed_are_left_out() -> None:
    words = Question("q", "Why?", "Because of the weather.", evidence=(GoldEvidence("D", 3),))
    unpaged = Question("q", "How much?", "5", evidence=(GoldEvidence("D"),))
    assert figure_cases([words, unpaged], [prediction()], Pages()) == []
    assert figure_cases([CELL], [], Pages()) == []


@pytest.mark.parametrize(
    ("program", "operands"),
    [
        ("904/1250*100", ("904", "125")),
        ("(742+701+696)/3*1000000", ("742", "701", "696")),
        ("432/1097*100-327/937*100", ("432", "1097", "327", "937")),
        ("1500000000-125000000", ("15", "125")),
        ("5", ()),
        (None, ()),
    ],
)
def test_operands_of_a_gold_program(program: str | None, operands: tuple[str, ...]) -> None:
    assert gold_operands(question("1", 1, "USD", program=program)) == operands


def test_tagged_facts_are_operands_by_their_line_items() -> None:
    fact = "us-gaap:Assets[2023-12-31]"
    program = f"({fact} / us-gaap:Revenues[2023-01-01..2023-12-31, acme:North] - 1) * 100"
    item = LineItem(
        3, None, "Total assets", 5e9, "5,000", "USD", 10**6, dt.date(2023, 12, 31), 0, concept="us-gaap:Assets"
    )
    asked = question("1%", 1, "percent", program=program)
    assert gold_operands(asked, [item]) == ("5", "us-gaap:Revenues[2023-01-01..2023-12-31, acme:North]")
    assert gold_operands(question("$5 billion", 5e9, "USD", program=fact), [item]) == ()


def test_digits_are_the_same_at_every_scale() -> None:
    assert {digits(Decimal(text)) for text in ("2826", "-2826000", "2.826", "0.02826")} == {"2826"}
    assert digits(Decimal(0)) == "0"


def test_counts_and_tables() -> None:
    cases = figure_cases([CELL], [prediction(refused=True, plan=1)], Pages())
    data = as_data(cases)
    assert data["errors"] == {"parsed, row not chosen": 1}
    assert data["by_kind"] == {"cell": {"parsed, row not chosen": 1}}
    assert data["cases"][0]["parsed"] is True
    assert "| parsed, row not chosen | 1 | 1.00 [1.00, 1.00] | 0 | 0 | 1 | 0 | 1 |" in markdown(cases)
