from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.answering.quotes import Quote, best_quote, quoted_number, stretches
from finray.core.types import Passage
from finray.models.hash_encoder import HashEncoder

TEXT = (
    "Acme makes anvils and sells them to coyotes everywhere. As of December 31, 2022, we had approximately 5,450 "
    "employees. Our largest customer accounted for 21% of revenue."
)


def passage(text: str) -> Passage:
    return Passage("ACME", "f", 0, 0, len(text), text, 1.0)


def test_the_sentence_that_shares_the_rare_words() -> None:
    quote = best_quote("How many employees did Acme have?", [passage(TEXT)], HashEncoder(), ["Acme"])
    assert quote is not None
    assert "5,450 employees" in quote.text
    assert quote.coverage == pytest.approx(1.0)


def test_nothing_to_look_for_or_in() -> None:
    assert best_quote("What is the?", [passage(TEXT)], HashEncoder()) is None
    assert best_quote("How many employees?", [], HashEncoder()) is None
    assert best_quote("How many employees?", [passage("")], HashEncoder()) is None


@pytest.mark.parametrize(
    ("question", "text", "expected"),
    [
        ("How many employees were there?", "As of December 31, 2022, we had 5,450 employees.", (5450.0, "count")),
        ("What share came from one customer?", "A customer accounted for 21% of revenue.", (21.0, "percent")),
        ("What were purchase commitments?", "Commitments totaled $115.6 million in 2022.", (115.6e6, "USD")),
        ("What were commitments?", "They were $115.6 million and $9 million.", None),
        ("Why did it fall?", "It fell by 21% on lower demand.", None),
        ("What was it?", "Nothing was disclosed.", None),
    ],
)
def test_the_one_number_that_can_be_the_answer(question: str, text: str, expected: tuple[float, str] | None) -> None:
    number = quoted_number(question, Quote(passage(text), text, 1.0, 1.0))
    if expected is None:
        assert number is None
    else:
        assert number is not None
        assert number.value == pytest.approx(expected[0])
        assert number.unit == expected[1]


@given(st.text(max_size=300))
def test_stretches_are_pieces_of_the_text(text: str) -> None:
    words = text.split()
    for stretch in stretches(text):
        assert stretch.split()[0] in " ".join(words)
        assert len(stretch) <= 600
