"""Predictions as JSON lines; ``finray.core.predictions`` defines their fields."""

from __future__ import annotations

from finray.batch.question_lines import BadLine
from finray.core.predictions import Prediction
from finray.core.records import from_row, parse_json, to_json


def encode(prediction: Prediction) -> bytes:
    """One JSON line with its line feed, in UTF-8.

    JSON has no NaN or infinity: a prediction that holds one becomes an error, so that one wrong score does not stop a
    run.
    """
    try:
        return to_json(prediction) + b"\n"
    except ValueError:
        return to_json(_not_finite(prediction)) + b"\n"


def decode(line: bytes) -> Prediction:
    """The prediction on ``line``. Raises ValueError with the problem."""
    try:
        return from_row(Prediction, parse_json(line))
    except ValueError as error:
        raise ValueError(f"not a prediction: {error}") from error


def prediction_of_bad_line(bad: BadLine, settings_hash: str) -> Prediction:
    """The prediction, an error, for a line that cannot be asked."""
    return Prediction(
        qid=bad.qid,
        question=bad.text,
        answer="",
        status="error",
        error=f"line {bad.line}: {bad.reason}",
        settings_hash=settings_hash,
        line=bad.line,
    )


def _not_finite(prediction: Prediction) -> Prediction:
    return Prediction(
        qid=prediction.qid,
        question=prediction.question,
        answer="",
        status="error",
        error="the answer's value or a score is not a finite number: a bug in finray, please report it",
        iterations=prediction.iterations,
        usage=prediction.usage,
        unusable=prediction.unusable,
        settings_hash=prediction.settings_hash,
        line=prediction.line,
    )
