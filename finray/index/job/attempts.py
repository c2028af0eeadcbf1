"""Counts attempts to embed filings. Imports nothing of finray, so that an actor with the counts starts fast."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Attempts(Protocol):
    """Counts attempts by URI, which may outlive the process that makes them."""

    def unfinished(self, uris: Sequence[str]) -> list[int]:
        """The number of attempts at each that have not finished."""

    def begin(self, uris: Sequence[str]) -> None:
        """Returns once the attempts are counted."""

    def finish(self, uris: Sequence[str]) -> None: ...


class AttemptsHere:
    """Attempts of this process; they are forgotten when it dies."""

    def __init__(self) -> None:
        self._begun: dict[str, int] = {}

    def unfinished(self, uris: Sequence[str]) -> list[int]:
        return [self._begun.get(uri, 0) for uri in uris]

    def begin(self, uris: Sequence[str]) -> None:
        for uri in uris:
            self._begun[uri] = self._begun.get(uri, 0) + 1

    def finish(self, uris: Sequence[str]) -> None:
        for uri in uris:
            self._begun.pop(uri, None)
