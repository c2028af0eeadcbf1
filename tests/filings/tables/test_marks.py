"""Footnote marks beside figures and labels."""

from __future__ import annotations

import pytest

from finray.filings.tables.cells import is_year, parse_number
from finray.filings.tables.marks import is_mark, is_power, raised, without_raised


@pytest.mark.parametrize("text", ["1", "12", "a", "(1)", "(1)(2)", "1,2", "(a), (b)", "1 2"])
def test_marks(text: str) -> None:
    assert is_mark(text)


@pytest.mark.parametrize("text", ["", "th", "rd", "TM", "123", "1st", "(in millions)", "-", "1.5"])
def test_ordinals_and_words_are_not_marks(text: str) -> None:
    assert not is_mark(text)


def test_raised_characters_are_left_out_of_cells_but_not_out_of_units() -> None:
    assert without_raised("120,450 ¹") == "120,450"
    assert without_raised("Revenues¹,² net") == "Revenues net"
    assert without_raised("Revenuesᵃ") == "Revenues"
    assert without_raised("Area in km²") == "Area in km²"
    assert is_power("Area in km", "2") and not is_power("Revenues", "2")
    assert (raised("12"), raised("a"), raised("(1)")) == ("¹²", "ᵃ", "(1)")


@pytest.mark.parametrize("mark", ["(1)(2)", " (1), (2)", "(a)(b)", "*", " †‡", "[1]", " (12)"])
def test_marks_behind_a_figure_do_not_change_it(mark: str) -> None:
    for figure, value in (("1,234", 1234), ("(6,010)", -6010), ("2.10", 2.1)):
        number = parse_number(figure + mark)
        assert number is not None and number.value == value
    assert is_year("2021" + mark)


def test_a_figure_of_one_digit_in_parentheses_is_negative() -> None:
    number = parse_number("(1)")
    assert number is not None and number.value == -1
    assert parse_number("[1]") is None


@pytest.mark.parametrize(("text", "value"), [("6,010-", -6010), ("[6,010]", -6010), ("(6,010", -6010), ("nil", 0)])
def test_unusual_negatives_and_nil(text: str, value: float) -> None:
    number = parse_number(text)
    assert number is not None and number.value == value


@pytest.mark.parametrize("text", ["2019-", "5.25-", "7-", "1,234-5", "n/a", "NM", "not meaningful"])
def test_ranges_and_words_are_not_figures(text: str) -> None:
    assert parse_number(text) is None
