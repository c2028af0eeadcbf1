"""Which numbers count as printed, at which scale."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.answering.grounding import ungrounded, ungrounded_text

TEXT = ("Revenue (in millions) $ 1,577.5 (200) 4.5%", "Shares outstanding 12,345,678; par value $.01; $0.62 a share")
QUESTION = "What was the margin of FY2021 at a tax rate of 21%?"


@pytest.mark.parametrize(
    "number",
    [1577.5, 1577.5e6, 1577500000, 1.5775, 200, 200_000_000, 0.045, 4.5, 12345678, 12.345678e6, 0.62, 0.01, 0.21, 2021],
)
def test_a_printed_number_counts_at_its_scales(number: float) -> None:
    assert ungrounded([number], TEXT, QUESTION) == ()


@pytest.mark.parametrize("number", [1577, 1577.6, 157.75, 15775, 201, 45, 12345679, 7, 0.63, 1e300, 5e-324])
def test_another_number_does_not(number: float) -> None:
    assert ungrounded([number], TEXT, QUESTION) == (number,)


def test_the_constants_of_formulas_need_no_evidence() -> None:
    assert ungrounded([0, 1, 2, 100, 365, 12, 4, 1000, 10**6, 1e9, 0.0], (), "") == ()


def test_each_number_is_named_once() -> None:
    assert ungrounded([7, 8, 7], (), "") == (7, 8)


@pytest.mark.parametrize(
    "answer",
    [
        "Revenue was $1,577.5 million in FY2021, as the 10-K says (p. 37) [4].",
        "Three of 12 segments grew in Q3.",
        "It says “Shares  Outstanding 12,345,678; par value $.01”.",
        "Nothing changed.",
        "",
    ],
)
def test_an_answer_that_says_what_is_printed_is_grounded(answer: str) -> None:
    assert ungrounded_text(answer, TEXT, QUESTION) == ()


@pytest.mark.parametrize(
    ("answer", "absent"),
    [
        ("Revenue was USD1,578.", ("1,578",)),
        ("It rose 17.5% to 4.6%, or 17.5%.", ("17.5", "4.6")),
        ('It says "shares outstanding doubled twice in a year".', ("shares outstanding doubled twice in a year",)),
    ],
)
def test_what_is_not_printed_is_named(answer: str, absent: tuple[str, ...]) -> None:
    assert ungrounded_text(answer, TEXT, QUESTION) == absent


@given(st.text(max_size=200), st.text(max_size=200), st.floats(allow_nan=False, allow_infinity=False))
def test_any_text_can_be_checked(answer: str, text: str, number: float) -> None:
    ungrounded_text(answer, [text], text)
    ungrounded([number], [text, answer], "")


@given(st.text(alphabet="0123456789,. ", max_size=400))
def test_a_text_grounds_itself(text: str) -> None:
    assert ungrounded_text(text, [text], "") == ()
