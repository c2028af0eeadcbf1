"""The index job on Ray Data: read and parse in tasks, embed in an actor pool, write in tasks, commit in the driver.

One row is one filing, its tables as the bytes of a bundle: a filing stays whole from stage to stage, and memory is
bounded by the filings in flight. The last stage writes data files of the index, so that the driver receives only what
it commits: names of files and rows of ``filings``. If a worker or node dies, its filings in flight are repeated, and
files that it wrote stay unused (``finray.index.writing.fragments``). A filing that kills its parser kills only a child
process (``finray.index.job.parser_process``).
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any

import pyarrow as pa
import ray
import ray.data
from ray.exceptions import RayError, RayTaskError

from finray.cluster.attached import has_cluster
from finray.cluster.cause import cause_of
from finray.cluster.embed_attempts import ClusterAttempts
from finray.cluster.embed_pool import (
    WRITE_CPUS,
    EmbedPool,
    LoadEncoder,
    cluster_nodes,
    embedded,
    plan_pool,
    process_name,
)
from finray.cluster.node_wait import announced_wait
from finray.cluster.runtime import ClusterError, ray_cluster
from finray.core.errors import FinrayError
from finray.core.settings import Settings
from finray.index.job.parser_process import ParserProcess
from finray.index.job.run import IndexRun, start_run
from finray.index.job.stages import WrittenBatch, read_and_parse, write
from finray.index.job.summary import IndexSummary, ReportProgress
from finray.index.writing.fragments import WriteTarget
from finray.index.writing.plan import PlannedFile
from finray.models.encoder_loading import encoder_dimension, load_encoder
from finray.storage.locations import SourceFile

Row = dict[str, Any]

_TASK_FILES, _TASK_BYTES = 64, 4 * 1024**2
"""Limits of one parsing task. A task costs Ray some 20 ms, as much as three short filings, while a long filing takes
seconds to embed, so size counts too. In small jobs each task has one filing, so that they finish evenly."""
_TASKS_PER_CPU = 32
_WRITE_FILINGS, _WRITE_BYTES = 512, 64 * 1024**2
"""Limits of one write: each adds a fragment to every table until the job compacts them."""
_WRITES_PER_WORKER = 8


def index_filings(
    sources: Sequence[str],
    index_uri: str,
    settings: Settings,
    *,
    progress: ReportProgress | None = None,
    retry_failed: bool = False,
    load: LoadEncoder = load_encoder,
) -> IndexSummary:
    """Index ``sources`` (folders, files, globs, ``s3://``) into ``index_uri`` on a Ray cluster (see ``ray_cluster``).

    ``load`` makes the encoder of each embedding worker. Raises SourceError, IndexMismatchError, ModelUnavailableError,
    ClusterError; problems of single files are in the summary and in the table ``failures``.
    """
    dimension = encoder_dimension(settings.encoder)
    run = start_run(sources, index_uri, settings, dimension, progress=progress, retry_failed=retry_failed)
    return finish_on_ray(run, load=load)


def finish_on_ray(run: IndexRun, *, load: LoadEncoder = load_encoder) -> IndexSummary:
    """Index what ``run`` has planned, as ``index_filings`` does."""
    settings, listing, plan, collector = run.settings, run.listing, run.plan, run.collector
    if not plan.todo and not has_cluster():
        return collector.finish(listing, {})
    with ray_cluster(show=settings.index_job.show_ray):
        if not plan.todo:  # a killed job may have left indexes to build: work for the workers, not for the head
            return collector.finish(listing, {}, on_cluster)
        nodes = cluster_nodes()
        pool = plan_pool(nodes, settings, len(plan.todo))
        cpus = max(1, int(sum(node.cpus for node in nodes)), pool.maximum)
        with announced_wait(pool):
            for batch in _written_batches(plan.todo, settings, pool, cpus, run.writer.target, load):
                for staged in batch.staged:
                    collector.take(staged)
                collector.add(batch)
        slots = {"read": cpus, "parse": cpus, "embed": pool.maximum, "write": cpus}
        return collector.finish(listing, slots, on_cluster)


def on_cluster(upkeep: Callable[[], object]) -> None:
    """Run the upkeep of the index on Ray. Also raises ClusterError."""
    run: Any = ray.remote(lambda: upkeep())
    try:
        ray.get(run.remote())
    except RayError as error:
        if isinstance(error, RayTaskError) and not isinstance(error.cause, RayError):
            raise error.cause from error
        raise _stopped(error) from error


def _written_batches(
    todo: Sequence[PlannedFile],
    settings: Settings,
    pool: EmbedPool,
    cpus: int,
    target: WriteTarget,
    load: LoadEncoder,
) -> Iterator[WrittenBatch]:
    """Each file of ``todo`` in exactly one batch, in order of completion."""
    files = [planned.file for planned in todo]
    rows = [{"content": pickle.dumps(some)} for some in parsing_tasks(files, cpus)]
    parsed = ray.data.from_items(rows, override_num_blocks=len(rows)).flat_map(
        _read_and_parse,  # type: ignore[arg-type]  # ray's type hint has no fn_kwargs
        fn_kwargs={"settings": settings},
        num_cpus=pool.parse_cpus,
        compute=ray.data.TaskPoolStrategy(size=cpus),
    )
    dataset = embedded(parsed, pool, settings.encoder, ClusterAttempts(), load).map_batches(
        _write,  # type: ignore[arg-type]
        batch_size=filings_per_write(files, pool.maximum),
        batch_format="pyarrow",
        fn_kwargs={"target": target},
        num_cpus=WRITE_CPUS,
        compute=ray.data.TaskPoolStrategy(size=cpus),
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


def parsing_tasks(files: Sequence[SourceFile], cpus: int) -> list[list[SourceFile]]:
    """``files`` in their order, cut into tasks for ``cpus`` processors."""
    most = max(1, min(_TASK_FILES, len(files) // (_TASKS_PER_CPU * cpus)))
    tasks: list[list[SourceFile]] = [[]]
    size = 0
    for file in files:
        if tasks[-1] and (len(tasks[-1]) == most or size + file.size > _TASK_BYTES):
            tasks.append([])
            size = 0
        tasks[-1].append(file)
        size += file.size
    return tasks


def filings_per_write(files: Sequence[SourceFile], workers: int) -> int:
    """Filings of one write in a job with ``workers`` embedding workers."""
    average = sum(file.size for file in files) // len(files)
    return max(1, min(_WRITE_FILINGS, _WRITE_BYTES // max(1, average), len(files) // (_WRITES_PER_WORKER * workers)))


def _stopped(error: RayError) -> ClusterError:
    return ClusterError(
        f"the index job stopped: {cause_of(error)}. Committed filings are kept; run the same command again to continue"
    )


# Rows between stages have one column, ``content``: a pickled object.
def _read_and_parse(row: Row, settings: Settings) -> list[Row]:
    parser, who = _parser(settings), process_name()
    files: list[SourceFile] = pickle.loads(row["content"])
    return [{"content": pickle.dumps(read_and_parse(file, parser, settings.filings, who))} for file in files]


def _write(batch: pa.Table, target: WriteTarget) -> pa.Table:
    staged = [pickle.loads(content) for content in batch["content"].to_pylist()]
    try:
        written: WrittenBatch | FinrayError = write(staged, target, process_name())
    except FinrayError as error:  # Ray would repeat it, and bury the message in its own
        written = error
    return pa.table({"content": pa.array([pickle.dumps(written)], pa.binary())})


@cache
def _parser(settings: Settings) -> ParserProcess:
    """The parser of this worker process, kept between tasks."""
    return ParserProcess(settings.filings, settings.chunks, settings.sandbox, collection=settings.collection)
