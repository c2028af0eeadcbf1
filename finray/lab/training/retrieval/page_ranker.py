"""Fits the weights of ``finray.retrieval.page_model``: a conditional logit over the candidate pages of a question.

McFadden's conditional logit (listwise softmax regression) with an L2 penalty is convex, fits in a second and outputs
probabilities. Every question has the same weight, regardless of its number of candidates. Questions whose gold page is
not among the candidates are omitted from fitting, but not from scoring.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from finray.core.arrays import Floats
from finray.core.questions import Question
from finray.retrieval.page_features import FEATURES, PageCandidates

DOCUMENT_WEIGHT = 2.0
"""Fixed weight of a tenth of a filing's match. A fitted weight is half as large, because of the few questions whose
gold filing matches badly; the fixed one ranked as well or better in every measure on both question sets."""


@dataclass(frozen=True, slots=True)
class RankedQuestion:
    """``features`` is float64 [n, len(FEATURES)]. ``evidence`` holds for each gold page its candidate rows (the page
    and its alternatives), possibly none. Folds do not split a ``group``."""

    qid: str
    group: str
    features: Floats
    evidence: tuple[frozenset[int], ...]

    @property
    def target(self) -> Floats:
        """Probability mass over the rows, in equal shares for each gold page; all zero without a gold row."""
        mass = np.zeros(len(self.features))
        for rows in self.evidence:
            for row in rows:
                mass[row] += 1 / len(rows)
        return np.asarray(mass / (mass.sum() or 1.0))


def ranked_question(
    question: Question, group: str, candidates: PageCandidates, doc_names: dict[str, str]
) -> RankedQuestion:
    """``doc_names`` maps filing ids to the document names of the evidence."""
    pages = [(doc_names[filing_id], page) for filing_id, page in candidates.keys]
    evidence = tuple(
        frozenset(row for row, page in enumerate(pages) if page in gold.places)
        for gold in question.evidence
        if gold.pages
    )
    return RankedQuestion(question.qid, group, candidates.features, evidence)


def fit(questions: Iterable[RankedQuestion], l2: float) -> Floats:
    """Weights float64 [len(FEATURES)] that maximize the penalized likelihood, with DOCUMENT_WEIGHT fixed."""
    lists = [(q.features, q.target) for q in questions if len(q.features) and q.target.any()]

    def loss(weights: Floats) -> tuple[float, Floats]:
        total, gradient = l2 * float(weights @ weights) / 2, l2 * weights
        for features, target in lists:
            scores = features @ weights
            log_probabilities = scores - scores.max()
            log_probabilities -= np.log(np.exp(log_probabilities).sum())
            total -= float(target @ log_probabilities)
            gradient = gradient - features.T @ (target - np.exp(log_probabilities))
        return total, gradient

    start = np.asarray([DOCUMENT_WEIGHT if name == "document" else 0.0 for name in FEATURES])
    bounds = [(DOCUMENT_WEIGHT,) * 2 if name == "document" else (None, None) for name in FEATURES]
    return np.asarray(minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x, dtype=np.float64)


def recall_at(question: RankedQuestion, weights: Floats, k: int) -> float:
    """Share of the gold pages among the ``k`` best-scored candidates."""
    if not question.evidence:
        return 0.0
    best = set(np.argsort(-(question.features @ weights), kind="stable")[:k].tolist())
    return sum(bool(rows & best) for rows in question.evidence) / len(question.evidence)


def held_out_recall(
    questions: Sequence[RankedQuestion], also: Sequence[RankedQuestion], l2: float, ks: Sequence[int]
) -> dict[str, tuple[float, ...]]:
    """Recall at each of ``ks`` by qid; weights fitted without a group rank its ``questions``.

    ``also`` are additional training questions in every fold, except those of the held-out group.
    """
    result: dict[str, tuple[float, ...]] = {}
    for group in sorted({question.group for question in questions}):
        weights = fit([q for q in (*questions, *also) if q.group != group], l2)
        for question in questions:
            if question.group == group:
                result[question.qid] = tuple(recall_at(question, weights, k) for k in ks)
    return result
