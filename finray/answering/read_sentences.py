"""Lets a trained model read the likeliest sentences beside the question: meaning, where features only count words."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from finray.answering.sentence_features import FEATURES, Candidates
from finray.answering.sentence_model import SentenceModel
from finray.filings.sentences import Sentence
from finray.models.sentence_reader import SentenceReader

READ: Final = 10
"""Sentences that are read: some 0.1 s of a processor."""
_HEADING = 60
_FARTHEST = -3.0
_COLUMN: Final = {name: list(FEATURES).index(name) for name in ("read", "read_best", "unread")}


def sentence_text(sentence: Sentence) -> str:
    """A sentence as the reader sees it, after the end of its heading."""
    heading = sentence.heading[-_HEADING:]
    return f"{heading} | {sentence.text}" if heading else sentence.text


def with_reading(question: str, found: Candidates, reader: SentenceReader, model: SentenceModel) -> Candidates:
    """``found`` with the features of reading for the sentences that are likeliest by ``model`` without them."""
    if not found.sentences:
        return found
    likeliest = np.argsort(-model.scores(found.features), kind="stable")[:READ]
    logits = reader.sentences(question, [sentence_text(found.sentences[number]) for number in likeliest])
    features = found.features.copy()
    features[:, _COLUMN["read_best"]] = _FARTHEST
    features[:, _COLUMN["unread"]] = 1.0
    features[likeliest, _COLUMN["read"]] = 1 / (1 + np.exp(-logits))
    features[likeliest, _COLUMN["read_best"]] = np.maximum((logits - logits.max()) / 4, _FARTHEST)
    features[likeliest, _COLUMN["unread"]] = 0.0
    return replace(found, features=features)
