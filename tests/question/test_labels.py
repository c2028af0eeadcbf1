"""Labels of the words of a question."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from finray.question.labels import labels


def test_every_kind_of_word_gets_a_label() -> None:
    text = "By what percent did net income on the 10-K income statement grow from FY2021 to FY2022, in USD millions?"
    found = {(span.kind, text[span.start : span.end]) for span in labels(text)}
    assert {
        ("metric", "net income"),
        ("statement", "income statement"),
        ("form", "10-K"),
        ("operator", "grow"),
        ("operator", "percent"),
        ("period", "FY2021 to FY2022"),
        ("unit", "in USD millions"),
    } <= found


@given(st.text(max_size=300))
def test_spans_lie_in_the_text(text: str) -> None:
    assert all(0 <= span.start < span.end <= len(text) for span in labels(text))
