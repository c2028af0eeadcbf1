"""Chooses the sentences that answer: a linear model over their features, fitted by ``finray train sentences``.

The softmax of the scores over a question's sentences is the probability of each to be the evidence. A second, logistic
model over SIGNALS gives the probability that the chosen sentences hold the answer at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np

from finray.answering.choice_model import Fitted, fitted_json, probability, read_fitted
from finray.answering.sentences.cues import is_dangling
from finray.answering.sentences.features import FEATURES, Candidates
from finray.core.arrays import Floats
from finray.core.data_files import shipped

MOST = 3
"""Sentences of an answer, at most."""
MARGIN = 1.5
"""Another sentence is chosen if its score is at most this much below the best one's."""
BESIDE = 1.0
"""Added to the score of the sentences beside the best one, in its paragraph."""
MOST_CHARACTERS = 1000

SIGNALS: Final[Mapping[str, str]] = {
    "constant": "1",
    "mass": "probability of the chosen sentences among all",
    "words": "largest share of the question's words in a sentence",
    "chunk": "cosine of the question and the best sentence's chunk",
    "page": "logarithm of the probability of the best sentence's page",
    "figures": "share of the question's figures in the best sentence",
    "cause": "a cue of a cause in the best sentence, asked for",
    "amount": "a figure in the best sentence, asked for",
    "no_amount": "no figure in the best sentence, though an amount is asked for",
}
_COLUMN: Final = {name: at for at, name in enumerate(FEATURES)}
_OF_BEST: Final = ("chunk", "page", "figures", "cause", "amount", "no_amount")


@dataclass(frozen=True, slots=True)
class SentenceModel:
    """``weights`` is float64 [len(FEATURES)], ``answers`` float64 [len(SIGNALS)], in their orders. ``threshold`` is the
    least probability with which sentences answer, ``amount_threshold`` that if no table has the amount asked for."""

    weights: Floats
    answers: Floats
    threshold: float
    amount_threshold: float

    def scores(self, features: Floats) -> Floats:
        """float64 [len(features)]"""
        return np.asarray(features @ self.weights)

    def probability(self, found: Candidates, scores: Floats, chosen: Sequence[int]) -> float:
        """The probability that the ``chosen`` sentences, the best one first, hold the answer."""
        return probability(signals(found.features, scores, chosen), self.answers)


def choose(found: Candidates, scores: Floats, able: Sequence[bool] | None = None) -> list[int]:
    """The numbers of at most MOST sentences of one filing: the best one of those ``able`` to answer, by default all,
    the ones that it needs to be understood, then others that are able and nearly as good. A sentence that the next one
    explains comes with that."""
    if able is not None:
        scores = np.where(np.asarray(able, dtype=np.bool_), scores, -np.inf)
    best = int(np.argmax(scores))
    chosen: list[int] = []
    _add(chosen, best, found)
    if is_dangling(found.sentences[best].text) and found.in_one_paragraph(best - 1, best):
        _add(chosen, best - 1, found)
    if found.sentences[best].text.endswith(":") and _is_followed(found, best):
        _add(chosen, best + 1, found)
    filings = [page.filing_id for page in found.pages]
    raised = scores.copy()
    for other in (best - 1, best + 1):
        if found.in_one_paragraph(other, best):
            raised[other] += BESIDE
    for number in np.argsort(-raised, kind="stable").tolist():
        if raised[number] < scores[best] - MARGIN:
            break
        if filings[found.numbers[number]] == filings[found.numbers[best]]:
            _add(chosen, number, found)
    return chosen


def _add(chosen: list[int], number: int, found: Candidates) -> None:
    """Adds sentence ``number`` if there is room, and the next one if only that gives the cause of it."""
    while _fits(found, chosen, number):
        chosen.append(number)
        explained = found.in_one_paragraph(number, number + 1) and _gives_cause(found, number + 1)
        if _gives_cause(found, number) or not explained:
            return
        number += 1


def _fits(found: Candidates, chosen: Sequence[int], number: int) -> bool:
    """Whether sentence ``number`` says something new, and is short enough unless it is the first one."""
    text = found.sentences[number].text
    texts = [found.sentences[other].text for other in chosen]
    if text in texts:
        return False
    return not texts or (len(texts) < MOST and sum(map(len, texts)) + len(text) <= MOST_CHARACTERS)


def _gives_cause(found: Candidates, number: int) -> bool:
    return bool(found.features[number, _COLUMN["cause"]] > 0)


def signals(features: Floats, scores: Floats, chosen: Sequence[int]) -> Floats:
    """The SIGNALS of ``chosen``, float64 [len(SIGNALS)]."""
    odds = np.exp(scores - scores.max())
    best = features[chosen[0]]
    values = {
        "constant": 1.0,
        "mass": float(odds[list(chosen)].sum() / odds.sum()),
        "words": float(features[:, _COLUMN["words"]].max()),
        **{name: float(best[_COLUMN[name]]) for name in _OF_BEST},
    }
    return np.asarray([values[name] for name in SIGNALS])


def _is_followed(found: Candidates, number: int) -> bool:
    """Whether another sentence of the same page follows."""
    return number + 1 < len(found.sentences) and found.numbers[number + 1] == found.numbers[number]


@cache
def shipped_sentence_model() -> SentenceModel:
    """The model that comes with finray. Raises ModelUnavailableError if its file is of another version."""
    return read_sentence_model(shipped("finray.answering.sentences", "sentence_model.json"), "sentence_model.json")


def read_sentence_model(text: str, source: str) -> SentenceModel:
    """Raises ModelUnavailableError."""
    fitted = read_fitted(text, source, "sentences", FEATURES, SIGNALS, ("threshold", "amount_threshold"))
    return SentenceModel(fitted.weights, fitted.answers, **fitted.thresholds)


def sentence_model_json(model: SentenceModel, trained: Mapping[str, Any]) -> str:
    """The file's content; ``trained`` describes the training data."""
    thresholds = {"threshold": model.threshold, "amount_threshold": model.amount_threshold}
    return fitted_json(Fitted(model.weights, model.answers, thresholds), FEATURES, SIGNALS, trained)
