"""What a model spells out of a question, resolved against a catalog: names steer routing, nonsense is dropped."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.core.filing import Filing
from finray.core.journal import Journal
from finray.core.period import Period
from finray.core.query import Query
from finray.core.spelled import Spelled
from finray.question.companies.catalog import CompanyCatalog
from finray.question.rule_reader import RuleReader
from finray.question.spelled import resolved


def filing(name: str, cik: str, ticker: str = "", aliases: tuple[str, ...] = ()) -> Filing:
    return Filing(
        f"f{cik}", f"{name}_10K", "", "", name, "10-K", cik=cik, ticker=ticker, aliases=aliases, fiscal_year=2022
    )


CATALOG = CompanyCatalog(
    [
        filing("International Business Machines Corporation", "51143", "IBM"),
        filing("Meta Platforms, Inc.", "1326801", "META", ("Facebook, Inc.",)),
        filing("Block, Inc.", "1512673", "SQ"),
        filing("H&R Block, Inc.", "12659", "HRB"),
    ]
)
RULES = RuleReader(CATALOG, anywhere=True)


def read(question: str, spelled: Spelled, journal: Journal | None = None) -> Query:
    return resolved(question, spelled, RULES, journal or Journal())


def test_a_nickname_leads_to_the_company_that_the_model_spells_out() -> None:
    query = read(
        "How did Big Blue's top line do in '22?",
        Spelled("What was IBM's revenue in FY2022?", ("International Business Machines",), ("FY2022",), figure=True),
    )
    assert query.companies == ("cik51143",)
    assert query.periods == (Period(2022, "FY"),)
    assert query.metrics == ("revenue",)
    assert query.measures
    assert query.question == "How did Big Blue's top line do in '22?"
    assert query.text == "What was IBM's revenue in FY2022?"
    assert any(span.kind == "metric" and span.value == "revenue" for span in query.spans)


@pytest.mark.parametrize(
    "name",
    [
        "Meta Platforms",
        "META",
        "meta platforms, inc.",
        "Instagram (Meta Platforms)",
        "Facebook",
        "Meta, formerly Facebook",
    ],
)
def test_names_in_any_form_are_looked_up(name: str) -> None:
    assert read("What was its revenue?", Spelled("What was revenue?", (name,))).companies == ("cik1326801",)


def test_the_models_company_counts_more_than_a_word_that_looks_like_one() -> None:
    query = read(
        "At the tax preparer, what did Block Advisors earn?", Spelled("What did H&R Block earn?", ("H&R Block",))
    )
    assert query.companies == ("cik12659",)


def test_a_name_that_leads_nowhere_is_searched_for_in_all_filings() -> None:
    journal = Journal()
    query = read("What did Zorblax sell?", Spelled("What was the revenue of Zorblax?", ("Zorblax Corp",)), journal)
    assert (query.companies, query.unknown_companies, query.anywhere) == ((), ("Zorblax Corp",), True)
    assert any("Zorblax" in line for line in journal.lines)


def test_the_questions_own_words_help_if_the_model_names_a_stranger() -> None:
    query = read("What was IBM's revenue?", Spelled("What was revenue?", ("Big Blue Machines",)))
    assert query.companies == ("cik51143",)


@pytest.mark.parametrize(
    ("wordings", "periods"),
    [
        (("FY2021", "FY2022"), (Period(2021, "FY"), Period(2022, "FY"))),
        (("Q2 2023",), (Period(2023, "Q2"),)),
        (("six months ended June 30, 2023",), (Period(2023, None, dt.date(2023, 6, 30), 6),)),
        (("next year", "FY2022"), (Period(2022, "FY"),)),
    ],
)
def test_periods_are_parsed(wordings: tuple[str, ...], periods: tuple[Period, ...]) -> None:
    assert read("What was it?", Spelled("What was revenue?", periods=wordings)).periods == periods


def test_a_maturity_is_no_period() -> None:
    query = read("What is owed on IBM's 2027 notes?", Spelled("What is owed on the notes of IBM due 2027?", ("IBM",)))
    assert query.periods == ()


def test_a_report_is_of_the_period_that_the_model_names_even_if_it_looks_ahead() -> None:
    question = "What does IBM, in its report for 2022, expect to spend in 2023?"
    assert "looks_ahead" in RULES.understand(question, question).intents
    query = read(question, Spelled("What does IBM expect to spend in 2023?", ("IBM",), ("FY2022",)))
    assert query.periods == (Period(2022, "FY"),)
    assert "looks_ahead" not in query.intents


def test_a_form_in_the_question_counts_more_than_the_models() -> None:
    spelled = Spelled("What was revenue?", form="10-Q")
    assert read("What was revenue in the 10-K?", spelled).forms == ("10-K",)
    assert read("What was revenue?", spelled).forms == ("10-Q",)
    journal = Journal()
    assert read("What was revenue?", Spelled("What was revenue?", form="13-D"), journal).forms == ()
    assert any("13-D" in line for line in journal.lines)


def test_items_add_metrics_statements_and_search_words() -> None:
    query = read("How much on plants?", Spelled("How much was spent?", items=("capital expenditures",)))
    assert query.metrics == ("capex",)
    assert query.statements == ("cash_flow",)
    assert "capital expenditures" in query.terms


@pytest.mark.parametrize(
    ("operation", "figure", "has", "lacks"),
    [
        ("growth", True, {"growth", "change", "amount"}, {"words"}),
        ("average", True, {"average", "aggregate"}, {"words"}),
        ("", False, {"words"}, {"amount"}),
    ],
)
def test_operation_and_kind_of_answer(operation: str, figure: bool, has: set[str], lacks: set[str]) -> None:
    spelled = Spelled("What was revenue in FY2022?", operation=operation, figure=figure)  # type: ignore[arg-type]
    query = read("How about revenue?", spelled)
    assert has <= query.intents
    assert not lacks & query.intents
    assert bool(query.measures) is figure


WILD = st.text(alphabet=st.characters(codec="utf-8"), max_size=60)


@given(WILD, WILD, st.lists(WILD, max_size=4), st.lists(WILD, max_size=4), WILD, st.lists(WILD, max_size=4))
def test_no_text_breaks_the_resolution(
    question: str, text: str, companies: list[str], periods: list[str], form: str, items: list[str]
) -> None:
    query = read(question, Spelled(text, tuple(companies), tuple(periods), form, tuple(items)))
    assert set(query.companies) <= set(CATALOG.companies)
    assert all(query.text[span.start : span.end] for span in query.spans)
