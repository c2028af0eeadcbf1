"""``finray extend`` on Ray Data: actors make the rows of filings, the driver commits them.

If a worker or node dies, its filings are repeated; what is committed stays (``finray.index.extensions.update``).
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, partial
from typing import Any

import ray
import ray.data
from ray.exceptions import RayError

from finray.cluster.cause import cause_of
from finray.cluster.embed_attempts import ClusterAttempts
from finray.cluster.embed_pool import cluster_nodes, plan_pool
from finray.cluster.gpus import hide_unassigned_gpus
from finray.cluster.node_wait import announced_wait
from finray.cluster.runtime import ClusterError, ray_cluster
from finray.core.errors import FinrayError
from finray.core.settings import Settings
from finray.index.extensions.extension import AnyExtension, FilingRows
from finray.index.extensions.set_aside import Attempted, FailedFiling, Key
from finray.index.extensions.update import Tables
from finray.index.job.attempts import Attempts
from finray.index.reading.reader import IndexReader
from finray.retrieval.methods.composed import method_named

Row = dict[str, Any]


def tables_on_ray(settings: Settings) -> Tables:
    """A function that makes the rows of filings on a Ray cluster (see ``ray_cluster``).

    Its actors are as many, with the same share of a GPU, as the embedding workers of an index job (``plan_pool``).
    """

    def tables(
        reader: IndexReader, extension: AnyExtension, todo: Sequence[Key]
    ) -> Iterator[FilingRows | FailedFiling]:
        # The actors read the version that is open here, even if filings are indexed meanwhile.
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
                _Worker,  # type: ignore[arg-type]  # ray's type hint has no classes
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
        """One row in, one row out: the pickled outcome."""
        outcome: FilingRows | FailedFiling | FinrayError
        try:
            outcome = self._work((row["filing_id"], row["revision"]))
        except FinrayError as error:  # Ray would repeat the filing, and bury the message in its own
            outcome = error
        return {"content": pickle.dumps(outcome)}


def _made(dataset: ray.data.Dataset) -> Iterator[FilingRows | FailedFiling]:
    """What the actors return, in order of completion. Raises ClusterError, and the errors of the actors."""
    try:
        blocks: Iterable[Any] = dataset.iter_batches(batch_size=None, batch_format="pyarrow")
        for block in blocks:
            for content in block["content"].to_pylist():
                outcome: FilingRows | FailedFiling | FinrayError = pickle.loads(content)
                if isinstance(outcome, FinrayError):
                    # Not type(outcome)(message): the constructors of some errors take other arguments.
                    outcome.args = (f"{outcome}. Filings made so far are kept; run the same command again",)
                    raise outcome
                yield outcome
    except RayError as error:
        raise ClusterError(
            f"finray extend stopped: {cause_of(error)}. Committed filings are kept; "
            "run the same command again to continue"
        ) from error
