"""``finray evaluate``: score one or more prediction files against one question file."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

from rich.console import Console

from finray.cli.commands.runs import read_judge, read_runs
from finray.lab.evaluation.evaluate import evaluate
from finray.lab.evaluation.report import as_data, report


def run_evaluate(
    predictions: Sequence[str], questions: str, *, judgements: str | None = None, as_json: bool, out: Console
) -> int:
    """Print the scores; always 0, since a low score is a result."""
    runs, asked = read_runs(predictions, questions)
    judge, judged_by = read_judge(judgements)
    evaluations = {
        run.name: evaluate(run.predictions, asked, judge=judge, judged_by=judged_by, remarks=run.remarks)
        for run in runs
    }
    if as_json:
        data = {name: as_data(evaluation) for name, evaluation in evaluations.items()}
        sys.stdout.write(json.dumps(data if len(data) > 1 else next(iter(data.values()))) + "\n")
    else:
        out.print(report(evaluations))
    return 0
