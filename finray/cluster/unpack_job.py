"""Unpacks EDGAR dumps as Ray tasks, several at a time; the caller keeps the ledger (``finray.edgar.unpack``)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any, Final

import ray
from ray.exceptions import RayError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from finray.cluster.cause import cause_of
from finray.cluster.runtime import ray_cluster
from finray.edgar.feed import Dump
from finray.edgar.unpack import UnpackedDump, UnpackJob, unpack_dump

_AHEAD: Final = 4
"""Dumps for each worker that may be unpacked while an earlier one is not yet."""
_RETRIES: Final = 1
"""Retries of a task whose worker or node dies. A dump that kills it again is a problem of the run."""


class _Claims:
    """The dump that was first to claim each accession number."""

    def __init__(self) -> None:
        self._owners: dict[str, int] = {}

    def claim(self, accession: str, number: int) -> int:
        return self._owners.setdefault(accession, number)


_CLAIMS: Any = ray.remote(num_cpus=0)(_Claims)


def _unpack(number: int, dump: Dump, job: UnpackJob, claims: Any) -> UnpackedDump:
    def claim(accession: str) -> int:
        owner: int = ray.get(claims.claim.remote(accession, number))
        return owner

    return unpack_dump(number, dump, job, claim)


class UnpackOnRay:
    """Unpacks ``workers`` dumps at a time on a Ray cluster (see ``ray_cluster``), which starts with the first dump. At
    most as many as it has processors run at once."""

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._tasks: dict[int, Any] = {}

    def unpack(self, job: UnpackJob, dumps: Iterable[Dump]) -> Iterator[UnpackedDump]:
        """See ``finray.edgar.unpack.Unpacker``. Raises ClusterError."""
        with ray_cluster():
            claims, shared = _CLAIMS.remote(), ray.put(job)
            waiting: deque[tuple[int, Dump]] = deque()
            left = enumerate(dumps)
            while True:
                while len(waiting) < _AHEAD * self._workers and len(self._running()) < self._workers:
                    number, dump = next(left, (-1, None))
                    if dump is None:
                        break
                    self._tasks[number] = _task(dump).remote(number, dump, shared, claims)
                    waiting.append((number, dump))
                if not waiting:
                    return
                number, dump = waiting[0]
                running = self._running()
                if self._tasks[number] in running:
                    ray.wait(running, num_returns=1)
                    continue
                waiting.popleft()
                yield _result(number, dump, self._tasks[number])
                del self._tasks[number]

    def wait(self, number: int) -> None:
        if number in self._tasks:
            ray.wait([self._tasks[number]], fetch_local=False)

    def _running(self) -> list[Any]:
        tasks = list(self._tasks.values())
        return ray.wait(tasks, num_returns=len(tasks), timeout=0, fetch_local=False)[1] if tasks else []


def _task(dump: Dump) -> Any:
    """The task for ``dump``. One that was downloaded runs on this machine, beside what the cluster schedules."""
    task: Any = ray.remote(max_retries=_RETRIES)(_unpack)
    if not dump.source:
        return task
    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    return task.options(num_cpus=0, scheduling_strategy=here)


def _result(number: int, dump: Dump, task: Any) -> UnpackedDump:
    try:
        found: UnpackedDump = ray.get(task)
    except RayError as error:
        return UnpackedDump(number, dump, problem=f"its worker failed: {cause_of(error)}")
    return found
