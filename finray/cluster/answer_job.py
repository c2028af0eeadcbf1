"""Bulk answering on a Ray cluster: a pool of engine actors under the driver of :mod:`finray.batch.driver`.

Ray's own restarts are off: it would hand a dead worker's questions to a successor that may wait for a free CPU for
ever, and a question that kills its worker would take its neighbours along each time. The pool asks only workers that
are up, and asks what was lost in a crash again, in the end alone.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError

from finray.cluster.runtime import ClusterError
from finray.core.errors import FinrayError
from finray.core.settings import Settings
from finray.core.types import Prediction, Question
from finray.engine import Engine, asks_llm, open_engine
from finray.storage.locations import normalise

_TRIES_IN_COMPANY = 2
_TRIES_ALONE = 2
_ASK_AGAIN_SECONDS = 0.5
_START_AGAIN_SECONDS = (1.0, 10.0)
_START_SECONDS = 600.0
"""A cluster that grows on demand takes minutes to bring a node."""

Opener = Callable[[str, Settings], Engine]
_Handle = Any
"""Of an actor, or of what one of its methods will return."""


class _Worker:
    """One engine. Questions arrive one by one and are answered concurrently on the actor's event loop."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        # As an argument, not as Ray's runtime_env, which Ray writes to its logs: there are keys and secrets in it.
        os.environ.update(environment)
        self._engine: Engine | None = None

    async def open(self, index_uri: str, settings: Settings, opener: Opener) -> None:
        """Open the index. Not in ``__init__``, whose errors Ray reports as the death of an actor."""
        self._engine = opener(index_uri, settings)

    async def answer(self, question: Question) -> Prediction:
        assert self._engine is not None, "open comes first"
        return await self._engine.answer(question)


_ACTOR: Any = ray.remote(max_restarts=0, max_task_retries=0)(_Worker)


class AnswerPool:
    """Engine actors on the cluster, the least busy first. Ray must be running (see finray.cluster.runtime).

    ``workers`` defaults to one for each CPU of the cluster, and is no more than the ``questions`` to come. A worker
    that dies is replaced as soon as there is room, and its questions are asked again; a question that goes on killing
    workers, in the end one that has no other question, becomes a prediction with status "error". ``opener`` opens the
    engine, in the worker.
    """

    def __init__(
        self,
        index_uri: str,
        settings: Settings,
        workers: int | None = None,
        *,
        questions: int | None = None,
        opener: Opener = open_engine,
    ) -> None:
        resources: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
        count = workers or max(1, int(resources.get("CPU", 1)))
        count = min(count, questions or count)
        self._in_flight = max(1, -(-settings.bulk.concurrency // count))
        self._index_uri = normalise(index_uri)  # workers may have another working directory
        self._settings, self._opener = settings, opener
        self._busy: dict[_Handle, int] = {}
        """The workers that are up, and how many questions each has."""
        self._recruits: set[asyncio.Task[None]] = set()
        self._problem: FinrayError | None = None
        """Why the last worker that did not come up did not."""
        self._alone = asyncio.Lock()
        self._lone: _Handle | None = None
        self._new = [self._start() for _ in range(count)]
        """Started, and not waited for yet: there is no event loop before the first question."""

    def wait_until_ready(self, timeout_s: float = _START_SECONDS) -> None:
        """Block until the first worker has opened the index; the others join as they come up.

        Raises the FinrayError that kept the worker from it, or ClusterError.
        """
        opened, _ = ray.wait([opened for _, opened in self._new], num_returns=1, timeout=timeout_s)
        if not opened:
            raise _no_worker(timeout_s)
        try:
            ray.get(opened[0])
        except RayError as error:
            raise self._why(error) from error

    async def answer(self, question: Question) -> Prediction:
        """The prediction for ``question``. Raises FinrayError where no worker can be had any more."""
        problem = ""
        for attempt in range(_TRIES_IN_COMPANY + _TRIES_ALONE):
            try:
                if attempt < _TRIES_IN_COMPANY:
                    return await self._ask(question)
                return await self._ask_alone(question)
            except RayTaskError as error:
                # A bug in one question's path must not cost the other thousands; it is reported, not swallowed.
                problem = f"{type(error.cause).__name__}: {error.cause}"
                break
            except RayError as error:
                problem = f"{type(error).__name__}: the worker died while it answered, {attempt + 1} times"
                await asyncio.sleep(_ASK_AGAIN_SECONDS)
        return Prediction(
            qid=question.qid,
            question=question.question,
            answer="",
            status="error",
            error=problem,
            settings_hash=self._settings.answer_hash(),
        )

    def close(self) -> None:
        """End the workers. What has not come up yet ends with the connection to Ray."""
        for worker in (*self._busy, *(worker for worker, _ in self._new), *([self._lone] if self._lone else [])):
            ray.kill(worker)

    async def _ask(self, question: Question) -> Prediction:
        worker = await self._least_busy()
        self._busy[worker] += 1
        try:
            prediction: Prediction = await worker.answer.remote(question)
            return prediction
        except RayTaskError:
            raise
        except RayError:
            if self._busy.pop(worker, None) is not None:
                ray.kill(worker)  # what Ray calls unavailable may still run
                self._recruit(*self._start())
            raise
        finally:
            if worker in self._busy:
                self._busy[worker] -= 1

    async def _ask_alone(self, question: Question) -> Prediction:
        """One question at a time in a worker beside the others, so that who kills it is known."""
        async with self._alone:
            lone = await self._lone_worker()
            try:
                prediction: Prediction = await lone.answer.remote(question)
                return prediction
            except RayTaskError:
                raise
            except RayError:
                self._lone = None
                await self._lone_worker()  # where none comes up, the cluster is to blame and not the question
                raise

    async def _lone_worker(self) -> _Handle:
        if self._lone is None:
            self._lone = await self._brought_up(*self._start(num_cpus=0), num_cpus=0)  # the others may have every CPU
        return self._lone

    async def _least_busy(self) -> _Handle:
        while self._new:
            self._recruit(*self._new.pop())
        while not self._busy:
            if not self._recruits:
                raise self._problem or _no_worker(0)
            up, _ = await asyncio.wait(self._recruits, timeout=_START_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            if not up:
                raise _no_worker(_START_SECONDS)
        return min(self._busy, key=self._busy.__getitem__)

    def _recruit(self, worker: _Handle, opened: _Handle) -> None:
        task = asyncio.get_running_loop().create_task(self._welcome(worker, opened))
        self._recruits.add(task)
        task.add_done_callback(self._recruits.discard)

    async def _welcome(self, worker: _Handle, opened: _Handle) -> None:
        """Count the worker in once it, or another in its place, is up."""
        try:
            self._busy[await self._brought_up(worker, opened)] = 0
        except FinrayError as error:
            self._problem = error

    async def _brought_up(self, worker: _Handle, opened: _Handle, *, num_cpus: int = 1) -> _Handle:
        """``worker``, or one that is started in its place where it does not come up. Raises FinrayError."""
        for pause in _START_AGAIN_SECONDS:
            try:
                await opened
                return worker
            except RayError:
                await asyncio.sleep(pause)
                worker, opened = self._start(num_cpus)
        try:
            await opened
            return worker
        except RayError as error:
            raise self._why(error) from error

    def _start(self, num_cpus: int = 1) -> tuple[_Handle, _Handle]:
        """A new worker, and what resolves when it has opened the index."""
        options = _ACTOR.options(num_cpus=num_cpus, num_gpus=_gpus(self._settings), max_concurrency=self._in_flight)
        worker = options.remote(_worker_environment())
        return worker, worker.open.remote(self._index_uri, self._settings, self._opener)

    def _why(self, error: RayError) -> FinrayError:
        cause = error.cause if isinstance(error, RayTaskError) else error
        if isinstance(cause, FinrayError):
            return cause
        return ClusterError(f"a worker could not open {self._index_uri!r}: {type(cause).__name__}: {cause}")


def _gpus(settings: Settings) -> int:
    """Of one worker: those of its own vLLM, where the cluster has any."""
    resources: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
    own_engine = asks_llm(settings) and settings.llm.backend == "vllm"
    return settings.llm.vllm.tensor_parallel_size if own_engine and resources.get("GPU") else 0


def _no_worker(waited_s: float) -> ClusterError:
    free: dict[str, float] = ray.available_resources()  # type: ignore[no-untyped-call]
    return ClusterError(
        f"no worker came up in {waited_s:.0f} s; each needs a CPU, and {free.get('CPU', 0):g} are free on the cluster. "
        "Wait for other jobs to end, or ask for fewer --workers"
    )


def _worker_environment() -> dict[str, str]:
    """FINRAY_* and AWS_* as the driver has them, keys included, for workers on other machines."""
    return {name: value for name, value in os.environ.items() if name.startswith(("FINRAY_", "AWS_"))}
