"""The sentence reader on MiniLM's package."""

from __future__ import annotations

import numpy as np
import pytest

from finray.core.errors import ModelUnavailableError
from finray.models.pair_reader import shipped_weights
from finray.models.sentence_reader import WEIGHTS, SentenceReader, sentence_reader

QUESTION = "Why did Acme's net sales fall?"
SENTENCES = (
    "We operate in three segments and believe that our brands are well known.",
    "Net sales decreased primarily due to unfavorable currency and lower volumes in Europe.",
)


def test_the_sentence_that_answers_scores_highest() -> None:
    assert int(sentence_reader().sentences(QUESTION, SENTENCES).argmax()) == 1


def test_scores_do_not_depend_on_what_is_read_together() -> None:
    together = sentence_reader().sentences(QUESTION, SENTENCES)
    alone = [sentence_reader().sentences(QUESTION, [each])[0] for each in SENTENCES]
    assert np.allclose(together, alone, atol=1e-3)


def test_a_sentence_of_any_length_is_read() -> None:
    assert sentence_reader().sentences("why " * 500, ["word " * 500]).shape == (1,)


def test_weights_of_another_version_are_refused() -> None:
    state = dict(shipped_weights(WEIGHTS))
    del state["answers.weight"]
    with pytest.raises(ModelUnavailableError, match="another version"):
        SentenceReader(state)
