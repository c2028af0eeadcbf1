"""Which questions ask for several figures, and what is to be said of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from finray.core.query import Query, Span
from finray.question.grids import GridQuestion, grid_question
from finray.question.periods.named import last_years_in, periods_in
from finray.question.rule_reader import plain_query, with_measures
from finray.question.wording import unexplained_words

NAMES = ("Acme", "Widget", "Zyx")


def query_of(text: str) -> Query:
    """``text`` as the rules read it over an index of the companies NAMES."""
    names = tuple(name for name in NAMES if name in text)
    query = plain_query(text)
    company = [Span("company", text.index(name), text.index(name) + len(name), name) for name in names]
    spans = [*company, *(span for span in query.spans if span.kind == "metric")]
    query = replace(query, companies=names, names=names, periods=periods_in(text), last_years=last_years_in(text))
    return with_measures(replace(query, unexplained=unexplained_words(text, spans)))


def grid(text: str, absent: Sequence[str] = ()) -> GridQuestion | None:
    return grid_question(query_of(text), absent, 2022)


@pytest.mark.parametrize(
    ("text", "verdict", "over", "years"),
    [
        ("What was Acme's revenue in each year from 2016 to 2019?", "list", "periods", [2016, 2017, 2018, 2019]),
        ("List Acme's inventories at the end of 2016, 2018 and 2019.", "list", "periods", [2016, 2018, 2019]),
        ("Acme's net income over the last three years", "list", "periods", [2020, 2021, 2022]),
        ("Compare Acme's and Widget's capex in 2020 and 2021", "compare", "companies", [2020, 2021]),
        ("Which of Acme, Widget and Zyx had the most inventories in 2020?", "best", "companies", [2020]),
        ("In which year between 2018 and 2021 was Acme's capex lowest?", "best", "periods", [2018, 2019, 2020, 2021]),
        ("Rank Acme, Widget and Zyx by total revenue in 2020", "rank", "companies", [2020]),
        ("Rank the years 2018 to 2020 by Acme's capex", "rank", "periods", [2018, 2019, 2020]),
        ("Whose inventories grew faster from 2019 to 2021, Acme's or Widget's?", "growth", "companies", [2019, 2021]),
        ("Did Acme's revenue rise every year between 2018 and 2021?", "steady", "periods", [2018, 2019, 2020, 2021]),
        ("Was Acme's capex higher than its dividends paid in 2021?", "compare", "items", [2021]),
        ("Acme's capex for every year since 2020", "list", "periods", [2020, 2021, 2022]),
        ("What were the highest and lowest revenues of Acme from 2020 to 2022?", "rank", "periods", [2020, 2021, 2022]),
        ("What were Acme's revenue and operating income in 2021?", "list", "periods", [2021]),
    ],
)
def test_what_a_grid_says_and_of_which_years(text: str, verdict: str, over: str, years: list[int]) -> None:
    asked = grid(text)
    assert asked is not None
    assert (asked.verdict, asked.over, [period.year for period in asked.periods]) == (verdict, over, years)


@pytest.mark.parametrize(
    "text",
    [
        "What was Acme's revenue in 2021?",
        "What was Acme's revenue in 2020 and 2021?",
        "What was the average revenue of Acme from 2018 to 2021?",
        "What was the CAGR of Acme's revenue from 2018 to 2021?",
        "By how much did Acme's revenue grow from 2018 to 2021?",
        "What is Acme's ratio of current assets to current liabilities in 2021?",
        "What is the total of Acme's dividends paid from 2018 to 2021?",
        "By what percentage did Acme's revenue exceed Widget's in 2021?",
        "How much higher was Acme's revenue than Widget's in 2021?",
        "Why did Acme's revenue rise in 2019, 2020 and 2021?",
        "What was Acme's revenue in Mexico in 2019, 2020 and 2021?",
    ],
)
def test_one_figure_or_a_narrower_one_is_no_grid_of_a_line_item(text: str) -> None:
    asked = grid(text)
    assert asked is None or asked.phrases


def test_the_largest_loss_is_the_lowest_income() -> None:
    largest, smallest = (
        grid(f"In which year from 2018 to 2021 had Acme its {word} net loss?") for word in ("largest", "least")
    )
    assert largest is not None and largest.lowest
    assert smallest is not None and not smallest.lowest


def test_growth_of_single_years_is_over_the_year_before() -> None:
    asked = grid("Compare the revenue growth of Acme and Widget in 2021.")
    assert asked is not None
    assert [formula.expression for formula in asked.formulas] == ["growth(prior(revenue), revenue)"]


def test_a_company_that_the_index_lacks_is_part_of_the_grid() -> None:
    asked = grid("What was the revenue of Acme and Boeing in 2020 and 2021?", ("Boeing",))
    assert asked is not None
    assert (asked.companies, asked.absent) == (("Acme",), ("Boeing",))
