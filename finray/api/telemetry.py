"""Interface to metrics and tracing. Ray's metrics and OpenTelemetry's spans implement it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from finray.core.journal import StageReport
from finray.core.types import TokenUsage


class QuestionTelemetry(Protocol):
    """Telemetry of one question, called on the event loop of the service."""

    def stage(self, report: StageReport) -> None: ...

    def end(self, outcome: str, usage: Mapping[str, TokenUsage]) -> None:
        """``outcome`` is the prediction's status, "retrieved" or "cancelled"."""
        ...


class Telemetry(Protocol):
    def question(self, trace_parent: str | None, operation: str) -> QuestionTelemetry:
        """``operation`` is "answer" or "retrieve"."""
        ...

    def request(self, method: str, route: str, status: int, seconds: float) -> None: ...

    def refused(self, reason: str) -> None:
        """Count a reply with status 429; ``reason`` is the error's code."""
        ...

    def under_way(self, change: int) -> None:
        """A request began (1) or ended (-1)."""
        ...


class NoQuestion:
    def stage(self, report: StageReport) -> None:
        return None

    def end(self, outcome: str, usage: Mapping[str, TokenUsage]) -> None:
        return None


class NoTelemetry:
    """Records nothing."""

    def question(self, trace_parent: str | None, operation: str) -> QuestionTelemetry:
        return NoQuestion()

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        return None

    def refused(self, reason: str) -> None:
        return None

    def under_way(self, change: int) -> None:
        return None
