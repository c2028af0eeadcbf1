"""Services behind batches: the real one, and one whose answers a test decides."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from typing import Any

from finray.api.errors import ApiError, not_found
from finray.api.page_images import Drawing
from finray.api.service import Asked, AskedRetrieval, LocalService
from finray.core.passages import Passage
from finray.core.predictions import CitedCell, Prediction
from finray.core.replies import AnswerEvent, Ready, Retrieved, ServiceEvent
from finray.core.settings import Settings

FILING = "0000012345-23-000001"
CELL = CitedCell("revenue", 1.5e9, "ACME_10K", FILING, 41, "Total revenue", "1,500")


class Borrowed:
    """A service that other tests use too: the application does not start or stop it."""

    def __init__(self, service: LocalService) -> None:
        self._service = service

    def __getattr__(self, name: str) -> Any:
        return getattr(self._service, name)


class Decided:
    """A word of a question decides: "refused", "broken", "unsure", "ungrounded", "busy" (twice), "slow" until released.

    ``asked`` has each question as often as it was answered.
    """

    def __init__(self, settings: Settings) -> None:
        self.asked: list[str] = []
        self.released = False
        self._busy: dict[str, int] = {}
        self._hash = settings.answer_hash()

    async def status(self) -> Ready:
        return Ready("1.1.1.1", 0, self._hash)

    async def answer(self, asked: Asked) -> AsyncGenerator[ServiceEvent, None]:
        (question,) = asked.questions
        text = question.question
        if "busy" in text and self._busy.setdefault(text, 2):
            self._busy[text] -= 1
            raise ApiError(429, "overloaded", "try again", retry_after=0.01)
        while "slow" in text and not self.released:
            await asyncio.sleep(0.01)
        self.asked.append(text)
        if "broken" in text and not self.released:
            raise ApiError(504, "timeout", "not answered after 1 s")
        yield AnswerEvent(question.qid, "1.1.1.1", self._prediction(question.qid, text))

    def _prediction(self, qid: str, text: str) -> Prediction:
        if "refused" in text:
            return Prediction(
                qid, text, "Not in the filings", "unanswerable", missing=("filings",), settings_hash=self._hash
            )
        return Prediction(
            qid,
            text,
            "1.5 billion",
            "answered",
            1.5e9,
            "USD",
            evidence=(Passage("ACME_10K", FILING, 41, 0, 5, "text", 0.5),),
            operands=(CELL,),
            grounded="ungrounded" not in text,
            confidence=0.3 if "unsure" in text else 0.9,
            settings_hash=self._hash,
        )

    async def read(self, key: str, work: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return {}

    async def retrieve(self, asked: AskedRetrieval) -> Retrieved:
        raise not_found("nothing is retrieved here", "question")

    async def page_image(self, key: str, filing_id: str, drawing: Drawing) -> bytes:
        raise not_found("no images here", "page")
