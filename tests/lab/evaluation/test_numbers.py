"""Numbers as answers print them."""

from __future__ import annotations

from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.lab.evaluation.numbers import (
    Number,
    Wanted,
    equal_at_digits,
    find_numbers,
    only_number,
    stated_scale,
    unit_factor,
    wanted_number,
)


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
        ("5 per cent", "5", "0.01"),
        ("(1.5%)", "-1.5", "0.01"),
        ("($1.2 billion)", "-1.2", "1000000000"),
        ("minus 0.4%", "-0.4", "0.01"),
        ("negative $473 million", "-473", "1000000"),
        ("$1,577 (in millions)", "1577", "1000000"),
        ("1,577 in thousands", "1577", "1000"),
        ("$8.4-billion", "8.4", "1000000000"),
        ("$1.2 B", "1.2", "1000000000"),
    ],
)
def test_answers_that_are_one_number(text: str, face: str, factor: str) -> None:
    number = only_number(text)
    assert number is not None
    assert (number.face, number.factor) == (Decimal(face), Decimal(factor))
    assert number.places == len(face.partition(".")[2])


@pytest.mark.parametrize(
    "text", ["", "Yes", "36%. It fell.", "page 12", "5-10%", "10-K", "FY2019", "2 and 3", "$400,000 increase", "Q3"]
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


def test_numbers_as_programs_print_them() -> None:
    assert [(n.face, n.places) for n in find_numbers("1.577e+10 and 1.5e-3")] == [
        (Decimal("1.577e10"), 0),
        (Decimal("0.0015"), 4),
    ]


def test_parentheses_in_prose_are_an_aside_or_a_minus() -> None:
    text = "Revenue fell by $5 million (3.4%); the margin was (3.4%) and the result $(12) million."
    assert [n.face for n in find_numbers(text)] == [5, Decimal("3.4"), Decimal("-3.4"), -12]


@pytest.mark.parametrize("citation", ["pages 12, 14 and 16", "pp. 3-5", "(p. 7; p. 9)", "p.66", "pp 1 and 2"])
def test_page_citations_hold_no_number(citation: str) -> None:
    assert [n.face for n in find_numbers(f"It was 5 ({citation}), and 3.5% later.")] == [5, Decimal("3.5")]


def test_a_hyphen_between_numbers_is_not_a_minus_sign() -> None:
    assert [n.face for n in find_numbers("2019-2020, 5%–6%")] == [2019, 2020, 5, 6]


@pytest.mark.parametrize(
    ("question", "scale"),
    [
        ("What is FY2020 revenue in USD millions?", 10**6),
        ("Capex (in thousands)?", 10**3),
        ("In billions of dollars, what was debt?", 10**9),
        ("What is revenue in US dollars (in millions)?", 10**6),
        ("How many million people live in Ohio?", None),
        ("What is debt (USD millions)?", 10**6),
        ("Revenue in US$ millions?", 10**6),
        ("Answer in units of billions.", 10**9),
        ("Capex in $M?", 10**6),
        ("What was the rate on the $5 million loan?", None),
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
        ("$8.70", "8.7", True),
        ("8.7", "$8.70", True),
        ("0.66", "0.66%", False),  # a ratio is not a hundredth of itself
        ("0.66", "66%", True),
        ("12.5", "12.5%", True),
        ("5%", "(5%)", False),
        ("$1.2 billion", "1,200", False),
    ],
)
def test_equal_at_the_digits_of_the_reference(reference: str, answer: str, equal: bool) -> None:
    assert equal_at_digits(number(reference), number(answer)) is equal


def test_the_stated_scale_counts_as_the_references() -> None:
    reference, answer = number("1577"), number("1,577,000,000")
    assert not equal_at_digits(reference, answer)
    assert equal_at_digits(reference, answer, Wanted(Decimal(10**6)))


def test_a_stated_scale_binds_what_names_another() -> None:
    in_millions = Wanted(Decimal(10**6))
    assert equal_at_digits(number("$1577.00"), number("$1.577 billion"), in_millions)
    assert equal_at_digits(number("$1577.00"), number("1,577"), in_millions)
    assert not equal_at_digits(number("$1577.00"), number("$1,577 thousand"), in_millions)
    assert not equal_at_digits(number("$1577.00"), number("1577%"), in_millions)


def test_a_question_in_percent_binds_bare_references() -> None:
    wanted = wanted_number("What is the change, in units of percent?")
    assert wanted.percent
    assert equal_at_digits(number("0.4"), number("0.4%"), wanted)
    assert not equal_at_digits(number("0.4"), number("0.4%"), wanted_number("What is the ratio?"))


@pytest.mark.parametrize(
    ("unit", "factor"),
    [("percent", "0.01"), ("%", "0.01"), ("USD", "1"), ("USD millions", "1000000"), ("million USD", "1000000"),
     ("USD/share", "1"), ("basis points", "0.0001"), ("", "1"), ("days", "1"), ("b", "1000000000")],
)  # fmt: skip
def test_units_of_values(unit: str, factor: str) -> None:
    assert unit_factor(unit) == Decimal(factor)


@given(st.decimals(allow_nan=False, allow_infinity=False, places=3), st.integers(0, 40))
def test_any_number_equals_itself(value: Decimal, places: int) -> None:
    assert equal_at_digits(Number(value, places), Number(value, 0)) or places < 3


PRINTED = st.decimals(min_value=-(10**12), max_value=10**12, places=2)
SCALES = {"": "1", " thousand": "1e3", " million": "1e6", "bn": "1e9", "%": "0.01", " bps": "0.0001"}


@given(PRINTED, st.sampled_from(sorted(SCALES)), st.booleans(), st.booleans())
def test_what_is_printed_is_read_back(value: Decimal, scale: str, currency: bool, commas: bool) -> None:
    digits = f"{abs(value):,.2f}" if commas else f"{abs(value):.2f}"
    text = f"{'-' if value < 0 else ''}{'$' if currency else ''}{digits}{scale}"
    read = number(text)
    assert (read.face, read.places, read.value) == (value, 2, value * Decimal(SCALES[scale]))
    assert equal_at_digits(read, read)
    assert [one.face for one in find_numbers(f"The result was {text}, see p. 12.")] == [value]


@given(PRINTED, st.integers(0, 2))
def test_rounding_and_truncating_are_right_and_a_step_away_is_wrong(value: Decimal, places: int) -> None:
    step = Decimal(1).scaleb(-places)
    for rounding in (ROUND_HALF_UP, ROUND_DOWN):
        assert equal_at_digits(Number(value.quantize(step, rounding=rounding), places), Number(value, 2))
    assert not equal_at_digits(Number(value.quantize(step, rounding=ROUND_DOWN) + 2 * step, places), Number(value, 2))


@given(st.text())
def test_any_text_can_be_searched(text: str) -> None:
    find_numbers(text)
    only_number(text)
    wanted_number(text)
    unit_factor(text)


@given(st.text(alphabet="0123456789.,-−()%$ emkbn", max_size=40), st.text(alphabet="0123456789.e%", max_size=40))
def test_any_two_numbers_can_be_compared(first: str, second: str) -> None:
    for one in find_numbers(first):
        for other in find_numbers(second):
            equal_at_digits(one, other, Wanted(Decimal(10**6), True))


@pytest.mark.parametrize("run", [" ", "(", "$", "1", ",", "-", "1 ", "1,", "p. 1", "minus ", "1e", "p. 1, ", "1 (in "])
def test_long_runs_are_searched_in_linear_time(run: str) -> None:
    find_numbers(run * 20_000)
    only_number(run * 20_000)
