"""Initials that may stand for words of a question."""

from __future__ import annotations

from finray.answering.cells.asked_cell import short_forms


def test_initials_come_with_the_words_that_they_stand_for() -> None:
    assert {"north", "america"} <= set(short_forms("spending of North America Beverages")["nab"])


def test_one_word_has_no_initials() -> None:
    assert short_forms("spending") == {}
