"""The index job without Ray: the same stages and committer.

A few files are parsed at a time, each in a child process; this process encodes, writes and commits them in their order.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from queue import SimpleQueue

from finray.core.settings import IndexJobSettings, Settings
from finray.index.job.attempts import AttemptsHere
from finray.index.job.embedding import embed_filings
from finray.index.job.parser_process import ParserProcess
from finray.index.job.run import IndexRun, start_run
from finray.index.job.stages import StagedFiling, read_and_parse, write
from finray.index.job.summary import IndexSummary, ReportProgress
from finray.index.writing.plan import PlannedFile
from finray.models.encoder import Encoder
from finray.models.encoder_loading import is_light, load_encoder
from finray.models.minilm_encoder import computes_in_onnx

_WRITE_SECONDS = 60.0
"""Longest time between writes, so that a kill costs little work."""
_PARSERS = 4
"""This process does not keep up with more."""
_AHEAD = 2
"""Files that may wait for this process, besides those in the parsers."""
_FEW_FILES = 100


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
    encoder = encoder or load_encoder(settings.encoder)
    run = start_run(sources, index_uri, settings, encoder.dimension, progress=progress, retry_failed=retry_failed)
    return finish_in_process(run, encoder, parser=parser)


def finish_in_process(run: IndexRun, encoder: Encoder, *, parser: ParserProcess | None = None) -> IndexSummary:
    """Do the work that ``run`` has planned, as ``index_in_process``."""
    collector, target = run.collector, run.writer.target
    ready: list[StagedFiling] = []
    since = time.monotonic()
    count = min(_processors(), _PARSERS, len(run.plan.todo))
    with _parsers(run.settings, count, parser) as parsers:
        for parsed in _parsed(run.plan.todo, parsers, run.settings):
            [staged] = embed_filings([parsed], encoder, AttemptsHere(), "local")
            collector.take(staged)
            ready.append(staged)
            if (
                sum(one.chunks for one in ready) >= run.settings.index.write_rows
                or time.monotonic() - since > _WRITE_SECONDS
            ):
                collector.add(write(ready, target, "local"))
                ready, since = [], time.monotonic()
        collector.add(write(ready, target, "local"))
    return collector.finish(run.listing, {"parse": len(parsers)})


def suits_this_process(run: IndexRun) -> bool:
    """Whether ``run`` ends sooner here than on a Ray that is started on this machine, which takes some 20 seconds of
    processor time. With a heavy encoder, it does if this process can keep all processors busy. Settings of Ray's pools
    ask for Ray."""
    if run.settings.index_job != IndexJobSettings():
        return False
    if _processors() <= _PARSERS:
        return is_light(run.settings.encoder) or computes_in_onnx(run.settings.encoder)
    return is_light(run.settings.encoder) and len(run.plan.todo) <= _FEW_FILES


@contextmanager
def _parsers(settings: Settings, count: int, given: ParserProcess | None) -> Iterator[list[ParserProcess]]:
    """``count`` parsers, or only the ``given`` one."""
    if given is not None:
        yield [given]
        return
    with ExitStack() as stack:
        limits = settings.filings, settings.chunks, settings.sandbox
        yield [
            stack.enter_context(closing(ParserProcess(*limits, collection=settings.collection))) for _ in range(count)
        ]


def _parsed(
    todo: Sequence[PlannedFile], parsers: Sequence[ParserProcess], settings: Settings
) -> Iterator[StagedFiling]:
    """The files of ``todo``, in order, parsed by all ``parsers`` at the same time."""
    if len(parsers) <= 1:  # none if there is no file
        yield from (read_and_parse(planned.file, parsers[0], settings.filings, "local-0") for planned in todo)
        return
    free: SimpleQueue[ParserProcess] = SimpleQueue()
    for parser in parsers:
        free.put(parser)

    def parse(planned: PlannedFile) -> StagedFiling:
        parser = free.get()
        try:
            return read_and_parse(planned.file, parser, settings.filings, f"local-{parsers.index(parser)}")
        finally:
            free.put(parser)

    begun: deque[Future[StagedFiling]] = deque()
    with ThreadPoolExecutor(len(parsers), thread_name_prefix="parse") as pool:
        try:
            for planned in todo:
                begun.append(pool.submit(parse, planned))
                if len(begun) >= len(parsers) + _AHEAD:
                    yield begun.popleft().result()
            while begun:
                yield begun.popleft().result()
        finally:
            for future in begun:
                future.cancel()


def _processors() -> int:
    """Number of processors that this process may use."""
    return len(os.sched_getaffinity(0))
