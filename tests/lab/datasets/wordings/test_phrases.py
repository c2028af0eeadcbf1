"""Names of companies and periods in questions, and typing errors."""

from __future__ import annotations

import datetime as dt
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.core.filing import Filing
from finray.lab.datasets.wordings.patterns import load_wordings
from finray.lab.datasets.wordings.phrases import company_forms, misspelled, owner, period_noun, when
from finray.lab.datasets.xbrl.periods import Period

NINE = Period("year_to_date", 2025, 3, 9, dt.date(2025, 6, 28), 0)


@pytest.mark.parametrize(
    ("period", "form", "date", "noun"),
    [
        (NINE, "the {months} months ended {date}", "{mon} {day}, {cy}", "the nine months ended Jun 28, 2025"),
        (
            NINE,
            "fiscal {y} year-to-date at the end of Q{q}",
            "{m}/{day}/{cy}",
            "fiscal 2025 year-to-date at the end of Q3",
        ),
        (Period("quarter", 2025, 1, 3, dt.date(2024, 8, 31), 0), "Q{q} FY{yy}", "{cy}", "Q1 FY25"),
        (Period("year_end", 2009, 0, 0, dt.date(2009, 1, 3), 0), "{date}", "{cy}-{m:02}-{day:02}", "2009-01-03"),
    ],
)
def test_periods(period: Period, form: str, date: str, noun: str) -> None:
    assert period_noun(period, form, date) == noun


def test_prepositions() -> None:
    end = Period("year_end", 2024, 0, 0, dt.date(2024, 12, 31), 0)
    draws = [random.Random(seed) for seed in range(9)]
    assert {when(NINE, "9M", draw) for draw in draws} == {"in 9M", "for 9M"}
    assert {when(end, "June 30, 2024", draw) for draw in draws} == {"at June 30, 2024", "as of June 30, 2024"}
    assert {when(end, "the last day of FY24", draw) for draw in draws} == {"on the last day of FY24"}


def test_companies_with_and_without_a_known_exchange() -> None:
    wordings = load_wordings("develop")
    apple = Filing("1", "a", "a", "0", "APPLE INC.", "10-K", ticker="AAPL")
    assert set(company_forms(apple, wordings)) == {
        "Apple", "Apple Inc.", "Apple (ticker AAPL)", "NASDAQ: AAPL", "$AAPL", "AAPL",
    }  # fmt: skip
    acme = Filing("1", "a", "a", "0", "Acme Robotics Inc", "10-K", ticker="ACMR")
    assert "NASDAQ: ACMR" not in company_forms(acme, wordings)
    assert {"Acme Robotics", "$ACMR"} <= set(company_forms(acme, wordings))
    visa = Filing("1", "a", "a", "0", "VISA INC.", "10-K", ticker="V")
    assert "V" not in company_forms(visa, wordings)


def test_only_plain_names_have_a_possessive() -> None:
    assert owner("Acme Robotics") == "Acme Robotics'"
    assert owner("$AAPL") == "$AAPL's"
    assert owner("Apple (ticker AAPL)") is None
    assert owner("NASDAQ: AAPL") is None


@given(st.text(max_size=40), st.integers())
def test_a_typing_error_changes_one_word_a_little(text: str, seed: int) -> None:
    wrong = misspelled(text, random.Random(seed))
    assert abs(len(wrong) - len(text)) <= 1
    assert wrong.split(" ")[0][:1] == text.split(" ")[0][:1]


def test_a_typing_error_makes_no_other_company() -> None:
    wrong = {misspelled("Walmart", random.Random(seed)) for seed in range(60)}
    assert len(wrong) > 5 and "Walmart" not in wrong
    other = next(iter(wrong))
    spared = {misspelled("Walmart", random.Random(seed), {other}) for seed in range(60)}
    assert other not in spared
    assert misspelled("Visa", random.Random(0)) == "Visa"
