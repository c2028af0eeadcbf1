from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from finray.core.filing import ParsedFiling
from finray.core.settings import FilingSettings
from finray.filings.read import parse_filing
from finray.lab.sample.generate import SampleSummary
from finray.lab.sample.questions import MAKERS

Line = dict[str, Any]
GoldPage = Callable[[Line], str]
MULTI_DOCUMENT = ("dividends_total", "percent_difference", "revenue_growth", "highest_of")
SCALES = (1, 1_000, 1_000_000)


def of_type(questions: list[Line], *kinds: str) -> list[Line]:
    return [line for line in questions if line["question_type"] in kinds]


def figures(text: str) -> list[float]:
    return [float(figure.replace(",", "")) for figure in re.findall(r"\d[\d,]*\.?\d*", text)]


def test_every_type_occurs_and_no_question_twice(questions: list[Line]) -> None:
    assert {line["question_type"] for line in questions} == set(MAKERS)
    assert len({line["question"] for line in questions}) == len(questions)
    assert len({line["qid"] for line in questions}) == len(questions)


def test_gold_pages_print_the_gold_evidence(questions: list[Line], gold_page: GoldPage) -> None:
    for line in questions:
        for gold in line["evidence"]:
            numbers = re.findall(r"\(?\d[\d,.]*", gold["text"])
            page = gold_page(gold)
            assert all(number.rstrip(".,") in page for number in numbers), line


def test_gold_text_answers_are_on_their_page(questions: list[Line], gold_page: GoldPage) -> None:
    for line in of_type(questions, "textual"):
        (gold,) = line["evidence"]
        assert line["answer"] in gold_page(gold)


def test_single_numbers_equal_the_printed_figure_times_its_scale(questions: list[Line]) -> None:
    for line in of_type(questions, "numeric_table", "numeric_quarter", "restated"):
        printed = figures(line["evidence"][0]["text"])
        assert any(abs(line["value"]) == number * scale for number in printed for scale in SCALES), line


def test_growth_follows_from_two_printed_figures(questions: list[Line]) -> None:
    for line in of_type(questions, "revenue_growth"):
        first, last = (figures(gold["text"]) for gold in line["evidence"])
        possible = [100 * (b / a - 1) for a in first for b in last]
        assert any(abs(line["value"] - each) < 1e-4 for each in possible), line
        assert abs(float(line["answer"].rstrip("%")) - line["value"]) < 0.051


def test_multi_document_questions_rest_on_several_filings(questions: list[Line]) -> None:
    for line in of_type(questions, *MULTI_DOCUMENT):
        assert len({gold["doc_name"] for gold in line["evidence"]}) >= 2


def read_all(summary: SampleSummary) -> list[ParsedFiling]:
    return [
        parse_filing(path.read_bytes(), path.as_posix(), FilingSettings())
        for path in (summary.folder / "filings").iterdir()
    ]


@pytest.mark.slow
def test_unanswerable_questions_name_what_no_filing_has(questions: list[Line], summary: SampleSummary) -> None:
    asked = of_type(questions, "unanswerable")
    assert {line["reason"] for line in asked} == {"company", "year", "metric"}
    filings = read_all(summary)
    text = "\n".join(" ".join(page.text.split()) for each in filings for page in each.pages).casefold()
    years = {each.filing.fiscal_year for each in filings}
    ends = {item.period_end.year for each in filings for item in each.line_items if item.period_end}
    for line in asked:
        assert line["answer"] is None and line["evidence"] == [] and line["value"] is None
        assert line["absent"].casefold() in line["question"].casefold()
        if line["reason"] == "year":
            # A retailer's fiscal year ends early in the next calendar year.
            year = int(line["absent"])
            assert year not in years and not {year, year + 1} <= ends
        else:
            assert line["absent"].casefold() not in text
