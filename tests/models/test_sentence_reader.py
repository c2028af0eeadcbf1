"""The sentence reader on MiniLM's package."""

from __future__ import annotations

import numpy as np
import pytest

from finray.core.errors import ModelUnavailableError
from finray.models.bert.weights import shipped_weights
from finray.models.sentence_reader import WEIGHTS, SentenceReader, sentence_reader

QUESTION = "Why did Acme's net sales fall?"
SENTENCES = (
    "We operate in three segments and believe that our brands are well known.",
    "Net sales decreased primarily due to unfavorable currency and lower volumes in Europe.",
)


def test_the_sentence_that_answers_scores_highest() -> None:
    assert int(sentence_reader().sentences(QUESTION, SENTENCES).answers.argmax()) == 1


def test_scores_do_not_depend_on_what_is_read_together() -> None:
    together = sentence_reader().sentences(QUESTION, SENTENCES).answers
    alone = [sentence_reader().sentences(QUESTION, [each]).answers[0] for each in SENTENCES]
    assert np.allclose(together, alone, atol=1e-3)


def test_the_figure_that_is_asked_for_scores_highest() -> None:
    text = "At year-end Acme had 5,200 employees, 31% of them in Europe, and leased 14 plants for $6 million a year."
    figures = ("5,200", "31%", "14", "$6 million")
    spans = tuple((text.index(each), text.index(each) + len(each)) for each in figures)
    for question, figure in (
        ("How many people worked for Acme?", "5,200"),
        ("What did Acme pay in rent?", "$6 million"),
    ):
        scores = sentence_reader().sentences(question, [text], [spans]).figures[0]
        assert figures[int(scores.argmax())] == figure


def test_a_figure_past_what_is_read_has_no_odds() -> None:
    text = "word " * 200 + "7%"
    (scores,) = sentence_reader().sentences(QUESTION, [text], [((1000, 1002),)]).figures
    assert scores.tolist() == [-np.inf]


def test_a_sentence_of_any_length_is_read() -> None:
    assert sentence_reader().sentences("why " * 500, ["word " * 500]).answers.shape == (1,)


def test_weights_of_another_version_are_refused() -> None:
    state = dict(shipped_weights(WEIGHTS))
    del state["answers.weight"]
    with pytest.raises(ModelUnavailableError, match="another version"):
        SentenceReader(state)
