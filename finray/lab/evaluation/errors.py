"""Names the stage at which a question fails: company, filing, page or answer.

The *level* covers retrieval alone: how close the first k passages come to the gold page. The *error* covers the whole
question and names the first stage that failed. A right answer is right regardless of its passages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal, TypeVar, get_args

from finray.core.passages import Passage
from finray.core.predictions import Prediction
from finray.core.questions import GoldEvidence, Question
from finray.lab.evaluation import metrics
from finray.lab.evaluation.evaluate import OUTCOME_PASSAGES, Scores, outcome
from finray.lab.evaluation.known_filings import KnownFilings

Level = Literal[
    "gold page", "right filing, other page", "right company, other filing", "other company",
    "other filing, company unknown", "nothing",
]  # fmt: skip
Error = Literal[
    "right", "not judged", "wrong answer", "refused", "invented", "wrong page", "wrong filing", "wrong company",
    "failed",
]  # fmt: skip
LEVELS: tuple[Level, ...] = get_args(Level)
ERRORS: tuple[Error, ...] = get_args(Error)
"""From best to worst. "invented" is an answer to an unanswerable question."""
LEVEL_KS = (1, 5, 10)

_Label = TypeVar("_Label", bound=str)


def level(passages: Sequence[Passage], gold: Sequence[GoldEvidence], known: KnownFilings) -> Level:
    """How close the best of ``passages`` comes to ``gold``."""
    if not passages:
        return "nothing"
    if metrics.found_pages(passages, gold):
        return "gold page"
    if metrics.document_recall(passages, gold):
        return "right filing, other page"
    wanted = {known.company(evidence.doc_name) for evidence in gold} - {None}
    found = {known.company(passage.filing_id) or known.company(passage.doc_name) for passage in passages}
    if wanted & found:
        return "right company, other filing"
    return "other company" if wanted and None not in found else "other filing, company unknown"


def levels(
    pairs: Sequence[tuple[Question, Prediction]], known: KnownFilings, ks: Sequence[int] = LEVEL_KS
) -> dict[int, dict[Level, int]]:
    """For each k, the number of questions with a gold page at each level of their first k passages."""
    paged = [(question, prediction) for question, prediction in pairs if metrics.paged(question.evidence)]
    return {k: _counted([level(p.passages[:k], q.evidence, known) for q, p in paged], LEVELS) for k in ks}


def error_of(question: Question, prediction: Prediction, scores: Scores, known: KnownFilings) -> Error:
    """The error of ``question``. ``scores`` are those of :func:`finray.lab.evaluation.evaluate.score`."""
    if prediction.status == "error":
        return "failed"
    if metrics.is_unanswerable(question):
        return "right" if prediction.status == "unanswerable" else "invented"
    found = outcome(question, prediction, scores)
    if found == "wrong filing":
        reached = level(prediction.passages[:OUTCOME_PASSAGES], question.evidence, known)
        return "wrong company" if reached == "other company" else "wrong filing"
    return found


def counted_errors(errors: Sequence[Error]) -> dict[Error, int]:
    return _counted(errors, ERRORS)


def _counted(found: Sequence[_Label], order: Sequence[_Label]) -> dict[_Label, int]:
    counts = Counter(found)
    return {label: counts[label] for label in order if counts[label]}
