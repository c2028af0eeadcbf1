"""The limiter of a whole cluster: one actor, found by name, that every job on the cluster asks.

It outlives the job that made it, so that a job that is restarted while EDGAR refuses everything goes on waiting.
"""

from __future__ import annotations

import time
from typing import Any

import ray
from ray.exceptions import RayActorError

from finray.edgar.limiter import Pacer, Sleep, wait_for

_NAME, _NAMESPACE = "edgar-limiter", "finray"
_ASK_AGAIN_SECONDS = 1.0


class _Actor:
    def __init__(self, per_second: float) -> None:
        self._pacer = Pacer(per_second)

    def join(self, per_second: float) -> None:
        self._pacer.slow_down(per_second)

    def ask(self) -> float:
        return self._pacer.ask()

    def pause(self, seconds: float) -> None:
        self._pacer.pause(seconds)

    def pauses(self) -> int:
        return self._pacer.pauses


_ACTOR: Any = ray.remote(num_cpus=0, max_restarts=-1)(_Actor)


class ClusterLimiter:
    """Attaches to the cluster's limiter, or makes it; Ray must be running. Of jobs with different settings the slowest
    decides, for as long as the cluster is up. Can be sent to tasks and actors."""

    def __init__(self, per_second: float) -> None:
        self._per_second = per_second
        self._actor = self._find()

    def acquire(self, sleep: Sleep = time.sleep) -> None:
        wait_for(self._ask, sleep)

    def pause(self, seconds: float) -> None:
        ray.get(self._actor.pause.remote(seconds))

    @property
    def pauses(self) -> int:
        pauses: int = ray.get(self._actor.pauses.remote())
        return pauses

    def _ask(self) -> float:
        try:
            wait: float = ray.get(self._actor.ask.remote())
            return wait
        except RayActorError:
            # Its node is gone. Whoever is first makes another, after a moment in which nobody asks anything.
            self._actor = self._find()
            return _ASK_AGAIN_SECONDS

    def _find(self) -> Any:
        actor = _ACTOR.options(
            name=_NAME, namespace=_NAMESPACE, lifetime="detached", get_if_exists=True, max_task_retries=-1
        ).remote(self._per_second)
        actor.join.remote(self._per_second)
        return actor
