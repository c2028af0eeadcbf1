"""The index job on Ray Data: read and parse in tasks, embed in an actor pool, commit in the driver.

One row is one filing, its tables as the bytes of a bundle: a filing stays whole from stage to stage, and memory is
bounded by the filings in flight. If a worker or node dies, its filings in flight are repeated. A filing that kills its
parser kills only a child process (``finray.index.parser_process``).
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

# One embedding actor and one parsing task for each processor: parsing takes a tenth of the time of embedding and pauses
# when it is ahead. The shares leave room on other nodes for the actors of a lost node: work that was assigned to an
# actor that cannot restart would wait forever.
_PARSE_CPUS = 0.1
_EMBED_CPUS = 0.45
_FILES_PER_TASK = 4
"""At most. A filing takes seconds to embed, so small jobs pass on single filings to finish evenly."""
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
    """Index ``sources`` (folders, files, globs, ``s3://``) into ``index_uri`` on a Ray cluster (see ``ray_cluster``).

    ``embed_workers`` limits the embedding actors; the default is one for each GPU, or for each CPU without a GPU.
    Raises SourceError, IndexMismatchError, ModelUnavailableError, ClusterError; problems of single files are in the
    summary and in the table ``failures``.
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
    """Processors and GPUs of the cluster, and the number of embedding actors."""

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
    """Every file of ``todo`` once, in order of completion."""
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
            f"the index job stopped: {error}. Committed filings are kept; run the same command again to continue"
        ) from error


def _read_and_parse(row: Row, settings: Settings) -> Row:
    return _to_row(read_and_parse(row["uri"], row["size"], _parser(settings), settings.filings, _process_name()))


class _Embedder:
    """An embedding actor, with one thread: with more, the actors would compete for processors."""

    def __init__(self, settings: Settings) -> None:
        self._encoder = load_encoder(settings.encoder, threads=1)

    def __call__(self, row: Row) -> Row:
        return _to_row(embed(_from_row(row), self._encoder, _process_name()))


@cache
def _parser(settings: Settings) -> ParserProcess:
    """The parser of this worker process, kept between tasks."""
    return ParserProcess(settings.filings, settings.chunks, settings.sandbox)


def _process_name() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"


def _to_row(staged: StagedFiling) -> Row:
    """Without nulls, as Arrow infers a column's type from its values."""
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
