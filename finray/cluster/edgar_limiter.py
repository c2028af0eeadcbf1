"""Limits the requests to EDGAR of a whole cluster: one named actor that every job on the cluster asks.

It outlives the job that made it, so a job that restarts while EDGAR blocks every request goes on waiting.
"""

from __future__ import annotations

import time
from typing import Any

import ray
from ray.exceptions import RayActorError

from finray.edgar.limiter import Pacer, Sleep, wait_for

_NAME, _NAMESPACE = "edgar-limiter", "finray"
_ASK_AGAIN_SECONDS = 1.0


class _Actor(Pacer):
    """A Pacer whose attribute can be asked for: Ray calls only methods."""

    def count_pauses(self) -> int:
        return self.pauses


_ACTOR: Any = ray.remote(num_cpus=0, max_restarts=-1)(_Actor)


class ClusterLimiter:
    """Attaches to the cluster's limiter, or makes it; Ray must be running. The slowest rate of all jobs applies for as
    long as the cluster is up. Can be sent to tasks and actors."""

    def __init__(self, per_second: float) -> None:
        self._per_second = per_second
        self._actor = self._find()

    def acquire(self, sleep: Sleep = time.sleep) -> None:
        wait_for(self._ask, sleep)

    def pause(self, seconds: float) -> None:
        ray.get(self._actor.pause.remote(seconds))

    @property
    def pauses(self) -> int:
        pauses: int = ray.get(self._actor.count_pauses.remote())
        return pauses

    def _ask(self) -> float:
        try:
            wait: float = ray.get(self._actor.ask.remote())
            return wait
        except RayActorError:
            # Its node is gone. The first job to notice makes another one, and every job waits a moment.
            self._actor = self._find()
            return _ASK_AGAIN_SECONDS

    def _find(self) -> Any:
        actor = _ACTOR.options(
            name=_NAME, namespace=_NAMESPACE, lifetime="detached", get_if_exists=True, max_task_retries=-1
        ).remote(self._per_second)
        actor.slow_down.remote(self._per_second)
        return actor
