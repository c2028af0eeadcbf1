"""Counts attempts at embedding filings outside of the workers: a worker that a filing kills cannot remember which."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from finray.index.job.attempts import AttemptsHere

_ACTOR: Any = ray.remote(num_cpus=0)(AttemptsHere)


class ClusterAttempts:
    """``finray.index.job.attempts.Attempts`` of one job, in an actor on the node of its driver, which the job cannot
    outlive anyway. Can be sent to tasks and actors."""

    def __init__(self) -> None:
        here = ray.get_runtime_context().get_node_id()
        place = NodeAffinitySchedulingStrategy(here, soft=False)
        self._actor = _ACTOR.options(scheduling_strategy=place).remote()

    def unfinished(self, uris: Sequence[str]) -> list[int]:
        counts: list[int] = ray.get(self._actor.unfinished.remote(uris))
        return counts

    def begin(self, uris: Sequence[str]) -> None:
        ray.get(self._actor.begin.remote(uris))

    def finish(self, uris: Sequence[str]) -> None:
        self._actor.finish.remote(uris)
