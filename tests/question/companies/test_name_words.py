"""Which words are too common to be the name of a company in lower case."""

from __future__ import annotations

import pytest

from finray.question.companies.name_words import common_words


@pytest.mark.parametrize("word", ["cost", "target", "block", "key", "low", "match", "now"])
def test_words_of_any_question_are_common(word: str) -> None:
    assert word in common_words()


@pytest.mark.parametrize("word", ["apple", "visa", "orcl", "wmt", "pepsi"])
def test_names_are_not(word: str) -> None:
    assert word not in common_words()
