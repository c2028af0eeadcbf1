"""``finray convert``: a published data set in finray's own question format."""

from __future__ import annotations

import json
import sys

from rich.console import Console

from finray.batch.question_files import BadLine, check_target, write_questions
from finray.core.types import Question
from finray.lab.datasets.registry import load_dataset


def run_convert(dataset: str, source: str, target: str, *, as_json: bool, out: Console) -> int:
    """Read, write, summarise. 1 where a record could not be used; the summary lists each with its number."""
    check_target(target)
    questions: list[Question] = []
    bad: list[BadLine] = []
    for result in load_dataset(dataset, source):
        if isinstance(result, BadLine):
            bad.append(result)
        else:
            questions.append(result)
    write_questions(target, questions)
    if as_json:
        records = [{"record": each.line, "reason": each.reason} for each in bad]
        sys.stdout.write(json.dumps({"questions": len(questions), "bad_records": records}) + "\n")
    else:
        lines = [f"{len(questions):,} questions of {dataset} in {target}"]
        lines += [f"left out: record {each.line}: {each.reason}" for each in bad]
        out.print("\n".join(lines), highlight=False, markup=False, soft_wrap=True)
    return 1 if bad else 0
