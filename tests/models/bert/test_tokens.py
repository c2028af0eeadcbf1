"""Tokens of texts: those of transformers' tokenizer, as many as are read, and where figures stand among them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.models.bert.tokens import token_ids, token_spans
from finray.models.minilm import minilm_folder


@pytest.fixture(scope="module")
def transformers_tokens() -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(str(minilm_folder()))


@given(text=st.text(st.characters(exclude_categories=["Cs"])))
def test_tokens_are_those_of_transformers(transformers_tokens: Any, text: str) -> None:
    expected = transformers_tokens(text, add_special_tokens=False, verbose=False)["input_ids"]
    assert token_ids(text, 10_000) == expected


def test_a_long_text_keeps_its_first_tokens_or_both_ends() -> None:
    every = token_ids("one two three four five six", 9)
    assert len(every) == 6
    assert token_ids("one two three four five six", 4) == every[:4]
    assert token_ids("one two three four five six", 4, both_ends=True) == [*every[:2], *every[-2:]]


def test_a_stretch_has_the_tokens_that_it_touches() -> None:
    text = "Sales rose 12.5% to $4"
    ((start, end),) = token_spans(text, 72, [(text.index("12.5%"), text.index(" to"))])
    assert token_ids(text, 72)[start:end] == token_ids("12.5%", 72)


def test_a_stretch_past_the_tokens_that_are_read_has_none() -> None:
    text = "word " * 80 + "7%"
    assert token_spans(text, 72, [(0, 4), (len(text) - 2, len(text))]) == [(0, 1), (0, 0)]
    assert token_spans("", 72, [(0, 1)]) == [(0, 0)]
