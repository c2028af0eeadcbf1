"""``finray extend`` on Ray Data: actors make the rows of filings, the driver commits them.

If a worker or node dies, its filings are repeated; what is committed stays (``finray.index.extensions.update``).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from functools import cached_property, partial
from typing import Any

import pyarrow as pa
import ray
import ray.data
from ray.exceptions import RayError

from finray.cluster.cause import cause_of
from finray.cluster.embed_attempts import ClusterAttempts
from finray.cluster.embed_pool import cluster_nodes, plan_pool
from finray.cluster.gpus import hide_unassigned_gpus
from finray.cluster.node_wait import announced_wait
from finray.cluster.runtime import ClusterError, ray_cluster
from finray.core import errors
from finray.core.errors import FinrayError
from finray.core.settings import Settings
from finray.index.extensions.extension import AnyExtension, Cost, FilingRows
from finray.index.extensions.set_aside import Attempted, FailedFiling, Key
from finray.index.extensions.update import Tables
from finray.index.job.attempts import Attempts
from finray.index.reading.reader import IndexReader
from finray.retrieval.methods.composed import method_named

Row = dict[str, Any]


def tables_on_ray(settings: Settings) -> Tables:
    """Makes the rows of filings on a Ray cluster (see ``ray_cluster``), with the method that ``extend`` names.

    The actors are as many, with the same share of a GPU, as the embedding workers of an index job (``plan_pool``).
    """

    def tables(
        reader: IndexReader, extension: AnyExtension, todo: Sequence[Key]
    ) -> Iterator[FilingRows | FailedFiling]:
        # The actors read the version that is open here, whatever is indexed meanwhile.
        about = {
            "method": extension.made_for,
            "name": extension.name,
            "uri": reader.uri,
            "versions": dict(reader.versions),
            "settings": settings,
        }
        with ray_cluster(show=settings.index_job.show_ray):
            pool = plan_pool(cluster_nodes(), settings, len(todo))
            rows = [{"filing_id": filing_id, "revision": revision} for filing_id, revision in todo]
            dataset = ray.data.from_items(rows, override_num_blocks=len(rows)).map(
                _Worker,  # type: ignore[arg-type]  # ray's hint knows no class
                fn_constructor_kwargs={**about, "attempts": ClusterAttempts()},
                compute=pool.strategy,
                num_gpus=pool.gpus or None,
                num_cpus=pool.cpus,
            )
            with announced_wait(pool):
                yield from _made(dataset)

    return tables


class _Worker:
    """An actor with one open index and the models of one method."""

    def __init__(
        self, method: str, name: str, uri: str, versions: dict[str, int], settings: Settings, attempts: Attempts
    ) -> None:
        hide_unassigned_gpus()
        self._extension = next(one for one in method_named(method).extensions(settings) if one.name == name)
        self._open = partial(IndexReader.open, uri, settings, versions)
        self._attempts = attempts

    @cached_property
    def _work(self) -> Attempted[FilingRows]:
        return Attempted(self._extension.worker(self._open()), self._attempts)

    def __call__(self, row: Row) -> Row:
        # Problems travel as rows: Ray would repeat the filing, and bury the message in its own.
        try:
            made = self._work((row["filing_id"], row["revision"]))
        except FinrayError as error:
            return {"rows": b"", "cost": "", "failed": "", "error": str(error), "kind": type(error).__name__}
        if isinstance(made, FailedFiling):
            return {"rows": b"", "cost": "", "failed": json.dumps(asdict(made)), "error": "", "kind": ""}
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, made.rows.schema) as writer:
            writer.write_table(made.rows)
        cost = json.dumps(asdict(made.cost)) if made.cost else ""
        return {"rows": sink.getvalue().to_pybytes(), "cost": cost, "failed": "", "error": "", "kind": ""}


def _made(dataset: ray.data.Dataset) -> Iterator[FilingRows | FailedFiling]:
    """Raises ClusterError, and the errors of the workers."""
    try:
        blocks: Iterable[Any] = dataset.iter_batches(batch_size=None, batch_format="pyarrow")
        for block in blocks:
            for row in block.to_pylist():
                if row["error"]:
                    kind: type[FinrayError] = getattr(errors, row["kind"], FinrayError)
                    raise kind(f"{row['error']}. Filings made so far are kept; run the same command again")
                if row["failed"]:
                    yield FailedFiling(**json.loads(row["failed"]))
                    continue
                rows = pa.ipc.open_stream(pa.py_buffer(row["rows"])).read_all()
                yield FilingRows(rows, Cost(**json.loads(row["cost"])) if row["cost"] else None)
    except RayError as error:
        raise ClusterError(
            f"finray extend stopped: {cause_of(error)}. Committed filings are kept; "
            "run the same command again to continue"
        ) from error
