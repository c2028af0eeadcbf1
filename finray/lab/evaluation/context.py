"""Quality of retrieved passages as FinGEAR reports it (arXiv 2509.12042, section 4.2): precision, recall, F1 and
relevancy of the first k passages, after RAGAS (Es et al. 2023, arXiv 2309.15217).

Each is computed twice: by rules, from gold pages and words; and by a language model that judges the passages
(``finray.lab.evaluation.judging.context_judge``). F1 is computed from the means, as in the paper's tables: precision
.79 and recall .61 of table 1 give its .69.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from finray.core.bootstrap import Estimate, estimate
from finray.core.passages import Passage
from finray.core.questions import Question
from finray.lab.evaluation.metrics import page_recall, paged
from finray.question.terms import content_terms

_FIGURE = re.compile(r"\d[\d,.]*\d|\d")


@dataclass(frozen=True, slots=True)
class ContextScores:
    """Scores of one question's passages, each in [0, 1]. ``recall`` and ``precision`` are None without gold."""

    precision: float | None
    recall: float | None
    relevancy: float | None


@dataclass(frozen=True, slots=True)
class ContextQuality:
    """Means over questions."""

    precision: Estimate
    recall: Estimate
    relevancy: Estimate

    @property
    def f1(self) -> float | None:
        """The harmonic mean of the two means; None if one is unknown."""
        return harmonic_mean(self.precision.value, self.recall.value)


def harmonic_mean(first: float | None, second: float | None) -> float | None:
    if first is None or second is None:
        return None
    return 2 * first * second / (first + second) if first + second else 0.0


def context_quality(scores: Sequence[ContextScores]) -> ContextQuality:
    """Each mean is over the questions that have the score."""

    def mean(name: str) -> Estimate:
        values = [getattr(one, name) for one in scores]
        return estimate([value for value in values if value is not None])

    return ContextQuality(mean("precision"), mean("recall"), mean("relevancy"))


def rule_scores(question: Question, passages: Sequence[Passage]) -> ContextScores:
    """By rules: the share of ``passages`` that are on a gold page; the share of gold pages found; and the mean share
    of the question's terms and figures that a passage has."""
    gold = paged(question.evidence)
    relevancy = _mean([shared_words(question.question, passage.text) for passage in passages])
    if not gold:
        return ContextScores(None, None, relevancy)
    right = {place for evidence in gold for place in evidence.places}
    on_gold = [not right.isdisjoint({(p.doc_name, p.page), (p.filing_id, p.page)}) for p in passages]
    return ContextScores(_mean([float(hit) for hit in on_gold]), page_recall(passages, gold), relevancy)


def shared_words(question: str, text: str) -> float:
    """Share of the question's terms and figures that ``text`` has; 0 for a question without any."""
    wanted = _words(question)
    return len(wanted & _words(text)) / len(wanted) if wanted else 0.0


def _words(text: str) -> set[str]:
    return {*content_terms(text), *_FIGURE.findall(text)}


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
