"""The index job on Ray Data: read and parse in tasks, embed in an actor pool, commit in the driver.

One row is one filing, its tables as the bytes of a bundle, so that a filing stays whole from stage to stage
and memory is bounded by the filings in flight. A worker or node that dies costs a repetition of what it had
in hand; a filing that would kill its parser does so in a process of its own (see
``finray.index.parser_process``).
"""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import ray
import ray.data
from ray.exceptions import RayError

from finray.cluster.runtime import ClusterError, ray_cluster
from finray.core.errors import FilingError
from finray.core.settings import Settings
from finray.index.collect import Collector
from finray.index.parser_process import ParserProcess
from finray.index.plan import PlannedFile
from finray.index.stages import StagedFiling, embed, read_and_parse
from finray.index.summary import IndexSummary, ReportProgress
from finray.index.writer import IndexWriter
from finray.models.encoder import encoder_dimension, load_encoder
from finray.storage.locations import list_sources

Row = dict[str, Any]

# One embedding actor and one parsing task for each processor: parsing needs a tenth of the time of embedding and pauses
# when it is ahead. The shares let the actors of a lost node find room on another: work that was handed to an actor
# which cannot come back would wait for it for ever.
_PARSE_CPUS = 0.1
_EMBED_CPUS = 0.45
_FILES_PER_TASK = 4
"""At most. A filing takes seconds to embed, so small jobs hand on each by itself and end evenly."""
_TASKS_PER_CPU = 32


def index_filings(
    sources: Sequence[str],
    index_uri: str,
    settings: Settings,
    *,
    progress: ReportProgress | None = None,
    retry_failed: bool = False,
    embed_workers: int | None = None,
) -> IndexSummary:
    """Index ``sources`` (folders, files, globs, ``s3://``) into ``index_uri`` on the Ray cluster in reach.

    ``embed_workers`` is the largest number of embedding actors; by default one for each GPU, or for each CPU
    where there is no GPU. Raises SourceError, IndexMismatchError, ModelUnavailableError, ClusterError; what
    is wrong with one file is in the summary and in the table ``failures``.
    """
    started = time.monotonic()
    listing = list_sources(sources)
    writer = IndexWriter(index_uri, settings, encoder_dimension(settings.encoder))
    plan = writer.plan(listing.files, retry_failed=retry_failed)
    collector = Collector(writer, plan, progress, started)
    slots: dict[str, int] = {}
    if plan.todo:
        with ray_cluster():
            cluster = _Slots.of_cluster(len(plan.todo), settings, embed_workers)
            slots = {"read": cluster.cpus, "parse": cluster.cpus, "embed": cluster.embedders}
            for staged in _staged_filings(plan.todo, settings, cluster):
                collector.take(staged)
    return collector.finish(listing, slots)


@dataclass(frozen=True, slots=True)
class _Slots:
    """What the cluster offers the job: processors, GPUs, and from these the number of embedding actors."""

    cpus: int
    gpus: int
    embedders: int

    @classmethod
    def of_cluster(cls, files: int, settings: Settings, embed_workers: int | None) -> _Slots:
        resources: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
        gpus = int(resources.get("GPU", 0)) if settings.encoder.device != "cpu" else 0
        cpus = max(1, int(resources.get("CPU", 1)))
        return cls(cpus, gpus, min(embed_workers or gpus or cpus, files))


def _staged_filings(todo: Sequence[PlannedFile], settings: Settings, slots: _Slots) -> Iterator[StagedFiling]:
    """Every file of ``todo`` once, as it gets done."""
    files_per_task = max(1, min(_FILES_PER_TASK, len(todo) // (_TASKS_PER_CPU * slots.cpus)))
    rows = [{"uri": planned.file.uri, "size": planned.file.size} for planned in todo]
    dataset = (
        ray.data.from_items(rows, override_num_blocks=-(-len(rows) // files_per_task))
        .map(
            _read_and_parse,  # type: ignore[arg-type]  # ray's hint knows no fn_kwargs
            fn_kwargs={"settings": settings},
            num_cpus=_PARSE_CPUS,
            compute=ray.data.TaskPoolStrategy(size=slots.cpus),
        )
        .map(
            _Embedder,  # type: ignore[arg-type]  # nor a class
            fn_constructor_kwargs={"settings": settings},
            compute=ray.data.ActorPoolStrategy(size=slots.embedders),
            num_gpus=1 if slots.gpus else None,
            num_cpus=_EMBED_CPUS,
        )
    )
    try:
        blocks: Iterable[Any] = dataset.iter_batches(batch_size=None, batch_format="pyarrow")
        for block in blocks:
            for row in block.to_pylist():
                yield _from_row(row)
    except RayError as error:
        raise ClusterError(
            f"the index job stopped: {error}. What was committed stays; run the same command again to continue"
        ) from error


def _read_and_parse(row: Row, settings: Settings) -> Row:
    return _to_row(read_and_parse(row["uri"], row["size"], _parser(settings), settings.filings, _who()))


class _Embedder:
    """An embedding actor. One thread each: actors that wait for each other's threads are slower than they are
    many."""

    def __init__(self, settings: Settings) -> None:
        self._encoder = load_encoder(settings.encoder, threads=1)

    def __call__(self, row: Row) -> Row:
        return _to_row(embed(_from_row(row), self._encoder, _who()))


@cache
def _parser(settings: Settings) -> ParserProcess:
    """The parser of this worker process, kept from task to task."""
    return ParserProcess(settings.filings, settings.chunks, settings.sandbox)


def _who() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"


def _to_row(staged: StagedFiling) -> Row:
    """Arrow infers a column's type from its values: no column is ever null."""
    error = staged.error
    return {
        "source_uri": staged.source_uri,
        "content_sha256": staged.content_sha256 or "",
        "bundle": staged.bundle or b"",
        "error": json.dumps([error.stage, error.reason, error.detail] if error else None),
        "seconds": json.dumps(staged.seconds),
        "peak_rss_bytes": json.dumps(staged.peak_rss_bytes),
    }


def _from_row(row: Row) -> StagedFiling:
    error = json.loads(row["error"])
    return StagedFiling(
        source_uri=row["source_uri"],
        content_sha256=row["content_sha256"] or None,
        bundle=row["bundle"] or None,
        error=FilingError(*error) if error else None,
        seconds=json.loads(row["seconds"]),
        peak_rss_bytes=json.loads(row["peak_rss_bytes"]),
    )
