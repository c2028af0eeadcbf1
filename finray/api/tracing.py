"""OpenTelemetry spans: one for a question, one for each stage of the loop.

Names and attributes follow the GenAI semantic conventions (``gen_ai.*``, Development status) and OpenInference
(``openinference.span.kind``, ``retrieval.documents``), which dashboards for retrieval read. As the conventions require,
questions and answers are recorded only if ``OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT`` is true.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from finray.api.telemetry import QuestionTelemetry
from finray.core.errors import SettingsError
from finray.core.journal import StageReport
from finray.core.passages import Document, Passage
from finray.core.predictions import Answer, TokenUsage
from finray.core.query import Query

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_KIND = "openinference.span.kind"
_STAGES = {
    "transform": ("CHAIN", "transform"),
    "documents": ("RETRIEVER", "retrieval documents"),
    "passages": ("RETRIEVER", "retrieval passages"),
    "curate": ("RERANKER", "curate"),
    "answer": ("CHAIN", "answer"),
}
_MAX_DOCUMENTS = 20


class Tracing:
    """Creates the spans of questions; none without a tracer."""

    def __init__(self, tracer: Tracer | None = None, *, content: bool = False) -> None:
        self._tracer, self._content = tracer, content

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> Tracing:
        """Send spans to the OTLP endpoint in the environment, if any.

        Raises SettingsError if an endpoint is set but the exporter package is not installed.
        """
        given = os.environ if environment is None else environment
        if not any(given.get(name) for name in _ENDPOINTS):
            return cls()
        try:
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        except ImportError as error:
            raise SettingsError(
                "an OTLP endpoint is set, but opentelemetry-exporter-otlp-proto-http is not installed "
                "(pip install 'finray[otel]'); install it or unset the endpoint"
            ) from error
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        name = given.get("OTEL_SERVICE_NAME", "finray")
        provider = TracerProvider(resource=Resource.create({"service.name": name}))
        provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        return cls(provider.get_tracer("finray"), content=given.get(_CONTENT, "").lower() == "true")

    def question(self, trace_parent: str | None, operation: str) -> QuestionTelemetry:
        """See :meth:`finray.api.telemetry.Telemetry.question`."""
        if self._tracer is None:
            return QuestionTelemetry()
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        carrier = {"traceparent": trace_parent} if trace_parent else {}
        parent = TraceContextTextMapPropagator().extract(carrier)
        span = self._tracer.start_span(f"{operation} finray", context=parent)
        span.set_attributes({_KIND: "CHAIN", "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "finray"})
        return _QuestionSpans(self._tracer, span, content=self._content)


class _QuestionSpans(QuestionTelemetry):
    def __init__(self, tracer: Tracer, span: Span, *, content: bool) -> None:
        from opentelemetry.trace import set_span_in_context

        self._tracer, self._span, self._content = tracer, span, content
        self._context = set_span_in_context(span)

    def stage(self, report: StageReport) -> None:
        if report.seconds is None:
            return
        kind, name = _STAGES[report.stage]
        started = int(report.at * 1e9)
        span = self._tracer.start_span(name, context=self._context, start_time=started)
        attributes: dict[str, Any] = {_KIND: kind, "finray.stage": report.stage, "finray.iteration": report.iteration}
        if kind == "RETRIEVER":
            attributes |= {"gen_ai.operation.name": "retrieval", "gen_ai.data_source.id": report.stage}
        elif report.usage:
            attributes |= {_KIND: "LLM", "gen_ai.operation.name": "chat"}
        span.set_attributes(attributes | _tokens(report.usage) | dict(_result(report.result, content=self._content)))
        span.end(started + int(report.seconds * 1e9))

    def end(self, outcome: str, usage: Mapping[str, TokenUsage]) -> None:
        from opentelemetry.trace import Status, StatusCode

        self._span.set_attributes({"finray.outcome": outcome} | _tokens(usage))
        if outcome == "error":
            self._span.set_status(Status(StatusCode.ERROR))
        self._span.end()


def _tokens(usage: Mapping[str, TokenUsage]) -> dict[str, Any]:
    if not usage:
        return {}
    return {
        "gen_ai.usage.input_tokens": sum(tokens.prompt_tokens for tokens in usage.values()),
        "gen_ai.usage.output_tokens": sum(tokens.completion_tokens for tokens in usage.values()),
    }


def _result(result: object, *, content: bool) -> Iterator[tuple[str, Any]]:
    if isinstance(result, Query):
        yield "finray.query.periods", [str(period) for period in result.periods]
        if content:
            yield "input.value", result.question
    elif isinstance(result, Answer):
        yield "finray.status", result.status
        if content:
            yield "output.value", result.text
    elif isinstance(result, Sequence):
        for number, found in enumerate(result[:_MAX_DOCUMENTS]):
            place = f"retrieval.documents.{number}.document"
            if isinstance(found, Document):
                yield f"{place}.id", found.filing.filing_id
                yield f"{place}.score", float(found.score)
            elif isinstance(found, Passage):
                yield f"{place}.id", f"{found.filing_id}/{found.page}/{found.start}"
                yield f"{place}.score", float(found.score)
                if content:
                    yield f"{place}.content", found.text
