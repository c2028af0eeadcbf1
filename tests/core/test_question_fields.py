"""Numbers in the place of text, however large."""

from __future__ import annotations

import pytest

from finray.core.errors import QuestionError
from finray.core.question_fields import read_answer, read_qid, read_value

HUGE = 10**400
"""JSON may hold it, a float cannot."""


def test_a_gold_answer_may_be_a_number_of_any_size() -> None:
    assert read_answer(0.5) == "0.5"
    assert read_answer(HUGE) == str(HUGE)
    assert read_value(HUGE) is None
    with pytest.raises(QuestionError, match="'answer' is a number, not text"):
        read_answer(float("inf"))


def test_a_qid_that_is_a_number_is_limited_in_length_too() -> None:
    assert read_qid(7) == "7"
    with pytest.raises(QuestionError, match="401 characters, more than 256"):
        read_qid(HUGE)
