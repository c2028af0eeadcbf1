"""Reads the inputs of an evaluation: predictions files, a question file, and judgements of a language model."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from finray.batch.prediction_store import read_predictions
from finray.batch.question_files import BadLine, read_questions
from finray.core.errors import UsageError
from finray.core.predictions import Prediction
from finray.core.questions import Question
from finray.lab.evaluation.evaluate import Judge
from finray.lab.evaluation.judging.judgement_store import read_judgements
from finray.lab.evaluation.judging.rule_judge import NAME as RULES


@dataclass(frozen=True, slots=True)
class Run:
    """One predictions file."""

    name: str
    predictions: tuple[Prediction, ...]
    remarks: tuple[str, ...]


def read_runs(predictions: Sequence[str], questions: str) -> tuple[list[Run], list[Question]]:
    """The runs and the questions that can be scored. Raises UsageError if there are none, SourceError."""
    lines = list(read_questions(questions))
    asked = [line for line in lines if isinstance(line, Question)]
    bad = sum(isinstance(line, BadLine) for line in lines)
    if not asked:
        raise UsageError(f"{questions!r} holds no question that can be scored")
    remark = [f"{bad} lines of the question file are unusable"] if bad else []
    runs: list[Run] = []
    for uri in predictions:
        file = read_predictions(uri)
        runs.append(Run(_name(uri, {run.name for run in runs}), file.predictions, (*file.remarks, *remark)))
    return runs, asked


def read_judge(judgements: str | None) -> tuple[Judge | None, str]:
    """(judge, name) of a file that `finray judge` wrote; (None, "") without a file.

    Raises UsageError for verdicts of the rules, which score every answer without a file; SourceError.
    """
    if judgements is None:
        return None, ""
    file = read_judgements(judgements)
    if file.judge == RULES:
        raise UsageError(f"{judgements!r} holds verdicts of the {RULES}: textual_rule_accuracy has them without a file")
    return file.verdict, file.judge


def _name(uri: str, taken: Collection[str]) -> str:
    """The file's stem, or its whole location if another run has the same stem."""
    stem = PurePosixPath(uri).stem
    return stem if stem not in taken else uri
