"""Reads what a question asks to be ranked, by linear heads over the question alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Final

from finray.answering.question_heads import QuestionHeads, read_question_heads
from finray.answering.rankings.ranked import MEASURED, Measured
from finray.core.arrays import Floats

WEIGHTS: Final = "ranking_question.npz"
HEADS: Final[Mapping[str, int]] = {"ranks": 2, "measured": len(MEASURED), "direction": 2, "axis": 2}
"""Numbers of outputs: no, yes; MEASURED; highest, lowest; things, periods."""


@dataclass(frozen=True, slots=True)
class AskedRanking:
    """Log probabilities that the question asks which one ``ranks`` first; of what is ``measured``; that it asks for the
    ``highest`` or the ``lowest``, and that ``periods`` or other ``things`` are ranked."""

    ranks: float
    measured: Mapping[Measured, float]
    highest: float
    lowest: float
    things: float
    periods: float


def asked_ranking(heads: QuestionHeads, state: Floats) -> AskedRanking:
    """What the ``heads`` read from ``state``, the row reader's of the question alone, float64 [state]."""
    found = {name: each.tolist() for name, each in heads.log_probabilities(state).items()}
    measured = dict(zip(MEASURED, found["measured"], strict=True))
    return AskedRanking(found["ranks"][1], measured, *found["direction"], *found["axis"])


@cache
def shipped_ranking_heads() -> QuestionHeads:
    """The heads that come with finray. Raises ModelUnavailableError if their file is of another version."""
    with resources.files("finray.answering.rankings").joinpath(WEIGHTS).open("rb") as file:
        return read_question_heads(file, WEIGHTS, HEADS)
