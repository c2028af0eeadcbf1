"""Numbers as answers print them."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.evaluation.numbers import Number, equal_at_digits, find_numbers, only_number, stated_scale


@pytest.mark.parametrize(
    ("text", "face", "factor"),
    [
        ("24.26", "24.26", "1"),
        ("$11588.00", "11588.00", "1"),
        ("$ 1,234,567.89", "1234567.89", "1"),
        ("USD 5.1 million", "5.1", "1000000"),
        ("1.2 Billion", "1.2", "1000000000"),
        ("-$1561M", "-1561", "1000000"),
        ("−5%", "-5", "0.01"),
        ("$(12.5) million", "-12.5", "1000000"),
        ("(1,561)", "-1561", "1"),
        ("150 bps", "150", "0.0001"),
        ("about 36 percent.", "36", "0.01"),
        ("0.66x", "0.66", "1"),
        ("$4.60 per share", "4.60", "1"),
        (".5", "0.5", "1"),
        ("12 days", "12", "1"),
    ],
)
def test_answers_that_are_one_number(text: str, face: str, factor: str) -> None:
    number = only_number(text)
    assert number is not None
    assert (number.face, number.factor) == (Decimal(face), Decimal(factor))
    assert number.places == len(face.partition(".")[2])


@pytest.mark.parametrize(
    "text", ["", "Yes", "36%. It fell.", "10-K", "FY2019", "2 and 3", "$400,000 increase", "Q3"]
)
def test_answers_that_say_more(text: str) -> None:
    assert only_number(text) is None


def test_numbers_within_a_sentence() -> None:
    text = "FY2019 revenue (10-K, p. 60) was $1,577 million, up 3.4% from Q3; see pages 12-14 and (5) others."
    assert [(n.face, n.factor) for n in find_numbers(text)] == [
        (Decimal(1577), 10**6),
        (Decimal("3.4"), Decimal("0.01")),
        (Decimal(-5), 1),
    ]


def test_a_hyphen_between_numbers_is_no_sign() -> None:
    assert [n.face for n in find_numbers("2019-2020, 5%–6%")] == [2019, 2020, 5, 6]


@pytest.mark.parametrize(
    ("question", "scale"),
    [
        ("What is FY2020 revenue in USD millions?", 10**6),
        ("Capex (in thousands)?", 10**3),
        ("In billions of dollars, what was debt?", 10**9),
        ("What is revenue in US dollars (in millions)?", 10**6),
        ("How many million people live in Ohio?", None),
    ],
)
def test_the_scale_that_a_question_states(question: str, scale: int | None) -> None:
    assert stated_scale(question) == scale


def number(text: str) -> Number:
    found = only_number(text)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("reference", "answer", "equal"),
    [
        ("24.26", "24.26", True),
        ("24.26", "24.2563", True),  # rounded
        ("24.25", "24.2563", True),  # truncated
        ("24.26", "24.25", False),
        ("65.4%", "65.4", True),
        ("65.4%", "0.654", True),
        ("0.654", "65.4%", True),
        ("65.4%", "65.4 million", False),
        ("1.5%", "150 bps", True),
        ("$1.2 billion", "$1,200 million", True),
        ("$1.2 billion", "1,234,000,000", True),
        ("$1.2 billion", "$1.2 million", False),
        ("$1577.00", "$1,577 million", True),
        ("-0.02", "(0.02)", True),
        ("-0.02", "0.02", False),
        ("3", "3.49", True),
        ("3", "3.99", True),
        ("3", "4.0", False),
    ],
)
def test_equal_at_the_digits_of_the_reference(reference: str, answer: str, equal: bool) -> None:
    assert equal_at_digits(number(reference), number(answer)) is equal


def test_the_stated_scale_counts_as_the_references() -> None:
    reference, answer = number("1577"), number("1,577,000,000")
    assert not equal_at_digits(reference, answer)
    assert equal_at_digits(reference, answer, Decimal(10**6))


@given(st.decimals(allow_nan=False, allow_infinity=False, places=3), st.integers(0, 40))
def test_any_number_equals_itself(value: Decimal, places: int) -> None:
    assert equal_at_digits(Number(value, places), Number(value, 0)) or places < 3


@given(st.text())
def test_any_text_can_be_searched(text: str) -> None:
    find_numbers(text)
    only_number(text)


@pytest.mark.parametrize("run", [" ", "(", "$", "1", ",", "-", "1 ", "1,", "p. 1"])
def test_long_runs_are_searched_in_linear_time(run: str) -> None:
    find_numbers(run * 20_000)
    only_number(run * 20_000)
