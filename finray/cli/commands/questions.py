"""``finray questions``: questions with exact answers from tagged filings."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Sequence

from rich.console import Console

from finray.batch.question_files import check_target, write_questions
from finray.cli.commands.progress import progress_bar
from finray.core.errors import SourceError
from finray.core.settings import Settings
from finray.lab.datasets.xbrl.generate import generate_questions
from finray.lab.datasets.xbrl.sources import read_filings

_SHOWN = 5


def run_questions(
    sources: Sequence[str], target: str, settings: Settings, *, per_filing: int, seed: int, as_json: bool, out: Console
) -> int:
    """Generate, write, summarise. 1 where a file could not be read; the summary lists them.

    Raises SourceError where no filing among ``sources`` is tagged.
    """
    check_target(target)
    with progress_bar(Console(stderr=True), "reading filings") as report:
        read = read_filings(sources, settings.filings, report)
    if not read.tagged:
        raise SourceError(
            f"none of the {len(read.untagged) + len(read.failures)} files carries inline XBRL on its pages; EDGAR's "
            "HTML of 10-K and 10-Q reports filed since 2019 to 2021 does (PDF never does)"
        )
    questions = list(generate_questions(read.tagged, per_filing=per_filing, seed=seed))
    write_questions(target, questions)
    kinds = Counter(question.question_type or "" for question in questions)
    if as_json:
        summary = {
            "questions": len(questions),
            "by_type": dict(sorted(kinds.items())),
            "filings": len(read.tagged),
            "untagged": list(read.untagged),
            "failures": [{"source_uri": uri, "reason": reason} for uri, reason in read.failures],
        }
        sys.stdout.write(json.dumps(summary) + "\n")
    else:
        counts = ", ".join(f"{count:,} {kind}" for kind, count in sorted(kinds.items()))
        lines = [f"{len(questions):,} questions about {len(read.tagged):,} filings in {target}: {counts}"]
        if read.untagged:
            some = ", ".join(read.untagged[:_SHOWN]) + (", …" if len(read.untagged) > _SHOWN else "")
            lines.append(f"without tags, left out: {len(read.untagged):,} files ({some})")
        lines += [f"failed: {uri}: {reason}" for uri, reason in read.failures]
        out.print("\n".join(lines), highlight=False, markup=False, soft_wrap=True)
    return 1 if read.failures else 0
