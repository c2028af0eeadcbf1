"""Labels of what questions ask to be ranked, for the heads of ``finray.answering.rankings.asked``."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, cast

import numpy as np

from finray.answering.rankings.asked import HEADS
from finray.answering.rankings.ranked import MEASURED, Measured
from finray.core.errors import UsageError
from finray.core.questions import Question
from finray.lab.training.question.question_heads import UNKNOWN, HeadData
from finray.models.row_reader import RowReader

WRITTEN: Final = "ranking_"
"""Prefix of the types of questions written about rankings; :func:`gold_ranking` reads their ``program``."""
NATURAL: Final = "open_extreme"
"""Type of questions that ask for a ranking and have an answer in words but no program."""
INVENTED: Final = "unanswerable_ranking"
"""Type of questions that ask for a ranking of things that the company does not have."""
_PROGRAM = re.compile(r"(?P<direction>max|min)\((?P<measured>value|difference|growth)\): (?P<figures>.+)")
_TEXT_GROUPS = 50
"""Groups into which questions without a filing are split, for folds."""
_PERIOD = re.compile(
    r"\b(?:(?:19|20)\d\d|quarter|fiscal|months?|january|february|march|april|may|june|july|august|september|october|"
    r"november|december)\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class GoldRanking:
    """What a written question ranks by, and the winner's figures as printed, the later one first."""

    measured: Measured
    lowest: bool
    figures: str


@dataclass(frozen=True, slots=True)
class LabelledQuestion:
    """A question that asks for a ranking, with its labels; ``axis`` is what is ranked."""

    question: str
    measured: Measured
    direction: Literal["max", "min"]
    axis: Literal["things", "periods"]


def is_ranking(question: Question) -> bool:
    """Whether a ranking answers ``question``."""
    kind = question.question_type or ""
    return kind.startswith(WRITTEN) or kind == NATURAL


def gold_ranking(question: Question) -> GoldRanking | None:
    """Parse a program such as ``min(growth): 1,797, 2,010``; None if the question has none."""
    found = _PROGRAM.fullmatch(question.program or "") if (question.question_type or "").startswith(WRITTEN) else None
    if found is None:
        return None
    return GoldRanking(cast(Measured, found["measured"]), found["direction"] == "min", found["figures"])


def labelled_questions(path: Path) -> list[LabelledQuestion]:
    """Read a .jsonl file. Raises UsageError for a bad line."""
    result = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            record = json.loads(line)
            labelled = LabelledQuestion(
                **{name: record[name] for name in ("question", "measured", "direction", "axis")}
            )
            known = labelled.measured in MEASURED and labelled.direction in ("max", "min")
            if not known or labelled.axis not in ("things", "periods") or not labelled.question:
                raise ValueError(f"no such labels: {labelled}")
        except (ValueError, KeyError, TypeError) as error:
            raise UsageError(f"{path}, line {number}: not a labelled ranking question: {error!r}") from error
        result.append(labelled)
    return result


def head_data(
    questions: Sequence[Question], labelled: Sequence[LabelledQuestion], others: Sequence[str], reader: RowReader
) -> HeadData:
    """Labels and states of ``questions``, whose programs hold their labels, then of ``labelled`` questions, then of
    ``others``, which ask for no ranking."""
    rows: list[dict[str, int]] = []
    for question in questions:
        gold = gold_ranking(question)
        if gold is None:
            rows.append({"ranks": int(is_ranking(question) or question.question_type == INVENTED)})
            continue
        periods = _PERIOD.search((question.answer or "").rpartition(": ")[0]) is not None
        rows.append(_labels(gold.measured, lowest=gold.lowest, periods=periods))
    rows += [
        _labels(each.measured, lowest=each.direction == "min", periods=each.axis == "periods") for each in labelled
    ]
    rows += [{"ranks": 0} for _ in others]
    texts = [*(each.question for each in questions), *(each.question for each in labelled), *others]
    groups = [
        question.evidence[0].doc_name.partition("_")[0] if question.evidence else question.qid for question in questions
    ]
    groups += [f"text {number % _TEXT_GROUPS}" for number in range(len(labelled) + len(others))]
    states = np.stack([reader.question_state(text) for text in texts])
    labels = {name: np.asarray([row.get(name, UNKNOWN) for row in rows], dtype=np.int64) for name in HEADS}
    return HeadData(states, labels, groups)


def _labels(measured: Measured, *, lowest: bool, periods: bool) -> dict[str, int]:
    return {"ranks": 1, "measured": MEASURED.index(measured), "direction": int(lowest), "axis": int(periods)}
