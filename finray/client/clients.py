"""The synchronous and the asynchronous client: they send the requests that ``methods`` describes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any, Final, TypeVar

import httpx

from finray.client import methods, wire
from finray.client.methods import Call, Methods
from finray.core.filing import Filing
from finray.core.filing_filter import FilingFilter
from finray.core.replies import ServiceEvent
from finray.core.retries import attempts

_WAITS: Final = {"wait_s": 0.5, "longest_wait_s": wire.LONGEST_WAIT_S, "jitter_s": 0.0}
"""No jitter: the service already randomizes the wait that it requests."""
T = TypeVar("T")


class Client(Methods):
    """A connection to one service. Every method raises ServiceError.

    Retries up to ``max_retries`` times after a temporary refusal (429, 502, 503) or a failed connection. ``transport``
    replaces the network in tests.
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
        headers = wire.headers(api_key)
        self._http = httpx.Client(base_url=base_url, headers=headers, timeout=timeout_s, transport=transport)
        self._max_retries = max_retries

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    @property
    def base_url(self) -> str:
        return str(self._http.base_url)

    def stream(
        self,
        question: str,
        *,
        context: Sequence[str] = (),
        narrowed: FilingFilter | None = None,
        trace: bool = False,
    ) -> Iterator[ServiceEvent]:
        """Yield progress events; the ``answer`` event has the prediction. Closing the iterator early ends the work.

        The arguments are those of ``answer``.
        """
        request = methods.stream(question, context, narrowed, trace=trace)
        with wire.unreachable(self._http.base_url), self._http.stream(**request) as reply:
            if not reply.is_success:
                reply.read()
            wire.check(reply)
            events = wire.EventReader()
            for line in reply.iter_lines():
                yield from events.read(line)

    def filings(self, narrowed: FilingFilter | None = None, *, page_size: int = 200) -> Iterator[Filing]:
        """Every filing that matches ``narrowed``, by id."""
        cursor = None
        while True:
            found = self._filings(narrowed, cursor, page_size)
            yield from found.data
            if (cursor := found.next_cursor) is None:
                return

    def _do(self, describe: Callable[..., Call[T]], *args: Any, **kwargs: Any) -> T:
        call = describe(*args, **kwargs)
        for attempt in attempts(1 if call.once else self._max_retries + 1, wire.pause, **_WAITS):
            with attempt, wire.unreachable(self._http.base_url):
                reply = self._http.request(**call.request)
                wire.check(reply)
        return call.read(reply)


class AsyncClient(Methods):
    """``Client`` with awaitable methods."""

    def __init__(
        self,
        base_url: str,
        api_key: str | None = None,
        *,
        timeout_s: float = 120.0,
        max_retries: int = 3,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        headers = wire.headers(api_key)
        self._http = httpx.AsyncClient(base_url=base_url, headers=headers, timeout=timeout_s, transport=transport)
        self._max_retries = max_retries

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        await self._http.aclose()

    async def stream(
        self,
        question: str,
        *,
        context: Sequence[str] = (),
        narrowed: FilingFilter | None = None,
        trace: bool = False,
    ) -> AsyncIterator[ServiceEvent]:
        """See ``Client.stream``."""
        request = methods.stream(question, context, narrowed, trace=trace)
        with wire.unreachable(self._http.base_url):
            async with self._http.stream(**request) as reply:
                if not reply.is_success:
                    await reply.aread()
                wire.check(reply)
                events = wire.EventReader()
                async for line in reply.aiter_lines():
                    for event in events.read(line):
                        yield event

    async def filings(self, narrowed: FilingFilter | None = None, *, page_size: int = 200) -> AsyncIterator[Filing]:
        """See ``Client.filings``."""
        cursor = None
        while True:
            found = await self._filings(narrowed, cursor, page_size)
            for filing in found.data:
                yield filing
            if (cursor := found.next_cursor) is None:
                return

    async def _do(self, describe: Callable[..., Call[T]], *args: Any, **kwargs: Any) -> T:
        call = describe(*args, **kwargs)
        async for attempt in attempts(1 if call.once else self._max_retries + 1, wire.pause, **_WAITS):
            with attempt, wire.unreachable(self._http.base_url):
                reply = await self._http.request(**call.request)
                wire.check(reply)
        return call.read(reply)
