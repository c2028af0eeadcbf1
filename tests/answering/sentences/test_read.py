"""Sentences that a model read: which ones, and what their features say."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from finray.answering.sentences.features import FEATURES, Candidates
from finray.answering.sentences.model import SentenceModel
from finray.answering.sentences.read import READ, sentence_text, with_reading
from finray.filings.pages.sentences import Sentence
from finray.models.sentence_reader import SentenceReader, SentenceScores, Spans

_COLUMN = {name: at for at, name in enumerate(FEATURES)}


class _Reader(SentenceReader):
    """The longer the sentence, the better the answer."""

    def __init__(self) -> None:
        self.read: list[str] = []
        self.marked: list[list[str]] = []

    def sentences(self, question: str, sentences: Sequence[str], figures: Sequence[Spans] = ()) -> SentenceScores:
        self.read += sentences
        self.marked += [[text[start:end] for start, end in own] for text, own in zip(sentences, figures, strict=True)]
        answers = np.asarray([float(len(sentence)) for sentence in sentences])
        return SentenceScores(answers, tuple(np.arange(len(own), dtype=float) for own in figures))


def _candidates(count: int) -> Candidates:
    sentences = tuple(Sentence(0, 9, "x" * (1 + at), "", 0) for at in range(count))
    features = np.zeros((count, len(FEATURES)))
    features[:, _COLUMN["words"]] = np.arange(count)
    return Candidates((), sentences, (0,) * count, features)


def _model() -> SentenceModel:
    weights = np.zeros(len(FEATURES))
    weights[_COLUMN["words"]] = 1.0
    return SentenceModel(weights, np.zeros(0), 0.0, 0.0)


def test_only_the_likeliest_sentences_are_read() -> None:
    reader = _Reader()
    found = with_reading("Why?", _candidates(READ + 5), reader, _model())
    assert len(reader.read) == READ
    unread = found.features[:, _COLUMN["unread"]]
    assert unread.tolist() == [1.0] * 5 + [0.0] * READ


def test_the_best_sentence_is_at_zero_and_others_below() -> None:
    found = with_reading("Why?", _candidates(4), _Reader(), _model())
    assert found.features[:, _COLUMN["read_best"]].tolist() == [-0.75, -0.5, -0.25, 0.0]
    assert (np.diff(found.features[:, _COLUMN["read"]]) > 0).all()


def test_the_features_of_the_question_stay() -> None:
    before = _candidates(3)
    found = with_reading("Why?", before, _Reader(), _model())
    assert found.features[:, _COLUMN["words"]].tolist() == [0.0, 1.0, 2.0]
    assert not before.features[:, _COLUMN["read"]].any()


def test_figures_are_marked_behind_the_heading_and_keep_their_place_in_the_sentence() -> None:
    text = "Rent rose from $3 million to $5 million."
    sentences = (Sentence(0, 9, text, "Costs of 7 sites", 0),)
    found = Candidates((), sentences, (0,), np.zeros((1, len(FEATURES))))
    reader = _Reader()
    read = with_reading("Rent?", found, reader, _model())
    assert reader.marked == [["$3 million", "$5 million"]]
    assert read.figures == {(0, text.index("$3")): 0.0, (0, text.index("$5")): 1.0}


def test_no_sentence_is_no_error() -> None:
    reader = _Reader()
    assert with_reading("Why?", _candidates(0), reader, _model()).sentences == ()
    assert not reader.read


def test_a_sentence_is_read_with_the_end_of_its_heading() -> None:
    assert sentence_text(Sentence(0, 9, "It fell.", "Results of Operations", 0)) == "Results of Operations | It fell."
    assert sentence_text(Sentence(0, 9, "It fell.", "", 0)) == "It fell."
