"""Notes of the filings that are being embedded. Imports nothing of finray, so that an actor with them starts fast."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Attempts(Protocol):
    """Remembers filings that are being embedded, by URI, also if the process that embeds them dies."""

    def unfinished(self, uris: Sequence[str]) -> list[int]:
        """How often each was begun in vain."""
        ...

    def begin(self, uris: Sequence[str]) -> None:
        """Returns when it is noted."""
        ...

    def finish(self, uris: Sequence[str]) -> None: ...


class AttemptsHere:
    """Those of this process alone; it cannot die and remember."""

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
