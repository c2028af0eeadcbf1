"""Splits questions so that no model is tested on a filing that it was trained on."""

from __future__ import annotations

import random
from collections.abc import Sequence

from finray.core.errors import UsageError
from finray.lab.training.fine_tuning.corpus import TrainingQuestion


def folds_by_document(questions: Sequence[TrainingQuestion], folds: int, seed: int) -> list[list[TrainingQuestion]]:
    """``folds`` lists of about equal size. Questions that share a document, directly or transitively, stay together.

    Raises UsageError if there are fewer such groups than folds.
    """
    groups = _groups(questions)
    if folds < 2 or len(groups) < folds:
        raise UsageError(
            f"{folds} folds need at least {max(2, folds)} groups of questions that share no document; "
            f"{len(questions)} questions make {len(groups)}"
        )
    # Adding the largest groups first to the smallest fold keeps sizes even; the shuffle orders equal groups.
    random.Random(seed).shuffle(groups)
    groups.sort(key=len, reverse=True)
    result: list[list[TrainingQuestion]] = [[] for _ in range(folds)]
    for group in groups:
        min(result, key=len).extend(group)
    return result


def held_out(
    questions: Sequence[TrainingQuestion], share: float, seed: int
) -> tuple[list[TrainingQuestion], list[TrainingQuestion]]:
    """(training, held out): about ``share`` of the questions are held out, by whole groups of documents.

    Raises UsageError if there are too few groups to hold one out.
    """
    if not share:
        return list(questions), []
    parts = folds_by_document(questions, max(2, round(1 / share)), seed)
    return [question for part in parts[1:] for question in part], parts[0]


def _groups(questions: Sequence[TrainingQuestion]) -> list[list[TrainingQuestion]]:
    parent: dict[str, str] = {}

    def root(document: str) -> str:
        while parent.setdefault(document, document) != document:
            parent[document] = document = parent[parent[document]]
        return document

    for question in questions:
        for document in question.documents:
            parent[root(document)] = root(question.documents[0])
    groups: dict[str, list[TrainingQuestion]] = {}
    for question in questions:
        groups.setdefault(root(question.documents[0]), []).append(question)
    return list(groups.values())
