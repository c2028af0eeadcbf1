"""Recall and precision over the number of passages and over the iterations of the loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from finray.core.bootstrap import Estimate, estimate
from finray.core.passages import Passage
from finray.core.predictions import Prediction
from finray.core.questions import GoldEvidence, Question
from finray.lab.evaluation import metrics

K_MAX = 20
Curve = Mapping[int, Estimate]
"""Number of passages, or of iterations, -> macro mean with its interval."""

_METRICS: Mapping[str, Callable[[Sequence[Passage], Sequence[GoldEvidence]], float]] = {
    "document_recall": metrics.document_recall,
    "page_recall": metrics.page_recall,
    "page_precision": metrics.page_precision,
}


def curves_over_k(pairs: Sequence[tuple[Question, Prediction]], k_max: int = K_MAX) -> dict[str, Curve]:
    """Recall and precision of the first 1, 2, … passages, over the questions with gold pages.

    The curves end at ``k_max`` or with the longest ranking; a flat line beyond it would be misleading.
    """
    scored = _with_pages(pairs)
    longest = max((len(prediction.passages) for _, prediction in scored), default=0)
    return {
        name: {
            k: estimate([metric(prediction.passages[:k], question.evidence) for question, prediction in scored])
            for k in range(1, min(k_max, longest) + 1)
        }
        for name, metric in _METRICS.items()
    }


def curves_over_iterations(pairs: Sequence[tuple[Question, Prediction]]) -> dict[str, Curve]:
    """Recall and precision of the available pages after each iteration of the loop; 0 is the first retrieval.

    A question whose loop has ended keeps its pages, so every point is a mean over the same questions. Empty if no
    prediction recorded an iteration.
    """
    scored = _with_pages(pairs)
    last = max((len(prediction.rounds) for _, prediction in scored), default=0)
    if last == 0:
        return {}
    return {
        name: {
            iteration: estimate(
                [metric(_available(prediction, iteration), question.evidence) for question, prediction in scored]
            )
            for iteration in range(last + 1)
        }
        for name, metric in _METRICS.items()
    }


def _with_pages(pairs: Sequence[tuple[Question, Prediction]]) -> list[tuple[Question, Prediction]]:
    return [(question, prediction) for question, prediction in pairs if metrics.paged(question.evidence)]


def _available(prediction: Prediction, iteration: int) -> Sequence[Passage]:
    if iteration == 0 or not prediction.rounds:
        return prediction.passages
    return [
        Passage(ref.doc_name, ref.filing_id, ref.page, start=0, end=0, text="", score=0.0)
        for ref in prediction.rounds[min(iteration, len(prediction.rounds)) - 1]
    ]
