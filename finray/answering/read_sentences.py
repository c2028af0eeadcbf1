"""Lets a trained model read the likeliest sentences beside the question: meaning, where features only count words."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from finray.answering.prose_figures import prose_figures
from finray.answering.sentence_features import FARTHEST, FEATURES, Candidates
from finray.answering.sentence_model import SentenceModel
from finray.filings.sentences import Sentence
from finray.models.sentence_reader import SentenceReader, Spans

READ: Final = 10
"""Sentences that are read: some 0.1 s of a processor."""
_HEADING = 60
_COLUMN: Final = {name: list(FEATURES).index(name) for name in ("read", "read_best", "unread")}


def sentence_text(sentence: Sentence) -> str:
    """A sentence as the reader sees it, after the end of its heading."""
    return f"{_before(sentence)}{sentence.text}"


def _before(sentence: Sentence) -> str:
    heading = sentence.heading[-_HEADING:]
    return f"{heading} | " if heading else ""


def with_reading(question: str, found: Candidates, reader: SentenceReader, model: SentenceModel) -> Candidates:
    """``found`` with the features of reading, and the log odds of figures, for the sentences that are likeliest by
    ``model`` without them."""
    if not found.sentences:
        return found
    likeliest = np.argsort(-model.scores(found.features), kind="stable")[:READ]
    sentences = [found.sentences[number] for number in likeliest]
    scores = reader.sentences(question, list(map(sentence_text, sentences)), list(map(_figure_spans, sentences)))
    logits = scores.answers
    features = found.features.copy()
    features[:, _COLUMN["read_best"]] = FARTHEST
    features[:, _COLUMN["unread"]] = 1.0
    features[likeliest, _COLUMN["read"]] = 1 / (1 + np.exp(-logits))
    features[likeliest, _COLUMN["read_best"]] = np.maximum((logits - logits.max()) / 4, FARTHEST)
    features[likeliest, _COLUMN["unread"]] = 0.0
    figures = {
        (int(number), figure.start): float(odds)
        for number, sentence, read in zip(likeliest, sentences, scores.figures, strict=True)
        for figure, odds in zip(prose_figures(sentence.text), read, strict=True)
        if np.isfinite(odds)
    }
    return replace(found, features=features, figures=figures)


def _figure_spans(sentence: Sentence) -> Spans:
    """Where the figures are in the :func:`sentence_text`."""
    shift = len(_before(sentence))
    return tuple((figure.start + shift, figure.end + shift) for figure in prose_figures(sentence.text))
