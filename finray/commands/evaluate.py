"""``finray evaluate``: score one or more prediction files against one question file."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import PurePosixPath

from rich.console import Console

from finray.errors import UsageError
from finray.evaluation.evaluate import Evaluation, evaluate
from finray.evaluation.report import as_data, report
from finray.prediction_store import read_predictions
from finray.questions import BadLine, read_questions
from finray.types import Question


def run_evaluate(predictions: Sequence[str], questions: str, *, as_json: bool, out: Console) -> int:
    """Print the scores; always 0, since a low score is a result."""
    lines = list(read_questions(questions))
    asked = [line for line in lines if isinstance(line, Question)]
    bad = sum(isinstance(line, BadLine) for line in lines)
    if not asked:
        raise UsageError(f"{questions!r} holds no question that can be scored")
    evaluations: dict[str, Evaluation] = {}
    for uri in predictions:
        file = read_predictions(uri)
        remarks = [*file.remarks, *([f"{bad} lines of the question file are unusable"] if bad else [])]
        evaluations[_name(uri, evaluations)] = evaluate(file.predictions, asked, remarks=remarks)
    if as_json:
        data = {name: as_data(evaluation) for name, evaluation in evaluations.items()}
        sys.stdout.write(json.dumps(data if len(data) > 1 else next(iter(data.values()))) + "\n")
    else:
        out.print(report(evaluations))
    return 0


def _name(uri: str, taken: dict[str, Evaluation]) -> str:
    stem = PurePosixPath(uri).stem
    return stem if stem not in taken else uri
