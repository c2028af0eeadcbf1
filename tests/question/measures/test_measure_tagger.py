"""Which words of a question name what is measured, with the shipped weights and real token states."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from finray.models.question_model import question_model
from finray.question.measures.measure_tagger import (
    FIRST,
    FIRST_ON,
    SECOND,
    SECOND_ON,
    Measured,
    MeasureTagger,
    best_tags,
    pieces,
    words_at,
)

NOTHING: list[list[tuple[int, int]]] = [[], [], [], []]


@pytest.fixture(scope="module")
def tagger() -> MeasureTagger:
    return MeasureTagger(question_model())


def _measured(tagger: MeasureTagger, question: str) -> Measured | None:
    return tagger.measured(question, NOTHING)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        (
            "I run a bakery and am curious. Tell me the goodwill impairment charge that Torvane took in 2021.",
            "goodwill",
        ),
        ('What does the line "Total non-current assets" show for Torvane?', "non-current"),
        ("Which figure does Torvane give for its advertising expense in fiscal 2020?", "advertising"),
    ],
)
def test_personas_and_instructions_are_left_out(tagger: MeasureTagger, question: str, words: str) -> None:
    found = _measured(tagger, question)
    assert found is not None
    named = " ".join(piece for pieces in words_at(question, found.quantities) for piece in pieces)
    assert words in named
    assert not {"bakery", "curious", "Tell", "Which", "give"} & set(named.split())


def test_the_operation_is_named(tagger: MeasureTagger) -> None:
    found = _measured(tagger, "What percentage of Torvane's total lease cost in 2021 was variable lease cost?")
    assert found is not None
    assert found.operation == "share"


def test_a_question_without_words_has_none(tagger: MeasureTagger) -> None:
    assert _measured(tagger, "") is None


@given(arrays.arrays(np.float32, st.tuples(st.integers(1, 30), st.just(5)), elements=st.floats(-20, 20, width=32)))
def test_a_further_token_follows_one_of_its_quantity(logits: np.ndarray) -> None:
    tags = best_tags(logits)
    assert len(tags) == len(logits)
    for before, tag in zip([0, *tags], tags, strict=False):
        assert tag != FIRST_ON or before in (FIRST, FIRST_ON)
        assert tag != SECOND_ON or before in (SECOND, SECOND_ON)


def test_pieces_are_whole_words() -> None:
    text = "net receivables of Europe"
    assert pieces(text, [(0, 3), (4, 8), (19, 25)], [FIRST, FIRST_ON, SECOND]) == (((0, 15),), ((19, 25),))


@given(st.text(max_size=120))
def test_any_text_can_be_tagged(tagger: MeasureTagger, text: str) -> None:
    found = _measured(tagger, text)
    assert found is None or all(0 <= start < end <= len(text) for own in found.quantities for start, end in own)
