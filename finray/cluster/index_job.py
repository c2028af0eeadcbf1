"""The index job on Ray Data: read and parse in tasks, embed in an actor pool, write in tasks, commit in the driver.

One row is one filing, its tables as the bytes of a bundle: a filing stays whole from stage to stage, and memory is
bounded by the filings in flight. The last stage writes data files of the index, so that the driver receives only what
it commits: names of files and rows of ``filings``. If a worker or node dies, its filings in flight are repeated, and
files that it wrote stay unused (``finray.index.fragments``). A filing that kills its parser kills only a child process
(``finray.index.parser_process``).
"""

from __future__ import annotations

import os
import pickle
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

import pyarrow as pa
import ray
import ray.data
from ray.exceptions import RayError, RayTaskError

from finray.cluster.cause import cause_of
from finray.cluster.runtime import ClusterError, ray_cluster
from finray.core.errors import FinrayError
from finray.core.settings import Settings
from finray.index.fragments import WriteTarget
from finray.index.parser_process import ParserProcess
from finray.index.plan import PlannedFile
from finray.index.stages import Collector, StagedFiling, WrittenBatch, embed, read_and_parse, write
from finray.index.summary import IndexSummary, ReportProgress
from finray.index.writer import IndexWriter
from finray.models.encoder import encoder_dimension, load_encoder
from finray.storage.locations import list_sources

T = TypeVar("T")
Row = dict[str, Any]

# One embedding actor and one parsing task for each processor: parsing takes a tenth of the time of embedding and pauses
# when it is ahead. The shares leave room on other nodes for the actors of a lost node: work that was assigned to an
# actor that cannot restart would wait forever.
_PARSE_CPUS = 0.1
_EMBED_CPUS = 0.45
_WRITE_CPUS = 0.1
_FILES_PER_TASK = 4
"""At most. A filing takes seconds to embed, so small jobs pass on single filings to finish evenly."""
_TASKS_PER_CPU = 32
_FILINGS_PER_WRITE = 32
"""At most: each write adds a fragment to every table until the job compacts them."""
_WRITES_PER_ACTOR = 8


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
    if not plan.todo and not os.environ.get("RAY_ADDRESS"):
        return collector.finish(listing, {})
    with ray_cluster():
        if not plan.todo:  # a killed job may have left indexes to build: work for the workers, not for the head
            return collector.finish(listing, {}, on_cluster)
        cluster = _Slots.of_cluster(len(plan.todo), settings, embed_workers)
        for batch in _written_batches(plan.todo, settings, cluster, writer.target):
            for staged in batch.staged:
                collector.take(staged)
            collector.add(batch)
        slots = {"read": cluster.cpus, "parse": cluster.cpus, "embed": cluster.embedders, "write": cluster.cpus}
        return collector.finish(listing, slots, on_cluster)


def on_cluster(tasks: Sequence[Callable[[], T]], /) -> list[T]:
    """The index's upkeep as Ray tasks (see ``finray.index.tasks.Run``). Also raises ClusterError."""
    run: Any = ray.remote(lambda task: task())
    try:
        results: list[T] = ray.get([run.remote(task) for task in tasks])
    except RayError as error:
        if isinstance(error, RayTaskError) and not isinstance(error.cause, RayError):
            raise error.cause from error
        raise _stopped(error) from error
    return results


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


def _written_batches(
    todo: Sequence[PlannedFile], settings: Settings, slots: _Slots, target: WriteTarget
) -> Iterator[WrittenBatch]:
    """Every file of ``todo`` once, in order of completion."""
    files_per_task = max(1, min(_FILES_PER_TASK, len(todo) // (_TASKS_PER_CPU * slots.cpus)))
    filings_per_write = max(1, min(_FILINGS_PER_WRITE, len(todo) // (_WRITES_PER_ACTOR * slots.embedders)))
    rows = [{"content": pickle.dumps(planned.file)} for planned in todo]
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
        .map_batches(
            _write,  # type: ignore[arg-type]
            batch_size=filings_per_write,
            batch_format="pyarrow",
            fn_kwargs={"target": target},
            num_cpus=_WRITE_CPUS,
            compute=ray.data.TaskPoolStrategy(size=slots.cpus),
        )
    )
    try:
        blocks: Iterable[Any] = dataset.iter_batches(batch_size=None, batch_format="pyarrow")
        for block in blocks:
            for content in block["content"].to_pylist():
                batch: WrittenBatch | FinrayError = pickle.loads(content)
                if isinstance(batch, FinrayError):
                    raise batch
                yield batch
    except RayError as error:
        raise _stopped(error) from error


def _stopped(error: RayError) -> ClusterError:
    return ClusterError(
        f"the index job stopped: {cause_of(error)}. Committed filings are kept; run the same command again to continue"
    )


# Stages pass each other one column: the pickled object.
def _read_and_parse(row: Row, settings: Settings) -> Row:
    file = pickle.loads(row["content"])
    return {"content": pickle.dumps(read_and_parse(file, _parser(settings), settings.filings, _process_name()))}


class _Embedder:
    """An embedding actor, with one thread: with more, the actors would compete for processors."""

    def __init__(self, settings: Settings) -> None:
        self._encoder = load_encoder(settings.encoder, threads=1)

    def __call__(self, row: Row) -> Row:
        staged: StagedFiling = pickle.loads(row["content"])
        return {"content": pickle.dumps(embed(staged, self._encoder, _process_name()))}


def _write(batch: pa.Table, target: WriteTarget) -> pa.Table:
    staged = [pickle.loads(content) for content in batch["content"].to_pylist()]
    try:
        written: WrittenBatch | FinrayError = write(staged, target, _process_name())
    except FinrayError as error:  # Ray would repeat it, and bury the message in its own
        written = error
    return pa.table({"content": pa.array([pickle.dumps(written)], pa.binary())})


@cache
def _parser(settings: Settings) -> ParserProcess:
    """The parser of this worker process, kept between tasks."""
    return ParserProcess(settings.filings, settings.chunks, settings.sandbox, collection=settings.collection)


def _process_name() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"
