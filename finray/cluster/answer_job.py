"""Bulk answering on a Ray cluster: a pool of engine actors under the driver of :mod:`finray.bulk`."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping

import ray
from ray.exceptions import ActorDiedError, ActorUnavailableError, RayTaskError, WorkerCrashedError

from finray.engine import open_engine
from finray.errors import FinrayError
from finray.settings import Settings
from finray.types import Prediction, Question

_LOST_WORKER = (ActorDiedError, ActorUnavailableError, WorkerCrashedError)
_TRIES = 4


@ray.remote(max_restarts=-1, max_task_retries=2)
class _Worker:
    """One engine. Questions arrive one by one and are answered concurrently on the actor's event loop."""

    def __init__(self, index_uri: str, settings: Settings) -> None:
        self._engine = open_engine(index_uri, settings)

    async def ready(self) -> bool:
        return True

    async def answer(self, question: Question) -> Prediction:
        return await self._engine.answer(question)


class AnswerPool:
    """Engine actors on the cluster, the least busy first. Ray must be running (see finray.cluster.runtime).

    ``workers`` defaults to one for each CPU of the cluster. A worker that dies is restarted elsewhere and its questions
    are asked again; a question that kills its worker again and again becomes a prediction with status "error".
    """

    def __init__(self, index_uri: str, settings: Settings, workers: int | None = None) -> None:
        count = workers or max(1, int(ray.cluster_resources().get("CPU", 1)))
        in_flight = max(1, -(-settings.bulk.concurrency // count))
        options = _Worker.options(
            num_cpus=1, max_concurrency=in_flight, runtime_env={"env_vars": _worker_environment()}
        )
        self._workers = [options.remote(index_uri, settings) for _ in range(count)]
        self._busy = [0] * count
        self._settings_hash = settings.answer_hash()

    def wait_until_ready(self) -> None:
        """Block until every worker has opened the index. Raises the FinrayError that kept one from it."""
        try:
            ray.get([worker.ready.remote() for worker in self._workers])
        except ActorDiedError as error:
            cause = getattr(error, "cause", None)
            raise FinrayError(f"a worker could not start: {cause or error}") from error

    async def answer(self, question: Question) -> Prediction:
        problem = ""
        for attempt in range(_TRIES):
            index = min(range(len(self._workers)), key=self._busy.__getitem__)
            self._busy[index] += 1
            try:
                prediction: Prediction = await self._workers[index].answer.remote(question)
                return prediction
            except _LOST_WORKER as error:
                problem = f"{type(error).__name__}: the worker died while it answered ({attempt + 1} of {_TRIES} tries)"
                await asyncio.sleep(1.0 + attempt)
            except RayTaskError as error:
                # A bug in one question's path must not cost the other thousands; it is reported, not swallowed.
                problem = f"{type(error.cause).__name__}: {error.cause}"
                break
            finally:
                self._busy[index] -= 1
        return Prediction(
            qid=question.qid,
            question=question.question,
            answer="",
            status="error",
            error=problem,
            settings_hash=self._settings_hash,
        )

    def close(self) -> None:
        for worker in self._workers:
            ray.kill(worker)


def _worker_environment() -> Mapping[str, str]:
    """One thread for each worker, since each has one CPU; FINRAY_* and AWS_* as the driver has them."""
    passed = {name: value for name, value in os.environ.items() if name.startswith(("FINRAY_", "AWS_"))}
    return {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false", **passed}
