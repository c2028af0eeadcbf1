"""The work of the tools and resources, over the same service as the HTTP routes."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Concatenate

from finray.api.access import ANONYMOUS
from finray.api.errors import ApiError
from finray.api.limits import KeyLimits
from finray.api.open_index import OpenIndex
from finray.api.requests import read_text
from finray.api.service import Asked, AskedRetrieval, P, Service, T, check_answered, one_answer
from finray.core.filing_filter import FilingFilter
from finray.core.questions import Question
from finray.core.settings import ServingSettings
from finray.mcp import reading
from finray.mcp.marking import marked, short
from finray.mcp.records import AnswerResult, PassagesResult

_MAX_PROGRAM = 4_000


@dataclass(frozen=True, slots=True)
class Caller:
    """``key`` is the name of the API key, ``origin`` the URL at which the caller reaches the HTTP service, if any."""

    key: str = ANONYMOUS
    origin: str | None = None


@dataclass(frozen=True, slots=True)
class Tools:
    """Calls have the limits of the HTTP service. Citations link to pages of the service at ``links``, else to the
    caller's, else to EDGAR. Every method may raise ApiError."""

    service: Service
    settings: ServingSettings
    limits: KeyLimits
    links: str | None = None

    async def ask(self, caller: Caller, question: str, narrowed: FilingFilter) -> AnswerResult:
        text = read_text(question, self.settings, "question")
        self.limits.ask(caller.key, 1)
        asked = Asked((Question("1", text),), narrowed, request_id=_new_id())
        prediction = (await self._in_time(one_answer(self.service, asked))).prediction
        check_answered(prediction)
        shown = prediction.evidence_blocks or prediction.evidence
        quotes, cells = await self.read(caller, reading.support, shown, prediction.operands)
        (answer,) = marked([prediction.answer], "answer")
        return AnswerResult(
            status=prediction.status,
            answer=answer,
            value=prediction.value,
            unit=prediction.unit,
            confidence=prediction.confidence,
            grounded=prediction.grounded,
            program=None if prediction.program is None else short(prediction.program, _MAX_PROGRAM),
            cells=cells,
            evidence=quotes,
            missing=tuple(map(short, prediction.missing)),
            nearest=tuple(map(short, prediction.nearest)),
        )

    async def search(self, caller: Caller, query: str, narrowed: FilingFilter, limit: int) -> PassagesResult:
        text = read_text(query, self.settings, "query")
        self.limits.ask(caller.key, 1)
        asked = AskedRetrieval(text, narrowed, k_passages=limit, request_id=_new_id())
        found = await self._in_time(self.service.retrieve(asked))
        return PassagesResult(await self.read(caller, reading.quote, found.passages))

    async def read(
        self,
        caller: Caller,
        work: Callable[Concatenate[OpenIndex, str | None, P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """The result of ``work``, a function of ``finray.mcp.reading``."""
        links = self.links or caller.origin
        return await self._in_time(self.service.read(caller.key, work, links, *args, **kwargs))

    async def _in_time(self, work: Awaitable[T]) -> T:
        """The result of ``work``. Raises ApiError 504 after ``serving.timeout_s``."""
        try:
            async with asyncio.timeout(self.settings.timeout_s):
                return await work
        except TimeoutError:
            message = f"no result within {self.settings.timeout_s:g} s (serving.timeout_s)"
            raise ApiError(504, "timeout", message) from None


def _new_id() -> str:
    """A request id, by which the log lists errors of a question."""
    return uuid.uuid4().hex
