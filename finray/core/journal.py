"""Journal of one question: trace lines, tokens by stage, and reports of its stages."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Literal, TypeVar

from finray.core.predictions import TokenUsage

Stage = Literal["transform", "documents", "passages", "curate", "answer"]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class StageReport:
    """A stage of the loop begins (``seconds`` is None) or has ended.

    ``iteration`` is 0 for the first retrieval, then the round of the loop from 1. ``at`` is when the stage began, in
    seconds since the epoch. The other fields are set at the end: ``result`` is the role's (a Query, Documents,
    Passages, a Curation, an Answer), ``usage`` the tokens by stage name, ``lines`` the trace lines of this stage.
    """

    stage: Stage
    iteration: int
    at: float
    seconds: float | None = None
    result: object = None
    usage: dict[str, TokenUsage] = field(default_factory=dict)
    lines: tuple[str, ...] = ()


Observer = Callable[[StageReport], None]
"""Called in the answering thread, before and after every stage. Raising CancelledError ends the question."""


class Journal:
    """Belongs to one question; roles write to it, and its prediction includes it."""

    def __init__(self, observer: Observer | None = None) -> None:
        self.lines: list[str] = []
        self.usage: dict[str, TokenUsage] = {}
        self.unusable: dict[str, int] = {}
        self._observer = observer

    def note(self, line: str) -> None:
        self.lines.append(line)

    def spend(self, stage: str, usage: TokenUsage) -> None:
        """Count one reply of a language model and its tokens."""
        self.usage[stage] = self.usage.get(stage, TokenUsage()) + replace(usage, calls=usage.calls or 1)

    def unusable_reply(self, stage: str, problem: str) -> None:
        """Count a reply of a language model that could not be used, and note the ``problem``."""
        self.unusable[stage] = self.unusable.get(stage, 0) + 1
        self.note(f"{stage}: unusable reply: {problem}")

    async def stage(self, stage: Stage, iteration: int, work: Callable[[], Awaitable[T]]) -> T:
        """Run ``work`` and report it to the observer."""
        if self._observer is None:
            return await work()
        at, started = time.time(), time.perf_counter()
        lines, before = len(self.lines), dict(self.usage)
        self._observer(StageReport(stage, iteration, at))
        result = await work()
        seconds = time.perf_counter() - started
        spent = {
            name: used - before.get(name, TokenUsage()) for name, used in self.usage.items() if used != before.get(name)
        }
        self._observer(StageReport(stage, iteration, at, seconds, result, spent, tuple(self.lines[lines:])))
        return result
