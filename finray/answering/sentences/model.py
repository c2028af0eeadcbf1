"""Chooses the sentences that answer: a linear model over their features, fitted by ``finray train sentences``.

The softmax of the scores over a question's sentences is the probability of being the evidence. A second, logistic model
over SIGNALS is the probability that the chosen sentences hold the answer at all; below a threshold none answers.
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
"""Sentences of an answer."""
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
_CAUSE: Final = list(FEATURES).index("cause")
_OF_BEST: Final = ("chunk", "page", "figures", "cause", "amount", "no_amount")


@dataclass(frozen=True, slots=True)
class SentenceModel:
    """``weights`` is float64 [len(FEATURES)], ``answers`` float64 [len(SIGNALS)], in their orders; ``threshold`` is the
    least probability with which sentences answer, ``amount_threshold`` if no table has the amount that is asked for."""

    weights: Floats
    answers: Floats
    threshold: float
    amount_threshold: float

    def scores(self, features: Floats) -> Floats:
        return np.asarray(features @ self.weights)

    def probability(self, found: Candidates, scores: Floats, chosen: Sequence[int]) -> float:
        """That ``chosen`` sentences, the best one first, hold the answer."""
        return probability(signals(found.features, scores, chosen), self.answers)


def choose(found: Candidates, scores: Floats) -> list[int]:
    """The numbers of at most MOST sentences, best first: the best one, what it needs to be understood, and others that
    are nearly as good, from the same filing. What is to be explained comes with the sentence after it that does."""
    best = int(np.argmax(scores))
    chosen: list[int] = []
    size = 0
    gives_cause = found.features[:, _CAUSE] > 0

    def add(number: int) -> None:
        nonlocal size
        while True:  # a function that called itself would keep all sentences until garbage is collected
            text = found.sentences[number].text
            fits = not chosen or (len(chosen) < MOST and size + len(text) <= MOST_CHARACTERS)
            if not fits or any(text == found.sentences[other].text for other in chosen):
                return
            chosen.append(number)
            size += len(text)
            if not (together(found, number, number + 1) and gives_cause[number + 1]) or gives_cause[number]:
                return
            number += 1

    add(best)
    if is_dangling(found.sentences[best].text) and together(found, best - 1, best):
        add(best - 1)
    if found.sentences[best].text.endswith(":") and _follows(found, best):
        add(best + 1)
    filings = [page.filing_id for page in found.pages]
    raised = scores.copy()
    for other in (best - 1, best + 1):
        if together(found, other, best):
            raised[other] += BESIDE
    for number in np.argsort(-raised, kind="stable").tolist():
        if raised[number] < scores[best] - MARGIN:
            break
        if filings[found.numbers[number]] == filings[found.numbers[best]]:
            add(number)
    return chosen


def signals(features: Floats, scores: Floats, chosen: Sequence[int]) -> Floats:
    """The SIGNALS of ``chosen``, float64 [len(SIGNALS)]."""
    odds = np.exp(scores - scores.max())
    best = features[chosen[0]]
    column = {name: at for at, name in enumerate(FEATURES)}
    values = {
        "constant": 1.0,
        "mass": float(odds[list(chosen)].sum() / odds.sum()),
        "words": float(features[:, column["words"]].max()),
        **{name: float(best[column[name]]) for name in _OF_BEST},
    }
    return np.asarray([values[name] for name in SIGNALS])


def _follows(found: Candidates, number: int) -> bool:
    return number + 1 < len(found.sentences) and found.numbers[number + 1] == found.numbers[number]


def together(found: Candidates, one: int, other: int) -> bool:
    """Whether both exist, in one paragraph."""
    if not (0 <= one < len(found.sentences) and 0 <= other < len(found.sentences)):
        return False
    same_page = found.numbers[one] == found.numbers[other]
    return same_page and found.sentences[one].block == found.sentences[other].block


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
