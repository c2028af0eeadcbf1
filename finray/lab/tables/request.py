"""The request of one ``finray tables`` command."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Progress = Callable[[int, int, str], None]
"""Called with (done, total, note)."""


@dataclass(frozen=True, slots=True)
class Request:
    """``overrides`` are settings by dotted name over ``preset``. ``out`` keeps predictions, so that a second run
    resumes; ``models`` is the folder of a training run. ``only`` selects tables by number; empty: all."""

    questions: Sequence[str]
    index: str
    preset: str = "local"
    overrides: Mapping[str, Any] = field(default_factory=dict)
    out: str | None = None
    models: str | None = None
    only: Sequence[str] = ()

    def wants(self, *numbers: str) -> bool:
        """Whether the request selects any of the tables ``numbers``."""
        return not self.only or not set(self.only).isdisjoint(numbers)
