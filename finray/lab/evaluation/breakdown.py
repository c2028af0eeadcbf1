"""Scores by question type, and by form and company of the gold filings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from finray.core.bootstrap import Estimate
from finray.core.questions import Question
from finray.lab.evaluation.evaluate import NO_TYPE, Scores, estimates
from finray.lab.evaluation.known_filings import KnownFilings

Dimension = Literal["question type", "form", "company"]
Breakdown = Mapping[str, Mapping[str, Estimate]]
"""Group -> metric -> macro mean with its interval; groups in order of name."""
UNKNOWN = "(unknown)"


def breakdowns(
    questions: Sequence[Question], scores: Mapping[str, Scores], known: KnownFilings
) -> dict[Dimension, Breakdown]:
    """Scores by dimension. A question about two companies counts for both. Questions without evidence have neither
    form nor company."""

    def forms(question: Question) -> set[str]:
        return {known.form(evidence.doc_name) or UNKNOWN for evidence in question.evidence}

    def companies(question: Question) -> set[str]:
        return {known.company(evidence.doc_name) or UNKNOWN for evidence in question.evidence}

    return {
        "question type": _grouped(questions, scores, lambda question: {question.question_type or NO_TYPE}),
        "form": _grouped(questions, scores, forms),
        "company": _grouped(questions, scores, companies),
    }


def _grouped(
    questions: Sequence[Question], scores: Mapping[str, Scores], groups: Callable[[Question], set[str]]
) -> Breakdown:
    rows: dict[str, list[Scores]] = defaultdict(list)
    for question in questions:
        for group in groups(question):
            rows[group].append(scores[question.qid])
    return {
        group: estimates(rows[group]) for group in sorted(rows, key=lambda name: (name == UNKNOWN, name.casefold()))
    }
