"""Asks the service the questions of batches, a few at a time, and waits while it is busy or starting."""

from __future__ import annotations

import asyncio

from finray.api.errors import ApiError
from finray.api.service import Asked, Service, one_answer
from finray.core.filing_filter import FilingFilter
from finray.core.predictions import Prediction
from finray.core.questions import Question
from finray.core.retries import attempts

PATIENCE_S = 600.0
"""How long a question waits for a service that refuses. Then its batch fails; it can be resumed."""
_WAITS = {"wait_s": 0.5, "longest_wait_s": 30.0, "jitter_s": 0.5}
_TRIES = 10_000


class Asking:
    """At most ``in_flight`` questions of all batches are in progress. Batches take turns."""

    def __init__(self, service: Service, in_flight: int, patience_s: float = PATIENCE_S) -> None:
        self._service, self._patience_s = service, patience_s
        self._turn = asyncio.Semaphore(in_flight)

    async def predict(
        self, question: Question, narrowed: FilingFilter, request_id: str, settings_hash: str
    ) -> Prediction:
        """The prediction for ``question``. Raises ApiError 429, 503 if the service refuses for ``patience_s``."""
        asked = Asked((question,), narrowed, request_id=request_id)
        try:
            async with self._turn:
                async for attempt in attempts(_TRIES, _wait, timeout_s=self._patience_s, **_WAITS):
                    with attempt:
                        return (await one_answer(self._service, asked)).prediction
        except ApiError as error:
            if _is_refusal(error):
                raise
            return Prediction.of_failure(question, error, settings_hash)
        raise AssertionError


def _is_refusal(error: Exception) -> bool:
    return isinstance(error, ApiError) and error.status in (429, 503)


def _wait(error: Exception) -> bool | float:
    if not isinstance(error, ApiError) or not _is_refusal(error):
        return False
    return True if error.retry_after is None else min(error.retry_after, _WAITS["longest_wait_s"])
