"""Answers computed from statements or quoted, asked through the whole local preset over the sample's books.

The expected figures are read off the printed statements of the sample (seed 7): Grevandor Systems reports in
thousands of dollars and Caldavale Outfitters has a fiscal year that ends in January.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from finray.core.predictions import Prediction

Ask = Callable[[str], Prediction]
REVENUE = {"Grevandor Systems": {2021: 1_340_090, 2022: 1_408_729, 2023: 1_410_756}}
OUTFITTERS = {2021: 1_726_934, 2022: 1_656_655, 2023: 1_785_976}


def pages(prediction: Prediction) -> set[tuple[str, int]]:
    return {(p.doc_name, p.page) for p in prediction.evidence}


def test_a_figure_comes_from_the_row_and_year_that_was_asked_for(ask: Ask) -> None:
    prediction = ask("What was Grevandor Systems' revenue in fiscal 2022?")
    assert (prediction.value, prediction.unit) == (1_408_729_000, "USD")
    assert prediction.answer == "$1,408.7 million (Grevandor Systems, Inc., FY2022)"
    assert pages(prediction) == {("grevandor-systems-2022-10k", 6)}
    assert "1,408,729" in prediction.evidence[0].text
    assert prediction.program is not None
    assert "revenue_fy2022 = 1,408,729,000" in prediction.program


@pytest.mark.parametrize(
    ("wish", "shown"),
    [
        ("in USD thousands", "$1,408,729 thousand"),
        ("in USD millions", "$1,408.7 million"),
        ("in USD billions", "$1.41 billion"),
    ],
)
def test_the_scale_that_was_asked_for(ask: Ask, wish: str, shown: str) -> None:
    assert shown in ask(f"What was Grevandor Systems' revenue in fiscal 2022 ({wish})?").answer


def test_growth(ask: Ask) -> None:
    prediction = ask("What was the percentage growth of Caldavale Outfitters' revenue from fiscal 2022 to fiscal 2023?")
    assert prediction.value == pytest.approx(100 * (OUTFITTERS[2023] / OUTFITTERS[2022] - 1))
    assert prediction.unit == "percent"


def test_change_in_dollars(ask: Ask) -> None:
    prediction = ask("By how much did Caldavale Outfitters' revenue change from fiscal 2021 to fiscal 2022?")
    assert prediction.value == 1000 * (OUTFITTERS[2022] - OUTFITTERS[2021])
    moved = OUTFITTERS[2022] / OUTFITTERS[2021] - 1
    assert prediction.answer.startswith(f"-$70.3 million, or {100 * moved:.1f}% (")


def test_change_of_which_the_unit_is_asked_for_is_not_in_percent_too(ask: Ask) -> None:
    prediction = ask("By how many dollars did Caldavale Outfitters' revenue fall from fiscal 2021 to fiscal 2022?")
    assert prediction.answer.startswith("a decrease of $70.3 million (")


def test_average_over_years(ask: Ask) -> None:
    prediction = ask("What was Caldavale Outfitters' average revenue from fiscal 2021 to fiscal 2023?")
    assert prediction.value == pytest.approx(1000 * sum(OUTFITTERS.values()) / 3)
    assert {name for name, _ in pages(prediction)} <= {f"caldavale-outfitters-{year}-10k" for year in OUTFITTERS}


def test_total_over_years(ask: Ask) -> None:
    prediction = ask("Add up the cash dividends that Caldavale Outfitters paid from fiscal 2021 through fiscal 2023.")
    assert prediction.value == 1000 * (27_411 + 29_212 + 30_979)


def test_compound_growth(ask: Ask) -> None:
    prediction = ask("What is the CAGR of Caldavale Outfitters' revenue from FY2021 to FY2023?")
    assert prediction.value == pytest.approx(100 * ((OUTFITTERS[2023] / OUTFITTERS[2021]) ** 0.5 - 1))


def test_difference_between_companies_names_both_figures(ask: Ask) -> None:
    prediction = ask("What is the difference in revenue between Grevandor Systems and Caldavale Outfitters in FY2022?")
    assert prediction.value == 1000 * (REVENUE["Grevandor Systems"][2022] - OUTFITTERS[2022])
    assert pages(prediction) == {("grevandor-systems-2022-10k", 6), ("caldavale-outfitters-2022-10k", 6)}
    assert "$1,408.7 million" in prediction.answer
    assert "$1,656.7 million" in prediction.answer


@pytest.mark.parametrize(("word", "winner"), [("highest", "Caldavale Outfitters"), ("lowest", "Grevandor Systems")])
def test_one_metric_of_the_company_that_leads_in_another(ask: Ask, word: str, winner: str) -> None:
    both = "Between Grevandor Systems and Caldavale Outfitters"
    prediction = ask(f"{both}, what is the net income of the company that has the {word} revenue in fiscal 2022?")
    own = ask(f"What was {winner}'s net income in fiscal 2022?")
    assert prediction.value == own.value
    assert prediction.answer.lower().startswith(winner.lower())
    assert {name for name, _ in pages(prediction)} == {"grevandor-systems-2022-10k", "caldavale-outfitters-2022-10k"}


@pytest.mark.parametrize(
    ("question", "start"),
    [
        ("Which company had the higher revenue in FY2022, Grevandor Systems or Caldavale Outfitters?", "Caldavale"),
        ("Which of Grevandor Systems and Caldavale Outfitters had the lower revenue in fiscal 2022?", "Grevandor"),
        ("In which year was Caldavale Outfitters' revenue higher, fiscal 2021 or fiscal 2022?", "FY 2021"),
        (
            "Did Grevandor Systems report higher revenue than Caldavale Outfitters in fiscal 2022?",
            "No: revenue of Grevandor Systems",
        ),
    ],
)
def test_who_or_when_is_answered_by_a_name(ask: Ask, question: str, start: str) -> None:
    prediction = ask(question)
    assert prediction.answer.lower().startswith(start.lower())
    assert len(prediction.operands) == 2
    assert prediction.grounded is True


def test_a_ratio_by_the_definition_in_the_question(ask: Ask) -> None:
    question = "What was Grevandor Systems' {} in FY2022?"
    parts = [ask(question.format(name)).value for name in ("cash from operations", "total current liabilities")]
    prediction = ask(
        "What is Grevandor Systems' fiscal 2022 operating cash flow ratio? It is defined as: cash from operations / "
        "total current liabilities. Round your answer to two decimals."
    )
    assert None not in parts
    assert prediction.value == round((parts[0] or 0) / (parts[1] or 1), 2)
    assert pages(prediction) == {("grevandor-systems-2022-10k", 7), ("grevandor-systems-2022-10k", 8)}


@pytest.mark.parametrize(
    ("question", "start"),
    [
        ("Did Caldavale Outfitters' revenue increase between FY2022 and FY2023?", "Yes: revenue rose from $1,656.7"),
        ("Did Caldavale Outfitters' revenue increase between FY2021 and FY2022?", "No: revenue fell from $1,726.9"),
        ("Did Caldavale Outfitters' revenue grow in FY2023?", "Yes: revenue rose from $1,656.7"),
        ("Did Caldavale Outfitters' revenue fall in FY2022?", "Yes: revenue fell from $1,726.9"),
        ("Was Grevandor Systems' net income positive in FY2022?", "Yes: net income was positive"),
        ("Was Grevandor Systems' net income negative in FY2022?", "No: net income was positive"),
    ],
)
def test_yes_or_no(ask: Ask, question: str, start: str) -> None:
    prediction = ask(question)
    assert prediction.answer.startswith(start)
    assert prediction.evidence


def test_without_a_period_the_latest_year_is_meant(ask: Ask) -> None:
    prediction = ask("What was Grevandor Systems' revenue?")
    assert prediction.value == 1000 * REVENUE["Grevandor Systems"][2023]
    assert {name for name, _ in pages(prediction)} == {"grevandor-systems-2023-10k"}
    assert "FY 2023" in prediction.answer


def test_every_operand_is_shown_with_its_cell(ask: Ask) -> None:
    prediction = ask("What was Caldavale Outfitters' net margin in fiscal 2022?")
    assert prediction.grounded is True
    for cell in prediction.operands:
        assert any(
            (p.doc_name, p.page) == (cell.doc_name, cell.page) and cell.text in p.text for p in prediction.evidence
        )
        assert prediction.program is not None
        assert f"“{cell.text}”, {cell.doc_name} p. {cell.page + 1}" in prediction.program


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("What was Zorblax Corporation's revenue in fiscal 2022?", "Zorblax Corporation"),
        ("Compare the FY2022 revenue of Grevandor Systems and Zorblax Corporation.", "Zorblax Corporation"),
        ("What was Grevandor Systems' revenue in fiscal 2012?", "Grevandor Systems for FY 2012"),
        ("What was Grevandor Systems' goodwill impairment in fiscal 2022?", "impairment"),
    ],
)
def test_a_refusal_names_what_is_missing(ask: Ask, question: str, named: str) -> None:
    prediction = ask(question)
    assert (prediction.status, prediction.value, prediction.evidence) == ("unanswerable", None, ())
    assert any(named in missing for missing in prediction.missing)
    assert named in prediction.answer


@pytest.mark.parametrize(
    "question",
    [
        "What was Grevandor Systems' adjusted EBITDA in fiscal 2022?",
        "What were wages as a percent of net sales of Caldavale Outfitters in fiscal 2022?",
        "What was Grevandor Systems' R&D expense excluding stock compensation in FY2022?",
        "What was Grevandor Systems' pro forma revenue in FY2022?",
        "What was the segment revenue of Caldavale Cloudworks in Europe in FY2022?",
    ],
)
def test_no_figure_is_computed_for_something_narrower_than_its_metric(ask: Ask, question: str) -> None:
    assert ask(question).program is None


@pytest.mark.parametrize(
    ("question", "quoted", "document"),
    [
        ("Where is the headquarters of Caldavale Outfitters located, according to its fiscal 2023 10-K?",
         "Worcester, Massachusetts", "caldavale-outfitters-2023-10k"),
        ("What agreement did Caldavale Cloudworks enter into on 2023-03-13?",
         "restated credit agreement", "caldavale-cloudworks-8k-2023-03-13"),
    ],
)  # fmt: skip
def test_what_is_no_figure_is_quoted_with_its_page(ask: Ask, question: str, quoted: str, document: str) -> None:
    prediction = ask(question)
    assert prediction.status == "answered"
    assert quoted in prediction.answer
    (evidence,) = prediction.evidence
    assert evidence.doc_name == document
    assert prediction.answer.endswith(f"({document}, p. {evidence.page + 1})")
    assert quoted in " ".join(evidence.text.split())


def test_a_figure_in_another_unit_than_the_one_asked_for_is_refused(ask: Ask) -> None:
    prediction = ask("What was Grevandor Systems' current ratio in fiscal 2022? Answer in USD millions.")
    assert prediction.status == "unanswerable" or prediction.value is None
    as_asked = ask("What was Grevandor Systems' current ratio in fiscal 2022? Answer in percent.")
    assert as_asked.unit == "percent"
    assert as_asked.answer.startswith("298.2% (Grevandor Systems, Inc.")
