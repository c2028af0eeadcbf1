"""How near sentences are to a question in meaning, by the static token vectors that come with finray: "turnover" is near
"net sales". No text is passed through a network, so hundreds of sentences take milliseconds."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from finray.models.static_encoder import shipped_static_encoder

Floats = npt.NDArray[np.float64]


class Meaning(NamedTuple):
    """float64 [texts] each. ``cosine`` is that of question and text, ``aligned`` the mean of how near the nearest token
    of the text is to each token of the question, rare tokens first."""

    cosine: Floats
    aligned: Floats


def meaning(question: str, texts: Sequence[str]) -> Meaning:
    """How near each of ``texts`` is to ``question``; 0 without a known token."""
    vectors = shipped_static_encoder().token_vectors
    asked = _tokens(question)
    own = [_tokens(text) for text in texts]
    known = np.unique(np.concatenate([*own, np.zeros(0, np.int64)]))
    if not len(asked) or not len(known):
        return Meaning(np.zeros(len(texts)), np.zeros(len(texts)))
    question_vectors, text_vectors = vectors[asked], vectors[known]
    worth = np.linalg.norm(question_vectors, axis=1)
    near = _unit(question_vectors) @ _unit(text_vectors).T
    whole = _unit(question_vectors.sum(axis=0, keepdims=True))[0]
    cosine, aligned = np.zeros(len(texts)), np.zeros(len(texts))
    for number, ids in enumerate(own):
        if len(ids):
            at = np.searchsorted(known, ids)
            cosine[number] = _unit(text_vectors[at].sum(axis=0, keepdims=True))[0] @ whole
            aligned[number] = float(worth @ np.maximum(near[:, at].max(axis=1), 0.0)) / float(worth.sum() or 1.0)
    return Meaning(cosine, aligned)


@lru_cache(maxsize=20_000)
def _tokens(text: str) -> npt.NDArray[np.int64]:
    return shipped_static_encoder().token_ids([text])[0]


def _unit(rows: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: npt.NDArray[np.float32] = rows / np.where(lengths == 0, 1.0, lengths)
    return unit
