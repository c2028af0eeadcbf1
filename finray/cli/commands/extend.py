"""``finray extend``: stored vectors that single retrieval methods need beside the index."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict

from rich.console import Console

from finray.cli.commands.progress import progress_bar
from finray.core.errors import UsageError
from finray.core.settings import Settings
from finray.index.extensions import extend_index
from finray.index.reader import IndexReader
from finray.retrieval.methods.registry import METHODS, method_named


def run_extend(
    name: str, index: str, settings: Settings, *, rebuild: bool, as_json: bool, out: Console, err: Console
) -> int:
    """Encode what the extension of the method ``name`` lacks. Raises UsageError where that method needs none."""
    method = method_named(name)
    if method.extension is None:
        known = ", ".join(method.name for method in METHODS.values() if method.extension is not None)
        raise UsageError(f"the method {name!r} needs no vectors beside the index; these do: {known}")
    reader = IndexReader.open(index, settings)
    with progress_bar(err, "encoding filings") as progress:
        summary = extend_index(reader, method.extension(settings), rebuild=rebuild, progress=progress)
    if as_json:
        sys.stdout.write(json.dumps(asdict(summary)) + "\n")
    else:
        out.print(
            f"{summary.name}: {summary.added} of {summary.filings} filings encoded, {summary.removed} dropped, "
            f"{summary.rows} rows in {summary.seconds:.1f} s",
            highlight=False,
            soft_wrap=True,
        )
    return 0
