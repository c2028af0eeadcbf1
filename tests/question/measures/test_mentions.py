from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.question.measures.mentions import mentions


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("What is the net income?", ["net_income"]),
        ("net income and total assets", ["net_income", "total_assets"]),
        ("NET  INCOME", ["net_income"]),
        ("free cash flows", ["free_cash_flow"]),
        ("free cash flow conversion", ["free_cash_flow_conversion"]),
        ("days-payable outstanding (DPO)", ["days_payable_outstanding", "days_payable_outstanding"]),
        ("capex and R&D", ["capex", "research_and_development"]),
        ("the revenues grew", ["revenue"]),
        ("an incoming tax", []),
        ("dividends per share", ["dividends_per_share"]),
        ("incomes of revenuers", []),
        ("net ſales, net ıncome", []),
    ],
)
def test_the_longest_name_counts_and_only_whole_words(text: str, keys: list[str]) -> None:
    assert [mention.value for mention in mentions(text)] == keys


@given(st.lists(st.sampled_from(["net income", "REVENUES", "ſ", "ı", "K", "s", "es", "-", "–", " ", "x"])).map("".join))
def test_spans_are_in_order_and_apart(text: str) -> None:
    last = 0
    for mention in mentions(text):
        assert last <= mention.start < mention.end <= len(text)
        last = mention.end
