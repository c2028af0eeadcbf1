"""Engines for questions of a bulk run or of the command line, where each question has a limit of time."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any

from finray.core.errors import EngineError
from finray.core.settings import Settings
from finray.core.types import Prediction, Question
from finray.engines.outside import Outsiders
from finray.engines.pool import EnginePool, Watch
from finray.engines.source import OPENING, EngineSource
from finray.models.chat import ChatModel, ChatReply, Message

_BY_RULES_SECONDS = 300.0
_WITH_LLM_SECONDS = 3600.0
"""Hundreds of questions wait for the model together, and each asks it several times."""
_GRACE_SECONDS = 5.0


class QuestionEngine:
    """One engine in a process of its own. ``in_flight`` questions are worked on at a time, the others wait.

    ``asks_llm`` says whether questions wait for a language model (``finray.engine.asks_llm``).
    """

    def __init__(
        self, index_uri: str, settings: Settings, *, asks_llm: bool, in_flight: int = 1, opening: str = OPENING
    ) -> None:
        seconds = settings.bulk.question_seconds or (_WITH_LLM_SECONDS if asks_llm else _BY_RULES_SECONDS)
        outsiders = outside_of(settings, asks_llm=asks_llm)
        self._settings_hash = settings.answer_hash()
        self._engines = EnginePool(
            EngineSource(index_uri, settings, frozenset(outsiders), opening),
            Watch(seconds, "bulk.question_seconds; give it more and ask again", min(seconds, _GRACE_SECONDS)),
            in_flight=in_flight,
            outsiders=outsiders,
        )

    async def answer(self, question: Question) -> Prediction:
        """A question that takes too long, or that ends its process, is a prediction with status "error".

        Raises the FinrayError for which no process comes up.
        """
        try:
            return await self._engines.answer(question)
        except EngineError as error:
            return Prediction.of_failure(question, error, self._settings_hash)

    async def ready(self) -> None:
        """Until it has opened the index. Raises the FinrayError that keeps it from it."""
        await self._engines.ready()

    def close(self) -> None:
        """End the process."""
        self._engines.close()


def outside_of(settings: Settings, *, asks_llm: bool) -> Outsiders:
    """The language model, where it is reached through Ray, to which no child is connected.

    Raises ModelUnavailableError.
    """
    if not asks_llm or settings.llm.backend != "serve":
        return {}
    from finray.models.load_chat import load_chat  # which brings its clients along

    return {"chat": chat_outside(load_chat(settings.llm))}


def chat_outside(model: ChatModel) -> Callable[..., Coroutine[Any, Any, ChatReply]]:
    """``model`` as children call it."""

    async def chat(messages: Sequence[Message], schema: Mapping[str, Any] | None) -> ChatReply:
        return await model.chat(messages, schema=schema)

    return chat
