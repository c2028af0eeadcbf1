"""``finray report``: one or more prediction files looked at from every side, as one HTML file."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import PurePosixPath

from rich.console import Console

from finray.cli.commands.runs import read_judge, read_runs
from finray.core.errors import UsageError
from finray.index.reader import IndexReader
from finray.lab.evaluation.analysis import analyse, as_data
from finray.lab.evaluation.html.page import render
from finray.lab.evaluation.known_filings import KnownFilings
from finray.storage.locations import write_bytes


def run_report(
    predictions: Sequence[str],
    questions: str,
    out_uri: str,
    *,
    index: str | None,
    title: str | None,
    worst: int,
    judgements: str | None = None,
    as_json: bool,
    out: Console,
) -> int:
    """Write the report; always 0, since a low score is a result. Raises UsageError."""
    if not out_uri.lower().endswith((".html", ".htm")):
        raise UsageError(f"--out {out_uri!r}: a report ends in .html")
    runs, asked = read_runs(predictions, questions)
    reader = IndexReader.open(index) if index else None
    known = (
        KnownFilings(reader.filings())
        if reader
        else KnownFilings.of_predictions(prediction for run in runs for prediction in run.predictions)
    )
    judge, judged_by = read_judge(judgements)
    analyses = {
        run.name: analyse(run.predictions, asked, known, judge=judge, judged_by=judged_by, remarks=run.remarks)
        for run in runs
    }
    name = PurePosixPath(questions).name
    page = render(analyses, known, title=title or f"Answers to {name}", questions=name, reader=reader, worst=worst)
    write_bytes(out_uri, page.encode("utf-8"))
    if as_json:
        data = {"report": out_uri, "runs": {name: as_data(analysis) for name, analysis in analyses.items()}}
        sys.stdout.write(json.dumps(data) + "\n")
    else:
        counts = f"{len(asked)} questions, {len(runs)} {'run' if len(runs) == 1 else 'runs'}"
        out.print(f"{counts} -> {out_uri}", highlight=False, markup=False, soft_wrap=True)
    return 0
