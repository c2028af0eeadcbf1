"""Bulk answering on a Ray cluster: a pool of workers under the driver of :mod:`finray.batch.driver`.

Ray's own restarts are off: it would hand a dead worker's questions to a successor that may wait for a free CPU for
ever, and a question that kills its worker would take its neighbours along each time. The pool asks only workers that
are up, and asks what was lost in a crash again, in the end alone. A question that takes too long, or ends the process
of its engine, costs no worker: see :mod:`finray.cluster.answer_worker`.
"""

from __future__ import annotations

import asyncio
import os
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError

from finray.cluster.answer_worker import AnswerWorker, WorkerEngine
from finray.cluster.places import Place, Places
from finray.cluster.runtime import ClusterError
from finray.core.errors import EngineLostError, FinrayError
from finray.core.settings import Settings
from finray.core.types import Prediction, Question
from finray.engine import asks_llm
from finray.engines.source import OPENING
from finray.storage.locations import normalise

_TRIES_IN_COMPANY = 2
_TRIES_ALONE = 2
_ASK_AGAIN_SECONDS = 0.5
_START_AGAIN_SECONDS = (1.0, 10.0)
_START_SECONDS = 600.0
"""A cluster that grows on demand takes minutes to bring a node."""
_MARGIN = 1
"""Questions that a worker has at hand beside the one that it works on: they hide the way to the driver and back."""

_Handle = Any
"""Of an actor, or of what one of its methods will return."""
_ACTOR: Any = ray.remote(max_restarts=0, max_task_retries=0)(AnswerWorker)


class _LostError(Exception):
    """The worker, or the engine beside it, is gone."""


class AnswerPool:
    """Workers on the cluster. Ray must be running (see finray.cluster.runtime).

    ``workers`` defaults to one for each CPU of the cluster, and is no more than the ``questions`` to come. By rules a
    worker works on one question at a time, with a language model on its part of ``bulk.concurrency``. A worker that
    dies is replaced as soon as there is room, and its questions are asked again; a question that goes on killing
    workers, in the end one that has no other question, becomes a prediction with status "error". ``opening`` is that of
    :class:`finray.engines.source.EngineSource`.
    """

    def __init__(
        self,
        index_uri: str,
        settings: Settings,
        workers: int | None = None,
        *,
        questions: int | None = None,
        opening: str = OPENING,
    ) -> None:
        resources: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
        count = workers or max(1, int(resources.get("CPU", 1)))
        count = min(count, questions or count)
        waits = asks_llm(settings)
        works_on = max(1, -(-settings.bulk.concurrency // count)) if waits else 1
        margin = 0 if waits else _MARGIN
        self._places: Places[_Handle] = Places(works_on, margin)
        # What is moved to another worker may still be on its way.
        self._calls = 2 * (works_on + margin)
        self._index_uri = normalise(index_uri)  # workers may have another working directory
        self._settings = settings
        self._engine = WorkerEngine(self._index_uri, settings, waits, works_on, opening)
        self._recruits: set[asyncio.Task[None]] = set()
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
        problem: BaseException
        for attempt in range(1, _TRIES_IN_COMPANY + _TRIES_ALONE + 1):
            try:
                if attempt <= _TRIES_IN_COMPANY:
                    return await self._ask(question)
                return await self._ask_alone(question)
            except RayTaskError as error:
                # A bug in one question's path must not cost the other thousands; it is reported, not swallowed.
                problem = error.cause
                break
            except _LostError as error:
                problem = EngineLostError(f"the worker died while it answered, {attempt} times ({error})")
                await asyncio.sleep(_ASK_AGAIN_SECONDS)
        return Prediction.of_failure(question, problem, self._settings.answer_hash())

    def close(self) -> None:
        """End the workers. What has not come up yet ends with the connection to Ray."""
        new = (worker for worker, _ in self._new)
        for worker in (*self._places.workers, *new, *([self._lone] if self._lone else [])):
            ray.kill(worker)

    async def _ask(self, question: Question) -> Prediction:
        while self._new:
            self._recruit(*self._new.pop())
        place = await self._place()
        try:
            return await self._ask_at(place, question)
        finally:
            self._places.leave(place)

    async def _place(self) -> Place[_Handle]:
        """Raises FinrayError where no worker comes up."""
        taking = asyncio.ensure_future(self._places.take())
        while not taking.done():
            done, _ = await asyncio.wait({taking}, timeout=_START_SECONDS)
            if not done and not self._places.workers:
                taking.cancel()
                raise _no_worker(_START_SECONDS)
        return taking.result()

    async def _ask_at(self, place: Place[_Handle], question: Question) -> Prediction:
        while True:
            worker, moved = place.worker, place.moved
            sent = worker.answer.remote(question)
            reply = asyncio.create_task(_reply(sent))
            either: tuple[asyncio.Future[Any], ...] = (reply, moved)
            try:
                await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
                if reply.done():
                    return reply.result()
            except _LostError:
                if self._places.remove(worker):
                    ray.kill(worker)  # what Ray calls unavailable may still run
                    self._recruit(*self._start())
                raise
            finally:
                reply.cancel()
            ray.cancel(sent)

    async def _ask_alone(self, question: Question) -> Prediction:
        """One question at a time in a worker beside the others, so that who kills it is known."""
        async with self._alone:
            lone = await self._lone_worker()
            try:
                return await _reply(lone.answer.remote(question))
            except _LostError:
                self._lone = None
                ray.kill(lone)
                await self._lone_worker()  # where none comes up, the cluster is to blame and not the question
                raise

    async def _lone_worker(self) -> _Handle:
        if self._lone is None:
            self._lone = await self._brought_up(*self._start(num_cpus=0), num_cpus=0)  # the others may have every CPU
        return self._lone

    def _recruit(self, worker: _Handle, opened: _Handle) -> None:
        task = asyncio.get_running_loop().create_task(self._welcome(worker, opened))
        self._recruits.add(task)
        task.add_done_callback(self._recruits.discard)

    async def _welcome(self, worker: _Handle, opened: _Handle) -> None:
        """Count the worker in once it, or another in its place, is up."""
        try:
            self._places.add(await self._brought_up(worker, opened))
        except FinrayError as error:
            if not self._places.workers and len(self._recruits) == 1:
                self._places.refuse(error)

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
        options = _ACTOR.options(num_cpus=num_cpus, num_gpus=_gpus(self._settings), max_concurrency=self._calls)
        worker = options.remote(_worker_environment())
        return worker, worker.open.remote(self._engine)

    def _why(self, error: RayError) -> FinrayError:
        cause = error.cause if isinstance(error, RayTaskError) else error
        if isinstance(cause, FinrayError):
            return cause
        return ClusterError(f"a worker could not open {self._index_uri!r}: {type(cause).__name__}: {cause}")


async def _reply(sent: _Handle) -> Prediction:
    """Raises _LostError, and RayTaskError for a bug."""
    try:
        prediction: Prediction = await sent
        return prediction
    except RayTaskError as error:
        if isinstance(error.cause, FinrayError):  # no process of the engine comes up there
            raise _LostError(str(error.cause)) from error
        raise
    except RayError as error:
        raise _LostError(type(error).__name__) from error


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
