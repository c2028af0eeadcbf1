"""Words that are like the name of a company without being it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.core.filing import Filing
from finray.question.companies.alike_names import LEAST, AlikeNames
from finray.question.companies.catalog import CompanyCatalog


def filing(name: str, ticker: str | None) -> Filing:
    return Filing(name, name, "", "", name, "10-K", ticker=ticker)


NAMES = AlikeNames(
    CompanyCatalog(
        [filing("Grevandor Systems Inc", "GRVN"), filing("American Quill Co", "AQC"), filing("Best Inc", None)]
    )
)


@pytest.mark.parametrize("text", ["grvn fy22 leases", "what did grevandor sell?", "Grevandor's plants"])
def test_a_ticker_or_a_short_name_in_any_case_is_alike(text: str) -> None:
    assert NAMES.to("grevandor-systems", text) == 1.0
    assert NAMES.companies(text) == ("grevandor-systems",)


def test_a_misspelling_is_somewhat_alike() -> None:
    assert LEAST <= NAMES.to("grevandor-systems", "Grevnador's sales") < 1.0


def test_beginnings_of_words_are_an_abbreviation() -> None:
    assert NAMES.to("american-quill", "What did Amqui earn?") > 0.9


def test_companies_of_one_short_name_are_in_the_order_of_the_catalog() -> None:
    catalog = CompanyCatalog(
        [filing(f"Torvane {part} Inc", None) for part in ("Foods", "Steel", "Mills", "Rail", "Air")]
    )
    assert AlikeNames(catalog).companies("torvane") == tuple(catalog.companies)


def test_common_words_are_like_no_name() -> None:
    assert NAMES.companies("what was the best year of sales?") == ()


@given(st.text())
def test_any_text_is_compared(text: str) -> None:
    assert 0.0 <= NAMES.to("grevandor-systems", text) <= 1.0
