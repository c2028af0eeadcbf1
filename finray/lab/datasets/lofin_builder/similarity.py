"""Similarities of a gold text and a page by a model: an NLI cross-encoder, or a bi-encoder such as the paper's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from finray.core.settings import EncoderSettings, RerankerSettings
from finray.lab.datasets.lofin_builder.gold_pages import Scores, Similarity, text_match
from finray.models import hub
from finray.models.encoder import Encoder, Vectors
from finray.models.encoder_loading import load_encoder

_PAGES = 10
"""Pages that a cross-encoder reads: those with most of the words of the text."""
_SENTENCES = 8
_WINDOW = 1_500


def by_encoder(encoder: Encoder) -> Similarity:
    """The cosine of text and page, as with the paper's nli-mpnet-base-v2. The encoder truncates both to its length."""
    # Questions come filing by filing, and each filing's pages are the same object.
    last: list[tuple[Sequence[str], Vectors]] = []

    def similarity(context: str, pages: Sequence[str]) -> Scores:
        if not last or last[0][0] is not pages:
            last[:] = [(pages, encoder.encode_passages(pages))]
        return np.asarray(last[0][1] @ encoder.encode_passages([context])[0], dtype=np.float64)

    return similarity


def by_entailment(model: Any) -> Similarity:
    """The mean probability that a window of the page entails a line of the text, for a sentence-transformers
    CrossEncoder with a label "entailment", else its only score."""
    column = _entailment(model)

    def similarity(context: str, pages: Sequence[str]) -> Scores:
        matches = text_match(context, pages)
        scores = np.zeros(len(pages))
        lines = sorted((line for line in context.splitlines() if line.strip()), key=len, reverse=True)[:_SENTENCES]
        for page in np.argsort(-matches, kind="stable")[:_PAGES]:
            windows = [pages[page][at : at + _WINDOW] for at in range(0, max(len(pages[page]), 1), _WINDOW)]
            pairs = [(window, line) for line in lines for window in windows]
            found = np.asarray(model.predict(pairs, show_progress_bar=False), dtype=np.float64)
            entailed = _softmax(found)[:, column] if column is not None else found.reshape(-1)
            scores[page] = entailed.reshape(len(lines), len(windows)).max(axis=1).mean()
        return scores

    return similarity


def load_similarity(name: str, *, cross: bool, revision: str = "") -> Similarity:
    """The similarity of the model ``name``, a folder or hub name; "" compares words. Raises ModelUnavailableError."""
    if not name:
        return text_match
    if not cross:
        return by_encoder(load_encoder(EncoderSettings(model=name, revision=revision)))
    from sentence_transformers import CrossEncoder

    settings = RerankerSettings(model=name, revision=revision)
    return by_entailment(hub.sentence_transformers_model(CrossEncoder, "NLI model", settings))


def _entailment(model: Any) -> int | None:
    """The column of the label "entailment"; None for a model with one score."""
    labels = {str(label).lower(): number for number, label in model.config.id2label.items()}
    return labels.get("entailment") if len(labels) > 1 else None


def _softmax(scores: Scores) -> Scores:
    shifted = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=1, keepdims=True), dtype=np.float64)
