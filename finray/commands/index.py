"""``finray index`` and jobs/index.py: the index job on the Ray cluster in reach."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict

from rich.console import Console

from finray.cluster.index_job import index_filings
from finray.console import describe, index_progress
from finray.settings import Settings


def run_index(
    sources: Sequence[str], index: str, settings: Settings, *, retry_failed: bool, as_json: bool, out: Console
) -> int:
    """Index, summarise. 1 where a file failed; the summary lists them."""
    with index_progress() as progress:
        summary = index_filings(sources, index, settings, progress=progress, retry_failed=retry_failed)
    if as_json:
        sys.stdout.write(json.dumps(asdict(summary)) + "\n")
    else:
        out.print(describe(summary), highlight=False, markup=False, soft_wrap=True)
    return 1 if summary.failures else 0
