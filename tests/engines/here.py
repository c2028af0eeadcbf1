"""Engines in this process instead of in children."""

from __future__ import annotations

from collections.abc import Callable

from finray.core.predictions import Prediction
from finray.core.questions import Question
from finray.engine import Engine
from finray.engines.opening import opener
from finray.engines.outside import Outside
from finray.engines.source import EngineSource

Open = Callable[[EngineSource], Engine]


def open_here(source: EngineSource) -> Engine:
    """A new engine."""
    engine: Engine = opener(source, Outside(lambda _message: None))(None)
    return engine


class HerePool:
    """In place of ``finray.engines.pool.EnginePool``: calls can be traced, and an engine can be shared by ``open``."""

    def __init__(self, source: EngineSource, *_watch: object, **_options: object) -> None:
        self._source = source
        self._engine: Engine | None = None

    open: Open = staticmethod(open_here)

    async def answer(self, question: Question) -> Prediction:
        await self.ready()
        assert self._engine is not None
        return await self._engine.answer(question)

    async def ready(self) -> None:
        self._engine = self._engine or self.open(self._source)

    def close(self) -> None:
        """No process to end."""
