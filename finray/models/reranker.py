"""The role of a reranker: it scores (query, text) pairs."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from finray.core.settings import RerankerSettings
from finray.models import hub

Scores = npt.NDArray[np.float32]


class Reranker(Protocol):
    def scores(self, query: str, texts: Sequence[str]) -> Scores:
        """float32 [len(texts)], higher is better; comparable among the texts of one query."""
        ...


class PairReranker(Reranker, Protocol):
    def score_pairs(self, pairs: Sequence[tuple[str, str]]) -> Scores:
        """float32 [len(pairs)]: the scores of one or more (query, text) pairs, which may have several queries."""
        ...


@runtime_checkable
class AwaitableReranker(Protocol):
    """A reranker whose caller can do other work meanwhile, because it runs elsewhere."""

    async def pair_scores(self, query: str, texts: Sequence[str]) -> Scores:
        """As :meth:`Reranker.scores`."""
        ...


async def pair_scores(reranker: Reranker, query: str, texts: Sequence[str]) -> Scores:
    """``reranker.scores(query, texts)``; while a reranker elsewhere computes them, other questions go on."""
    if isinstance(reranker, AwaitableReranker):
        return await reranker.pair_scores(query, texts)
    return reranker.scores(query, texts)


RerankerLoader = Callable[[RerankerSettings], Reranker]


class OverlapReranker:
    """A fake without weights: the share of the query's words that occur in the text."""

    def score_pairs(self, pairs: Sequence[tuple[str, str]]) -> Scores:
        return np.concatenate([self.scores(query, [text]) for query, text in pairs])

    def scores(self, query: str, texts: Sequence[str]) -> Scores:
        wanted = set(re.findall(r"\w+", query.lower()))
        found = [len(wanted & set(re.findall(r"\w+", text.lower()))) / (len(wanted) or 1) for text in texts]
        return np.asarray(found, dtype=np.float32)


class CrossEncoderReranker:
    """A sentence-transformers CrossEncoder folder or hub name."""

    def __init__(self, settings: RerankerSettings) -> None:
        from sentence_transformers import CrossEncoder

        kind = partial(CrossEncoder, max_length=settings.max_tokens)
        self._model = hub.sentence_transformers_model(kind, "reranker", settings)
        self._batch_size = settings.batch_size

    def scores(self, query: str, texts: Sequence[str]) -> Scores:
        if not texts:
            return np.zeros(0, dtype=np.float32)
        return self.score_pairs([(query, text) for text in texts])

    def score_pairs(self, pairs: Sequence[tuple[str, str]]) -> Scores:
        result = self._model.predict(list(pairs), batch_size=self._batch_size, show_progress_bar=False)
        return np.asarray(result, dtype=np.float32)


def load_reranker(settings: RerankerSettings) -> PairReranker:
    """The reranker of ``settings``; "overlap" is the fake. Raises ModelUnavailableError."""
    return OverlapReranker() if settings.model == "overlap" else CrossEncoderReranker(settings)
