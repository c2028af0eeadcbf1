"""SEC-QA's four templates over tagged facts of several reports."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from finray.core.settings import FilingSettings
from finray.lab.datasets.lofin_builder.secqa import Facts, annual_facts, secqa_questions
from finray.lab.datasets.xbrl.tagged import TaggedFiling, read_tagged_filing


@pytest.fixture(scope="module")
def reports(sample_folder: Path) -> list[TaggedFiling]:
    paths = sorted((sample_folder / "filings").glob("*-10k.htm"))
    return [read_tagged_filing(path.read_bytes(), str(path), FilingSettings()) for path in paths]


@pytest.fixture(scope="module")
def facts(reports: list[TaggedFiling]) -> Facts:
    return annual_facts(reports)


def test_a_year_s_value_is_that_of_its_own_report(facts: Facts) -> None:
    for metrics in facts.values.values():
        for year, shown in metrics["revenue"].items():
            assert shown.candidate.period.fiscal_year == year
            newest = max(each.tagged.filing.fiscal_year or 0 for each in metrics["revenue"].values())
            oldest = min(each.tagged.filing.fiscal_year or 0 for each in metrics["revenue"].values())
            assert oldest <= newest and shown.tagged.filing.fiscal_year == max(year, oldest)


def test_each_template_asks_with_an_exact_answer_and_all_its_pages(reports: list[TaggedFiling], facts: Facts) -> None:
    questions = secqa_questions(reports, most=12, seed=1)
    starts = {"How much common dividends", "What is the percentage", "What is", "Among"}
    assert all(any(question.question.startswith(start) for start in starts) for question in questions)
    by_kind = {question.question_type for question in questions}
    assert by_kind == {"secqa_dividends", "secqa_difference", "secqa_growth", "secqa_highest"}
    pages = {(tagged.filing.doc_name, page.page): page.text for tagged in reports for page in tagged.pages}
    for question in questions:
        assert question.value is not None and question.source == "secqa"
        assert all((gold.doc_name, gold.page) in pages for gold in question.evidence)
    assert sum(len({gold.doc_name for gold in question.evidence}) > 1 for question in questions) > len(questions) // 2
    assert secqa_questions(reports, most=12, seed=1) == questions


def test_the_arithmetic_by_hand(reports: list[TaggedFiling], facts: Facts) -> None:
    (first, *_), questions = sorted(facts.values), secqa_questions(reports, most=200, seed=0)
    revenue = facts.values[first]["revenue"]
    last = max(revenue)
    wanted = f"over the last 2-year period, from fiscal {last - 2} to fiscal {last}?"
    growth = next(q for q in questions if q.question.endswith(wanted) and first in q.question)
    exact = (revenue[last].value / revenue[last - 2].value - 1) * 100
    assert growth.value == pytest.approx(float(exact))
    assert {gold.doc_name for gold in growth.evidence} == {
        revenue[each].tagged.filing.doc_name for each in (last - 2, last)
    }
    paid = facts.values[first].get("PaymentsOfDividends") or facts.values[first].get("PaymentsOfDividendsCommonStock")
    if paid is not None:
        total = next(q for q in questions if f"{first} pay in the last 2 years, as of {max(paid)}" in q.question)
        assert Decimal(str(total.value)) == paid[max(paid)].value + paid[max(paid) - 1].value


def test_nothing_is_asked_without_tags() -> None:
    assert secqa_questions([], most=5, seed=0) == []


@pytest.mark.slow
@pytest.mark.shared
def test_real_reports(shared_data: Path) -> None:
    """Apple's dividends of fiscal 2022 to 2024 were 14,841, 15,025 and 15,234 million dollars."""
    paths = [shared_data / "edgar/html" / f"{name}.html" for name in ("aapl-10-k-2024-11-01", "nvda-10-k-2025-02-26")]
    filings = [read_tagged_filing(path.read_bytes(), str(path), FilingSettings()) for path in paths]
    questions = {question.question: question for question in secqa_questions(filings, most=500, seed=0)}
    paid = questions["How much common dividends did Apple pay in the last 3 years, as of 2024, in US dollars?"]
    assert (paid.answer, paid.value) == ("$45,100 million", 45_100e6)
    compared = [question for text, question in questions.items() if "Apple's" in text and "compared to" in text]
    assert all(len({gold.doc_name for gold in question.evidence}) == 2 for question in compared) and compared
