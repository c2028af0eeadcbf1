"""Word similarity of a question and texts, to choose hard negatives and the candidates of held-out questions.

TF-IDF with sublinear term counts: like BM25 it needs no model, so the choice does not depend on the trained model.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from finray.core.arrays import Floats
from finray.lab.training.fine_tuning.corpus import Corpus, TrainingQuestion, Unit


class WordSimilarity:
    """Cosine similarity of TF-IDF vectors between any text and a fixed list of texts."""

    def __init__(self, texts: Sequence[str]) -> None:
        from sklearn.feature_extraction.text import TfidfVectorizer

        self._vectorizer = TfidfVectorizer(sublinear_tf=True, token_pattern=r"(?u)\w+", dtype=np.float64)
        # Scanned pages have no words; the added word keeps the vocabulary from being empty.
        self._matrix = self._vectorizer.fit_transform([f"{text} text" for text in texts])

    def to(self, text: str) -> Floats:
        """float64 [len(texts)] in [0, 1]."""
        scores: Floats = (self._matrix @ self._vectorizer.transform([text]).T).toarray()[:, 0]
        return scores


def best_first(scores: Floats) -> list[int]:
    """Positions by score, best first; ties keep their order."""
    return [int(index) for index in np.argsort(-scores, kind="stable")]


class UnitPools:
    """The units that compete for a question: those of its documents, or of its whole source if a document is one page.
    Cached, because questions share them."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._pools: dict[tuple[str, ...], tuple[list[Unit], WordSimilarity]] = {}

    def of(self, question: TrainingQuestion) -> tuple[list[Unit], WordSimilarity]:
        key = question.documents if question.within else (question.source,)
        if key not in self._pools:
            documents: Sequence[str] = question.documents
            if not question.within:
                documents = [d for d, source in self._corpus.sources.items() if source == question.source]
            units = [unit for document in documents for unit in self._corpus.units[document]]
            self._pools[key] = (units, WordSimilarity([unit.text for unit in units]))
        return self._pools[key]
