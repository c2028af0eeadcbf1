"""The driver of `finray answer` and jobs/answer.py: thousands of questions, hundreds in flight, without Ray.

A coroutine function answers each question, in this process or on a cluster. Predictions are stored as they finish, so a
killed run can resume (:mod:`finray.batch.prediction_store`).
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from finray.batch.prediction_store import PredictionStore, pending
from finray.batch.predictions import prediction_of_bad_line
from finray.batch.question_lines import BadLine
from finray.core.errors import FinrayError
from finray.core.predictions import Prediction, TokenUsage
from finray.core.questions import Question
from finray.core.settings import Settings
from finray.core.threads import run_to_end

_log = logging.getLogger(__name__)

Answer = Callable[[Question], Awaitable[Prediction]]
Progress = Callable[[int, int], None]
"""Called with (done, total) of this run."""
Order = Callable[[Sequence[Question]], Sequence[Question]]


@dataclass(frozen=True, slots=True)
class AnswerSummary:
    """Counts and times of a bulk run. Latencies are in seconds, over the questions answered in this run."""

    questions: int
    resumed: int
    answered: int
    unanswerable: int
    errors: int
    seconds: float
    questions_per_second: float
    latency_p50: float | None
    latency_p95: float | None
    usage: Mapping[str, TokenUsage] = field(default_factory=dict)
    """LLM tokens and cost of this run, by stage."""
    unusable: Mapping[str, int] = field(default_factory=dict)
    """LLM replies of this run that could not be used, by stage."""

    @property
    def failed(self) -> bool:
        return self.errors > 0


async def answer_all(
    questions: Sequence[Question | BadLine],
    answer: Answer,
    store: PredictionStore,
    settings: Settings,
    *,
    retry_failed: bool = False,
    progress: Progress | None = None,
    order: Order = list,
) -> AnswerSummary:
    """Answer the questions that ``store`` lacks, at most ``settings.bulk.concurrency`` at once, and finish the file.

    ``order`` chooses the order in which they are asked; the file keeps that of ``questions``. Predictions are appended
    every ``settings.bulk.flush_seconds``, and on cancellation.
    """
    started = time.perf_counter()
    settings_hash = settings.answer_hash()
    todo = list(pending(questions, store.done(), settings_hash, retry_failed=retry_failed))
    buffer = _Buffer(store)
    latencies: list[float] = []
    spent: dict[str, TokenUsage] = {}
    unusable: Counter[str] = Counter()
    done = 0

    def take(prediction: Prediction) -> None:
        nonlocal done
        buffer.add(prediction)
        for stage, tokens in prediction.usage.items():
            spent[stage] = spent.get(stage, TokenUsage()) + tokens
        unusable.update(prediction.unusable)
        done += 1
        if progress is not None:
            progress(done, len(todo))

    bad = [item for item in todo if isinstance(item, BadLine)]
    for line in bad:
        take(prediction_of_bad_line(line, settings_hash))
    waiting = iter(order([item for item in todo if isinstance(item, Question)]))

    async def work() -> None:
        for question in waiting:
            try:
                prediction = await answer(question)
            except FinrayError:  # the other questions cannot be answered either
                raise
            except Exception as error:  # noqa: BLE001 - a bug that one question triggers must not stop the others
                _log.exception("question %r", question.qid)
                prediction = Prediction.of_failure(question, error, settings_hash)
            latencies.append(prediction.seconds)
            take(prediction)

    async def flush_regularly() -> None:
        while True:
            await asyncio.sleep(settings.bulk.flush_seconds)
            await asyncio.to_thread(buffer.flush)

    try:
        async with asyncio.TaskGroup() as group:
            # It is part of the group, so that a failed write ends the run at once.
            flusher = group.create_task(flush_regularly())
            workers = [group.create_task(work()) for _ in range(min(settings.bulk.concurrency, len(todo) - len(bad)))]
            if workers:
                await asyncio.wait(workers)
            flusher.cancel()
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from None
    finally:
        buffer.flush()
    await run_to_end(lambda: store.finish((item.qid for item in questions), settings_hash))
    statuses = [store.done()[item.qid, settings_hash].status for item in questions]
    quantiles = [float(q) for q in np.quantile(latencies, (0.5, 0.95))] if latencies else [None, None]
    seconds = time.perf_counter() - started
    return AnswerSummary(
        questions=len(statuses),
        resumed=len(statuses) - len(todo),
        answered=statuses.count("answered"),
        unanswerable=statuses.count("unanswerable"),
        errors=statuses.count("error"),
        seconds=seconds,
        questions_per_second=len(todo) / seconds if seconds else 0.0,
        latency_p50=quantiles[0],
        latency_p95=quantiles[1],
        usage=spent,
        unusable=dict(unusable),
    )


class _Buffer:
    """Predictions on their way to the store; a batch is dropped only after it is stored."""

    def __init__(self, store: PredictionStore) -> None:
        self._store = store
        self._ready: list[Prediction] = []
        # A cancelled flush still runs in its thread when the last one starts.
        self._lock = threading.Lock()

    def add(self, prediction: Prediction) -> None:
        self._ready.append(prediction)

    def flush(self) -> None:
        with self._lock:
            batch = self._ready[:]
            self._store.append(batch)
            del self._ready[: len(batch)]
