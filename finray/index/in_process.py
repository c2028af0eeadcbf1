"""The index job without Ray: the same stages and committer, one file at a time."""

from __future__ import annotations

import time
from collections.abc import Sequence

from finray.core.settings import Settings
from finray.index.embedding import AttemptsHere, embed_filings
from finray.index.parser_process import ParserProcess
from finray.index.stages import Collector, StagedFiling, read_and_parse, write
from finray.index.summary import IndexSummary, ReportProgress
from finray.index.writer import IndexWriter
from finray.models.encoder import Encoder, load_encoder
from finray.storage.locations import list_sources

_WRITE_SECONDS = 60.0
"""Longest time between writes, so that a kill costs little work."""


def index_in_process(
    sources: Sequence[str],
    index_uri: str,
    settings: Settings,
    *,
    progress: ReportProgress | None = None,
    retry_failed: bool = False,
    encoder: Encoder | None = None,
    parser: ParserProcess | None = None,
) -> IndexSummary:
    """Index ``sources`` (folders, files, globs, ``s3://``) into ``index_uri``.

    ``encoder`` and ``parser`` are made from ``settings`` unless given; a given parser is left running.
    Raises SourceError, IndexMismatchError and ModelUnavailableError; problems of single files are in the summary and in
    the table ``failures``.
    """
    started = time.monotonic()
    listing = list_sources(sources)
    encoder = encoder or load_encoder(settings.encoder)
    writer = IndexWriter(index_uri, settings, encoder.dimension)
    plan = writer.plan(listing.files, retry_failed=retry_failed)
    collector = Collector(writer, plan, progress, started)
    own_parser = parser or ParserProcess(
        settings.filings, settings.chunks, settings.sandbox, collection=settings.collection
    )
    try:
        ready: list[StagedFiling] = []
        since = time.monotonic()
        for planned in plan.todo:
            parsed = read_and_parse(planned.file, own_parser, settings.filings, "local")
            [staged] = embed_filings([parsed], encoder, AttemptsHere(), "local")
            collector.take(staged)
            ready.append(staged)
            if (
                sum(one.chunks for one in ready) >= settings.index.write_rows
                or time.monotonic() - since > _WRITE_SECONDS
            ):
                collector.add(write(ready, writer.target, "local"))
                ready, since = [], time.monotonic()
        collector.add(write(ready, writer.target, "local"))
    finally:
        if parser is None:
            own_parser.close()
    return collector.finish(listing, {"parse": 1})
