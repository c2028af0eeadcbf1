"""The Ray worker of a bulk run. The engine is a process beside it (finray.engines), so that the worker survives every
question."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping

from finray.cluster.gpus import hide_unassigned_gpus
from finray.core.predictions import Prediction
from finray.core.questions import Question
from finray.engines.questions import QuestionEngine


class AnswerWorker:
    def __init__(self, environment: Mapping[str, str]) -> None:
        # An argument and not Ray's runtime_env, which Ray writes to its logs: it has keys and secrets.
        os.environ.update(environment)
        hide_unassigned_gpus()
        self._engine: QuestionEngine | None = None

    async def open(self, engine: Callable[[], QuestionEngine]) -> None:
        """Open the index. Not in ``__init__``, whose errors Ray reports as the death of an actor."""
        self._engine = await asyncio.to_thread(engine)  # it may wait for Ray Serve
        await self._engine.ready()

    async def answer(self, question: Question) -> Prediction:
        """See :meth:`QuestionEngine.answer`. Cancellation ends the work on the question."""
        assert self._engine is not None, "call open() first"
        return await self._engine.answer(question)
