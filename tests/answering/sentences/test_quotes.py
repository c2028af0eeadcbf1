from __future__ import annotations

import pytest

from finray.answering.sentences.quotes import quoted_number


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
    number = quoted_number(question, text)
    if expected is None:
        assert number is None
    else:
        assert number is not None
        assert number.value == pytest.approx(expected[0])
        assert number.unit == expected[1]
