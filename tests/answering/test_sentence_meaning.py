"""Nearness of sentences to a question by token vectors."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from finray.answering.sentence_meaning import meaning

SENTENCES = ("Net sales declined in Asia.", "The auditor signed the report.", "A dividend was paid to the holders.")


def test_a_sentence_in_other_words_is_nearest() -> None:
    found = meaning("Which regions had lower revenue?", SENTENCES)
    assert found.aligned.argmax() == 0


def test_the_same_words_align_entirely() -> None:
    found = meaning("net sales declined", ["Net sales declined"])
    assert found.cosine[0] > 0.99
    assert found.aligned[0] > 0.99


def test_nothing_is_near_an_empty_question() -> None:
    found = meaning("", SENTENCES)
    assert not found.cosine.any()
    assert not found.aligned.any()


@settings(max_examples=25, deadline=None)
@given(st.text(), st.lists(st.text(), max_size=3))
def test_any_text_has_a_nearness(question: str, texts: list[str]) -> None:
    found = meaning(question, texts)
    assert len(found.cosine) == len(found.aligned) == len(texts)
    assert all(-1.001 <= value <= 1.001 for value in found.cosine)
