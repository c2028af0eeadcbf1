"""Months, numbers, ordinals and scales in words."""

from __future__ import annotations

import re

import pytest

from finray.core.vocabulary import COUNT, MONTH, MONTHS, ORDINAL, SCALE, SCALES, any_of, number_of


@pytest.mark.parametrize(
    ("text", "value"),
    [("three", 3), ("13", 13), ("Fifty-two", 52), ("thirty nine", 39), ("twentyfour", 24), ("zero", 0), ("forty", 40)],
)
def test_a_count_in_digits_or_words_has_a_value(text: str, value: int) -> None:
    assert re.fullmatch(COUNT, text, re.I)
    assert number_of(text) == value


@pytest.mark.parametrize("text", ["", "hundred", "twenty-ten", "-1", "1.5", "three weeks"])
def test_anything_but_a_count_is_an_error_that_names_it(text: str) -> None:
    assert not re.fullmatch(COUNT, text, re.I)
    with pytest.raises(ValueError, match=re.escape(repr(text))):
        number_of(text)


def test_the_longest_word_wins() -> None:
    assert re.findall(MONTH, "september sept sep mar march") == ["september", "sept", "sep", "mar", "march"]
    assert re.findall(any_of(["a", "ab", "a.b"]), "ab a.b a") == ["ab", "a.b", "a"]


def test_values() -> None:
    assert (MONTHS["sept"], MONTHS["may"], SCALES["billion"]) == (9, 5, 10**9)
    assert re.findall(ORDINAL, "first 4th") == ["first", "4th"]
    assert re.findall(SCALE, "millions") == ["million"]
