"""``finray probes``: questions that an index cannot answer, to see whether it says so."""

from __future__ import annotations

import json
import sys
from collections import Counter

from rich.console import Console

from finray.batch.question_files import check_target, read_questions, write_questions
from finray.core.types import Question
from finray.index.reader import IndexReader
from finray.lab.datasets.probes import make_probes, probe_source


def run_probes(questions: str, index: str, target: str, *, count: int, seed: int, as_json: bool, out: Console) -> int:
    """Make, write, summarise. Bad lines of ``questions`` are left aside. Raises IndexMissingError, SourceError."""
    check_target(target)
    asked = [line for line in read_questions(questions) if isinstance(line, Question)]
    probes = make_probes(asked, probe_source(IndexReader.open(index)), count=count, seed=seed)
    write_questions(target, probes)
    kinds = Counter(probe.question_type or "" for probe in probes)
    if as_json:
        sys.stdout.write(json.dumps({"questions": len(probes), "by_type": dict(sorted(kinds.items()))}) + "\n")
    else:
        counts = ", ".join(f"{number:,} {kind}" for kind, number in sorted(kinds.items()))
        out.print(f"{len(probes):,} questions in {target}: {counts}", highlight=False, markup=False, soft_wrap=True)
    return 0
