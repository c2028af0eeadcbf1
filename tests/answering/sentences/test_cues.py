"""Cues of sentences, however they are capitalized."""

from __future__ import annotations

import pytest

from finray.answering.sentences.cues import cues
from finray.core.query import Query
from finray.filings.pages.sentences import Sentence


def _found(question: str, text: str) -> set[str]:
    query = Query(question=question, text=question)
    return {name for name, (value,) in cues(query, [Sentence(0, len(text), text, "", 0)]).items() if value}


@pytest.mark.parametrize(
    ("text", "cue"),
    [
        ("PRIMARILY because rates rose.", "cause"),
        ("The notes mature on MAY 5 of next year.", "date"),
        ("None of the plans was amended.", "denied"),
        ("Our Chief Financial Officer certified it.", "person"),
        ("We sell the following: bolts and nuts.", "list"),
    ],
)
def test_a_cue_counts_as_unasked_unless_the_question_asks_for_it(text: str, cue: str) -> None:
    assert f"{cue}_unasked" in _found("How much did it cost?", text)


def test_a_cue_that_is_asked_for() -> None:
    assert "date" in _found("When do the notes mature?", "The notes mature on May 5 of next year.")


def test_a_sentence_may_lack_every_cue() -> None:
    assert not _found("How much?", "we make bolts and nuts in two plants near the old harbor.") & {
        "cause_unasked", "date_unasked", "denied_unasked", "person_unasked", "hedged", "refers",
    }  # fmt: skip
