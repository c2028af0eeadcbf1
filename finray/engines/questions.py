"""The engine of bulk runs and the command line, with a time limit for each question."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from finray.core.errors import EngineError
from finray.core.predictions import Prediction
from finray.core.questions import Question
from finray.core.settings import Settings
from finray.engines.outside import Outsiders
from finray.engines.pool import EnginePool, Watch
from finray.engines.source import OPENING, EngineSource, Role
from finray.models.chat import ChatModel, ChatReply

_BY_RULES_SECONDS = 300.0
_WITH_LLM_SECONDS = 3600.0
"""Hundreds of questions share the model, and each calls it several times."""
_GRACE_SECONDS = 5.0
IN_FLIGHT_SERVED = 4
"""Questions of a rule-based engine whose models run elsewhere: it computes one while others wait for them."""


class QuestionEngine:
    """One engine in a child process, which works on ``in_flight`` questions at a time.

    ``asks_llm``: whether questions wait for a language model (``finray.engine.asks_llm``). ``served`` makes the calls
    of models that run elsewhere, in place of those of the settings.
    """

    def __init__(
        self,
        index_uri: str,
        settings: Settings,
        *,
        asks_llm: bool,
        in_flight: int = 1,
        served: Callable[[], Outsiders] = dict,
        opening: str = OPENING,
    ) -> None:
        seconds = settings.bulk.question_seconds or (_WITH_LLM_SECONDS if asks_llm else _BY_RULES_SECONDS)
        elsewhere = served()
        outsiders = {**outside_of(settings, asks_llm=asks_llm, without=frozenset(elsewhere)), **elsewhere}
        self._settings_hash = settings.answer_hash()
        self._engines = EnginePool(
            EngineSource(index_uri, settings, frozenset(outsiders), opening),
            Watch(seconds, "bulk.question_seconds; raise it and ask again", min(seconds, _GRACE_SECONDS)),
            in_flight=in_flight,
            outsiders=outsiders,
        )

    async def answer(self, question: Question) -> Prediction:
        """The prediction, with status "error" if the question takes too long or ends its process.

        Raises the FinrayError that prevents the process from starting.
        """
        try:
            return await self._engines.answer(question)
        except EngineError as error:
            return Prediction.of_failure(question, error, self._settings_hash)

    async def ready(self) -> None:
        """Wait until the index is open. Raises the FinrayError that prevents it."""
        await self._engines.ready()

    def close(self) -> None:
        """End the process."""
        self._engines.close()


def outside_of(settings: Settings, *, asks_llm: bool, without: frozenset[Role] = frozenset()) -> Outsiders:
    """The language models that are reached through Ray, because no child is connected to Ray, except ``without``.

    Raises ModelUnavailableError.
    """
    roles: dict[str, Role] = {"llm": "chat", "answer_llm": "answer_chat"}
    served = {
        roles[name]: llm for name, llm in settings.llms.items() if llm.backend == "serve" and roles[name] not in without
    }
    if not asks_llm or not served:
        return {}
    from finray.models.load_chat import load_chat  # imports its clients

    return {role: chat_outside(load_chat(llm)) for role, llm in served.items()}


def chat_outside(model: ChatModel) -> Callable[..., Coroutine[Any, Any, ChatReply]]:
    return lambda messages, schema: model.chat(messages, schema=schema)
