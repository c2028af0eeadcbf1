from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from finray.core.questions import Question
from finray.core.settings import FilingSettings
from finray.lab.datasets.xbrl.generate import filing_questions, generate_questions
from finray.lab.datasets.xbrl.sources import ReadFilings, read_filings
from finray.lab.datasets.xbrl.tagged import TaggedFiling

Read = Callable[..., TaggedFiling]
Make = Callable[..., str]


@pytest.fixture(scope="module")
def sample(sample_folder: Path) -> ReadFilings:
    """The sample's filings of one company: two annual reports and two quarters."""
    found = sorted((sample_folder / "filings").glob("*-10[kq].*"))
    company = found[0].name.split("-20")[0]
    names = [f for f in found if f.name.startswith(company) and ("10k" in f.name or "q2-10q" in f.name)]
    return read_filings([str(path) for path in names[:4]], FilingSettings())


@pytest.mark.slow
def test_every_page_shows_what_its_question_needs(sample: ReadFilings) -> None:
    pages = {(t.filing.doc_name, page.page): page.text for t in sample.tagged for page in t.pages}
    questions = list(generate_questions(sample.tagged, per_filing=30, seed=1))
    assert len(questions) > 60
    for question in questions:
        assert question.answer and question.value is not None and question.unit and question.program
        for gold in question.evidence:
            assert gold.text is not None
            numbers = set(re.findall(r"\d[\d,.]*", gold.text))
            assert gold.page is not None
            assert numbers & set(re.findall(r"\d[\d,.]*", pages[gold.doc_name, gold.page])), question
            for other in gold.alternative_pages:
                assert numbers & set(re.findall(r"\d[\d,.]*", pages[gold.doc_name, other])), (question, other)


def test_the_same_seed_asks_the_same_and_another_does_not(sample: ReadFilings) -> None:
    first = list(generate_questions(sample.tagged, per_filing=12, seed=3))
    assert first == list(generate_questions(sample.tagged, per_filing=12, seed=3))
    other = list(generate_questions(sample.tagged, per_filing=12, seed=4))
    assert {q.question for q in first} != {q.question for q in other}
    assert len({q.qid for q in first}) == len(first) == len({q.question for q in first})


def test_at_most_per_filing(sample: ReadFilings) -> None:
    counts = Counter(q.evidence[0].doc_name for q in generate_questions(sample.tagged, per_filing=7, seed=0))
    assert set(counts.values()) == {7}


def income(row: Make, number: Make, *, total: str = "2,000") -> str:
    return "<p>CONSOLIDATED STATEMENTS OF INCOME</p><table>" + "".join(
        (
            row("", "2024", "2023"),
            row("Net sales", number("RevenueFromContractWithCustomerExcludingAssessedTax", "fy24", "1,900"),
                number("RevenueFromContractWithCustomerExcludingAssessedTax", "fy23", "1,500")),
            row("Total revenues", number("Revenues", "fy24", total), number("Revenues", "fy23", "1,600")),
            row("Operating income", number("OperatingIncomeLoss", "fy24", "500"),
                number("OperatingIncomeLoss", "fy23", "400")),
        )
    ) + "</table>"  # fmt: skip


def asked(tagged: TaggedFiling) -> list[Question]:
    return [q for seed in range(20) for q in filing_questions(tagged, count=30, seed=seed)]


def test_a_name_with_two_meanings_is_not_used(read: Read, row: Make, number: Make) -> None:
    questions = asked(read(income(row, number)))
    texts = [q.question for q in questions if "Revenue" in (q.program or "")]
    assert texts
    assert all(re.search("total revenue|net sales|top line", text) for text in texts), "plain revenue may be either"
    assert any("net sales" in q.question for q in questions)
    assert not any(q.question_type == "xbrl_ratio" for q in questions), "a margin over which of the two?"


def test_changes_and_ratios_are_exact(read: Read, row: Make, number: Make) -> None:
    questions = asked(read(income(row, number, total="1,900").replace("1,600", "1,500")))
    margins = {q.answer for q in questions if "operating margin" in q.question and "2024" in (q.program or "")
               and "2024-12-31" in (q.program or "")}  # fmt: skip
    assert margins == {"26.3%"}
    changes = {(q.answer, q.value) for q in questions
               if q.question_type == "xbrl_change" and "OperatingIncome" in (q.program or "")}  # fmt: skip
    assert changes == {("25.0%", 25.0)}
    differences = {q.answer for q in questions
                   if q.question_type == "xbrl_difference" and "OperatingIncome" in (q.program or "")}  # fmt: skip
    assert differences == {"$100 million"}


def test_segments_are_asked_by_their_printed_name(read: Read, row: Make, number: Make) -> None:
    table = f"<table>{row('North America', number('OperatingIncomeLoss', 'north24', '321'))}</table>"
    questions = [q for q in asked(read(f"<p>Segments</p>{table}")) if q.question_type == "xbrl_segment"]
    assert {q.answer for q in questions} == {"$321 million"}
    assert all("North America" in q.question for q in questions)


def test_a_month_is_not_asked_for(read: Read, number: Make) -> None:
    assert (
        asked(read(f"<p>In May we bought {number('StockRepurchasedDuringPeriodShares', 'may24', '1,500')}</p>")) == []
    )


def test_companies_go_by_full_name_short_name_and_ticker(read: Read, row: Make, number: Make) -> None:
    text = " ".join(q.question for q in asked(read(income(row, number))))
    assert {"Acme Robotics Inc", "Acme Robotics", "ACMR"} <= set(
        re.findall(r"Acme Robotics Inc|Acme Robotics|ACMR", text)
    )


def test_statements_are_seldom_named(sample: ReadFilings) -> None:
    questions = [
        q.question.lower() for seed in range(3) for q in generate_questions(sample.tagged, per_filing=30, seed=seed)
    ]
    named = sum("statement" in question or "balance sheet" in question for question in questions)
    assert 0 < named < 0.2 * len(questions)
