"""The synchronous client."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType
from typing import Any

import httpx

from finray.client import wire
from finray.core.filing_filter import FilingFilter
from finray.core.replies import AnswerList, FilingCover, FilingList, FilingPage, Ready, Retrieved, ServiceEvent
from finray.core.types import Filing, Passage, Prediction, Question


class Client:
    """A connection to one service. Every method raises ServiceError.

    What was refused for the moment (429, 503) or did not connect is tried again, up to ``max_retries`` times.
    ``transport`` replaces the network, for tests.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str | None = None,
        *,
        timeout_s: float = 120.0,
        max_retries: int = 3,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._http = httpx.Client(
            base_url=base_url, headers=wire.headers(api_key), timeout=timeout_s, transport=transport
        )
        self._max_retries = max_retries

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def answer(self, question: str, *, narrowed: FilingFilter | None = None, trace: bool = False) -> Prediction:
        """The answer, from the filings that ``narrowed`` lets pass."""
        return self.answer_all([Question("1", question)], narrowed=narrowed, trace=trace)[0]

    def answer_all(
        self, questions: Sequence[Question], *, narrowed: FilingFilter | None = None, trace: bool = False
    ) -> list[Prediction]:
        """Answers to a few questions, in their order, from one version of the index."""
        body = wire.answer_body(questions, narrowed, trace=trace)
        return list(wire.read(AnswerList, self._send("POST", "/v1/answer", json=body)).data)

    def stream(
        self, question: str, *, narrowed: FilingFilter | None = None, trace: bool = False
    ) -> Iterator[ServiceEvent]:
        """Events as the work goes on; the one called ``answer`` has the prediction. Leaving early ends the work."""
        body = wire.answer_body([Question("1", question)], narrowed, trace=trace)
        request = self._http.build_request("POST", "/v1/answer", json=body, headers={"Accept": "text/event-stream"})
        try:
            reply = self._http.send(request, stream=True)
            try:
                if not reply.is_success:
                    reply.read()
                if error := wire.problem(reply):
                    raise error
                events = wire.EventReader()
                for line in reply.iter_lines():
                    yield from events.read(line)
            finally:
                reply.close()
        except httpx.HTTPError as error:
            raise wire.unreachable(self._http.base_url, error) from error

    def retrieve(
        self,
        question: str,
        *,
        narrowed: FilingFilter | None = None,
        k_documents: int | None = None,
        k_passages: int | None = None,
    ) -> Retrieved:
        """Filings and passages for a question, without an answer."""
        body = wire.retrieve_body(question, narrowed, k_documents, k_passages)
        return wire.read(Retrieved, self._send("POST", "/v1/retrieve", json=body))

    def filings(self, narrowed: FilingFilter | None = None, *, page_size: int = 200) -> Iterator[Filing]:
        """Every filing that ``narrowed`` lets pass, by id."""
        cursor: str | None = None
        while True:
            params = wire.filings_query(narrowed, cursor, page_size)
            found = wire.read(FilingList, self._send("GET", "/v1/filings", params=params))
            yield from found.data
            cursor = found.next_cursor
            if cursor is None:
                return

    def filing(self, filing_id: str) -> Filing:
        return wire.read(FilingCover, self._send("GET", wire.page_path(filing_id)))

    def page(self, filing_id: str, page: int) -> FilingPage:
        """One page; ``page`` counts from 0."""
        return wire.read(FilingPage, self._send("GET", wire.page_path(filing_id, page)))

    def page_image(
        self,
        filing_id: str,
        page: int,
        *,
        highlights: Iterable[Passage] = (),
        boxes: Iterable[Sequence[float]] = (),
        dpi: int | None = None,
    ) -> bytes:
        """PNG of one page, with passages of this page and boxes (PDF points) marked."""
        params = wire.image_query(highlights, boxes, dpi)
        return self._send("GET", wire.page_path(filing_id, page, image=True), params=params).content

    def ready(self) -> Ready:
        """What the service answers from."""
        return wire.read(Ready, self._send("GET", "/v1/readyz"))

    def _send(self, method: str, path: str, **content: Any) -> httpx.Response:
        for attempt in range(self._max_retries + 1):
            try:
                reply = self._http.request(method, path, **content)
                error = wire.problem(reply)
            except httpx.TransportError as failure:
                error = wire.unreachable(self._http.base_url, failure)
                error.__cause__ = failure
            if error is None:
                return reply
            if attempt == self._max_retries or not wire.is_passing(error):
                raise error
            time.sleep(wire.wait_before(error, attempt))
        raise AssertionError
