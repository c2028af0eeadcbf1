"""Which numbers count as printed, at which scale."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.answering.grounding import figures, prints, ungrounded_text, unspelled

TEXT = ("Revenue (in millions) $ 1,577.5 (200) 4.5%", "Shares outstanding 12,345,678; par value $.01; $0.62 a share")
QUESTION = "What was the margin of FY2021 at a tax rate of 21%?"


@pytest.mark.parametrize(
    "number",
    [1577.5, 1577.5e6, 1577500000, 1.5775, 200, 200_000_000, 0.045, 4.5, 12345678, 12.345678e6, 0.62, 0.01, 0.21, 2021],
)
def test_a_printed_number_counts_at_its_scales(number: float) -> None:
    assert figures([number], TEXT, QUESTION) == (number,)


@pytest.mark.parametrize("number", [1577, 1577.6, 157.75, 15775, 201, 45, 12345679, 7, 0.63, 1e300, 5e-324])
def test_another_number_does_not(number: float) -> None:
    assert figures([number], TEXT, QUESTION) == ()


@pytest.mark.parametrize(
    "text",
    ["See Note 4 and Item 1A on p. 3", "for the 12 months ended March 4, 2022, 100% owned", "[2] (10-K, Q4)", "$ 400"],
)
def test_constants_of_formulas_in_other_words_are_no_figures(text: str) -> None:
    assert figures([1, 2, 3, 4, 12, 100, 365, 1000, 10**6, 1e9], [text], "") == ()


def test_constants_printed_as_numbers_are_figures() -> None:
    assert figures([4, 12, 100, 3], ["Stores opened 12; closed 4; value $100"], "") == (4, 12, 100)
    assert figures([2.0, 3], ["At 31 December 2.0 2.3 | Notes 3 4"], "") == (2.0,)


def test_a_number_may_be_spelled() -> None:
    assert unspelled((3, 4, 437), ["We have three segments."]) == (4, 437)


@pytest.mark.parametrize("text", ["１，５７７", "1\u200b,577", "1,577²", "$\u202a1,577\u202c"])
def test_a_number_is_read_as_it_looks(text: str) -> None:
    assert figures([1577], [text], "") == (1577,)
    assert figures([15772], [text], "") == ()


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
def test_an_answer_with_printed_numbers_is_grounded(answer: str) -> None:
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
    figures([number], [text, answer], "")


@given(st.text(alphabet="0123456789,. ", max_size=400))
def test_a_text_grounds_itself(text: str) -> None:
    assert ungrounded_text(text, [text], "") == ()


@given(st.text(alphabet="12.,0$ ", max_size=14), st.text(alphabet="12.,0 ", max_size=4))
def test_a_text_prints_a_cell_if_its_figures_stand_alone(text: str, cell: str) -> None:
    wanted = re.findall(r"\d[\d,]*(?:\.\d+)?|\.\d+", cell)
    alone = [re.search(rf"(?<![\d.,]){re.escape(figure)}(?!\d|[.,]\d)", text) for figure in wanted]
    assert prints(text, cell) == all(alone)
