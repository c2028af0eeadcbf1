"""Interface to metrics and tracing. The classes here record nothing; Ray's metrics and OpenTelemetry's spans do."""

from __future__ import annotations

from collections.abc import Mapping

from finray.core.journal import StageReport
from finray.core.predictions import TokenUsage


class QuestionTelemetry:
    """Telemetry of one question, called on the event loop of the service."""

    def stage(self, report: StageReport) -> None:
        """A stage began or ended."""

    def end(self, outcome: str, usage: Mapping[str, TokenUsage]) -> None:
        """``outcome`` is the prediction's status, "retrieved", "error" or "cancelled"."""


class Telemetry:
    """Telemetry of the service."""

    def question(self, trace_parent: str | None, operation: str) -> QuestionTelemetry:
        """``operation`` is "answer" or "retrieve"; ``trace_parent`` the W3C traceparent of the caller."""
        return QuestionTelemetry()

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """A request ended."""

    def refused(self, reason: str) -> None:
        """Count a reply with status 429; ``reason`` is the error's code."""

    def under_way(self, change: int) -> None:
        """A request began (1) or ended (-1)."""
