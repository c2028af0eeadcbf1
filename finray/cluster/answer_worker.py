"""The Ray worker of a bulk run. It is light: the engine is a process of its own beside it (finray.engines), so the
worker goes on whatever a question does."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from finray.core.settings import Settings
from finray.core.types import Prediction, Question
from finray.engines.questions import QuestionEngine
from finray.engines.source import OPENING


@dataclass(frozen=True, slots=True)
class WorkerEngine:
    """The arguments of a QuestionEngine."""

    index_uri: str
    settings: Settings
    asks_llm: bool
    in_flight: int
    opening: str = OPENING


class AnswerWorker:
    def __init__(self, environment: Mapping[str, str]) -> None:
        # As an argument, not as Ray's runtime_env, which Ray writes to its logs: there are keys and secrets in it.
        os.environ.update(environment)
        self._engine: QuestionEngine | None = None

    async def open(self, engine: WorkerEngine) -> None:
        """Open the index. Not in ``__init__``, whose errors Ray reports as the death of an actor."""
        self._engine = QuestionEngine(
            engine.index_uri,
            engine.settings,
            asks_llm=engine.asks_llm,
            in_flight=engine.in_flight,
            opening=engine.opening,
        )
        await self._engine.ready()

    async def answer(self, question: Question) -> Prediction:
        """See :meth:`QuestionEngine.answer`. Cancelled, it has the work ended."""
        assert self._engine is not None, "open comes first"
        return await self._engine.answer(question)
