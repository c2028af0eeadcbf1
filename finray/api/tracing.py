"""OpenTelemetry spans: one for a question, one for each stage of the loop."""

from __future__ import annotations

from collections.abc import Mapping

from finray.api.telemetry import QuestionTelemetry
from finray.journal import StageReport
from finray.types import TokenUsage


class _NoSpans:
    def stage(self, report: StageReport) -> None:
        return None

    def end(self, outcome: str, usage: Mapping[str, TokenUsage]) -> None:
        return None


def question_spans(trace_parent: str | None, operation: str) -> QuestionTelemetry:
    """Spans of one question."""
    return _NoSpans()
