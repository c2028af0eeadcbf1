"""Calls to replicas that are lost, refuse or fail. The replicas are fakes; no Ray starts."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

import pytest
from ray.exceptions import ActorDiedError, RayTaskError
from ray.serve.exceptions import BackPressureError

from finray.api.errors import ApiError
from serve.calls import reply_to, stream_of

LOST = ActorDiedError()
REFUSED = BackPressureError(num_queued_requests=1, max_queued_requests=1)


def raised(cause: Exception) -> RayTaskError:
    """``cause`` as the caller of a replica sees it."""
    return RayTaskError("answer", "Traceback", cause)  # type: ignore[no-untyped-call]


class Replicas:
    """Each request gets the next of ``outcomes``: an error, or a list of which its reply is the last item."""

    def __init__(self, *outcomes: list[Any]) -> None:
        self._outcomes = list(outcomes)

    def send(self) -> Response:
        return Response(self._outcomes.pop(0))


class Response:
    def __init__(self, steps: list[Any]) -> None:
        self._steps = steps

    async def __aiter__(self) -> AsyncGenerator[Any, None]:
        for step in self._steps:
            if isinstance(step, Exception):
                raise step
            yield step

    def __await__(self) -> Any:
        return self._last().__await__()

    async def _last(self) -> Any:
        return [step async for step in self][-1]

    def cancel(self) -> None:
        """Nothing is under way."""


async def test_another_replica_is_asked_once_if_one_is_lost() -> None:
    assert await reply_to(Replicas([LOST], ["reply"]).send) == "reply"
    assert [item async for item in stream_of(Replicas([LOST], [1, 2]).send)] == [1, 2]
    for failing in (reply_to(Replicas([LOST], [LOST]).send), anext(stream_of(Replicas([LOST], [LOST]).send))):
        with pytest.raises(ApiError) as caught:
            await failing
        assert (caught.value.status, caught.value.code) == (503, "replica_lost")


async def test_what_must_run_once_or_has_begun_is_not_repeated() -> None:
    with pytest.raises(ApiError, match="lost"):
        await reply_to(Replicas([LOST], ["reply"]).send, once=True)
    seen = []
    with pytest.raises(ApiError, match="lost"):
        async for item in stream_of(Replicas([1, LOST], [1, 2]).send):
            seen.append(item)  # noqa: PERF401 - what came before the error counts
    assert seen == [1]


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (raised(ApiError(404, "not_found", "no such filing")), 404, "not_found"),
        (raised(ZeroDivisionError("secret")), 500, "internal_error"),
        (REFUSED, 429, "overloaded"),
    ],
)
async def test_an_error_of_a_replica_is_not_repeated(error: Exception, status: int, code: str) -> None:
    with pytest.raises(ApiError) as caught:
        await reply_to(Replicas([error], ["reply"]).send)
    assert (caught.value.status, caught.value.code) == (status, code)
    assert "secret" not in str(caught.value)
