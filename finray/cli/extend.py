"""``finray extend``: stores vectors that some retrieval methods need beside the index."""

from __future__ import annotations

from typing import Annotated

import typer

from finray.cli.options import IndexOption, JsonOption, PresetOption, SetOption, settings_of
from finray.cli.output import emit, err
from finray.cli.progress import progress_bar
from finray.core.errors import UsageError


def extend(
    index: IndexOption,
    with_: Annotated[str, typer.Option("--with", help="Retrieval method: splade or page_scorer.")],
    preset: PresetOption = "local",
    set_: SetOption = None,
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Start over; needed after a change of the model.")] = False,
    json_: JsonOption = False,
) -> int:
    """Store the vectors that a retrieval method needs beside the index. A second run encodes only new filings."""
    from finray.index.extensions import extend_index
    from finray.index.reader import IndexReader
    from finray.retrieval.methods.registry import METHODS, method_named

    settings = settings_of(preset, set_)
    method = method_named(with_)
    if method.extension is None:
        known = ", ".join(method.name for method in METHODS.values() if method.extension is not None)
        raise UsageError(f"the method {with_!r} needs no vectors beside the index; these do: {known}")
    reader = IndexReader.open(index, settings)
    with progress_bar(err, "encoding filings") as progress:
        summary = extend_index(reader, method.extension(settings), rebuild=rebuild, progress=progress)
    text = (
        f"{summary.name}: {summary.added} of {summary.filings} filings encoded, {summary.removed} dropped, "
        f"{summary.rows} rows in {summary.seconds:.1f} s"
    )
    emit(summary, text, as_json=json_)
    return 0
