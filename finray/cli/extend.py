"""``finray extend``: stores vectors, words, trees or summaries that some retrieval methods need beside the index."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, Annotated

import typer

from finray.cli.options import (
    IndexOption,
    JsonOption,
    PresetOption,
    SetOption,
    ShowRayOption,
    overrides_of,
    pool_of,
)
from finray.cli.output import emit, err
from finray.cli.progress import progress_bar
from finray.core.errors import UsageError
from finray.core.settings import load_settings

if TYPE_CHECKING:
    from finray.index.extensions.update import ExtensionSummary


def extend(
    index: IndexOption,
    with_: Annotated[
        str, typer.Option("--with", help="Retrieval method, such as splade, fingear or lightrag, or one with +title.")
    ],
    preset: PresetOption = "local",
    set_: SetOption = None,
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Start over; needed after a change of the model.")] = False,
    workers: Annotated[
        str | None, typer.Option(help="Ray actors: a number or MIN:MAX; default: one for each GPU or CPU.")
    ] = None,
    show_ray: ShowRayOption = False,
    json_: JsonOption = False,
) -> int:
    """Store the vectors, words, trees or summaries that a retrieval method needs beside the index, on Ray.

    A second run makes only those of new filings, also after the first was killed.

    Filings that the model fails on are listed, and left out until the next run.
    """
    from finray.index.extensions.update import Tables, extend_index, in_sequence
    from finray.index.reading.reader import IndexReader
    from finray.retrieval.methods.composed import method_named
    from finray.retrieval.methods.registry import METHODS

    settings = load_settings(preset, overrides_of(set_) | pool_of(workers, show_ray))
    extensions = method_named(with_).extensions(settings)
    if not extensions:
        known = ", ".join(method.name for method in METHODS.values() if method.extension is not None)
        raise UsageError(
            f"the method {with_!r} needs nothing beside the index; these do: {known}, and every one with +title"
        )
    tables: Tables = in_sequence
    if settings.index.in_process is not True:
        from finray.cluster.extend_job import tables_on_ray

        tables = tables_on_ray(settings)
    reader = IndexReader.open(index, settings)
    failed = False
    for extension in extensions:
        with progress_bar(err, f"extending filings: {extension.name}", lines=show_ray) as progress:
            summary = extend_index(reader, extension, rebuild=rebuild, progress=progress, tables=tables)
        text = (
            f"{summary.name}: {summary.added} of {summary.filings} filings made, {summary.removed} dropped, "
            f"{summary.rows} rows in {summary.seconds:.1f} s"
        )
        lines = [f"failed: {one.filing_id} ({one.reason}: {one.detail})" for one in summary.failures]
        emit(summary, *filter(None, (text, _cost_line(summary), *lines)), as_json=json_)
        failed = failed or bool(lines)
    return 1 if failed else 0


def _cost_line(summary: ExtensionSummary) -> str:
    """What a filing took, on average and at most; "" if that is not known."""
    costs = list(summary.costs.values())
    if not costs:
        return ""
    seconds, processor = ([getattr(cost, name) for cost in costs] for name in ("seconds", "processor_seconds"))
    tokens = [cost.prompt_tokens + cost.completion_tokens for cost in costs]
    spent = sum(cost.cost for cost in costs)
    asked = f", {fmean(tokens):,.0f} tokens (at most {max(tokens):,})" if any(tokens) else ", no tokens"
    price = f", cost {spent / len(costs):.4f}" if spent else ""
    unusable = sum(cost.unusable for cost in costs)
    failed = f"; {unusable} unusable replies" if unusable else ""
    return (
        f"a filing: {fmean(seconds):.1f} s (at most {max(seconds):.1f}), {fmean(processor):.1f} s of processor time "
        f"(at most {max(processor):.1f}){asked}{price}{failed}"
    )
