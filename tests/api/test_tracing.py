from __future__ import annotations

import asyncio
import gzip
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult

from finray.api.tracing import Tracing
from finray.core.errors import SettingsError
from finray.core.predictions import TokenUsage
from finray.core.questions import Question
from finray.engine import Engine

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
ASKED = "What was the total revenue of CLDVC in FY2022?"


class Collector:
    """The requests that an OTLP collector received over HTTP."""

    def __init__(self, url: str, received: list[ExportTraceServiceRequest]) -> None:
        self.url, self._received = url, received

    def names(self) -> list[str]:
        scopes = [
            scope for request in self._received for spans in request.resource_spans for scope in spans.scope_spans
        ]
        return [span.name for scope in scopes for span in scope.spans]

    def services(self) -> set[str]:
        resources = [spans.resource for request in self._received for spans in request.resource_spans]
        return {
            pair.value.string_value
            for resource in resources
            for pair in resource.attributes
            if pair.key == "service.name"
        }


@pytest.fixture
def collector() -> Iterator[Collector]:
    received: list[ExportTraceServiceRequest] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            assert self.path == "/v1/traces"
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            received.append(ExportTraceServiceRequest.FromString(body))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield Collector(f"http://127.0.0.1:{server.server_port}", received)
    server.shutdown()
    server.server_close()


class Kept(SpanExporter):
    def __init__(self) -> None:
        self.spans: list[ReadableSpan] = []

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self.spans += spans
        return SpanExportResult.SUCCESS


async def spans_of(engine: Engine, *, content: bool = False) -> list[ReadableSpan]:
    kept, provider = Kept(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    question = Tracing(provider.get_tracer("test"), content=content).question(PARENT, "answer")
    prediction = await engine.answer(Question("1", ASKED), question.stage)
    question.end(prediction.status, {"answer": TokenUsage(7, 2)})
    return kept.spans


async def test_every_stage_is_a_span_below_the_question_of_the_callers_trace(engine: Engine) -> None:
    *stages, root = await spans_of(engine)
    assert root.name == "answer finray"
    assert {format(span.context.trace_id, "032x") for span in (*stages, root)} == {PARENT.split("-")[1]}
    assert root.parent is not None
    assert format(root.parent.span_id, "016x") == PARENT.split("-")[2]
    assert {span.parent.span_id for span in stages if span.parent} == {root.context.span_id}
    names = ["transform", "retrieval documents", "retrieval passages", "curate", "answer"]
    assert [span.name for span in stages] == names
    times: list[Any] = [(span.start_time, span.end_time) for span in stages]
    assert all(start <= end for start, end in times)


async def test_spans_arrive_at_a_collector(
    engine: Engine, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "50")
    monkeypatch.setenv("OTEL_SERVICE_NAME", "answers")
    question = Tracing.from_environment().question(PARENT, "answer")
    prediction = await engine.answer(Question("1", ASKED), question.stage)
    question.end(prediction.status, {})
    deadline = time.monotonic() + 20
    while "answer finray" not in collector.names() and time.monotonic() < deadline:
        await asyncio.sleep(0.05)
    assert sorted(collector.names())[:2] == ["answer", "answer finray"]
    assert len(collector.names()) == 6
    assert collector.services() == {"answers"}


async def test_spans_have_the_names_that_dashboards_read_and_no_text_unless_asked(engine: Engine) -> None:
    *stages, root = await spans_of(engine)
    attributes: list[dict[str, Any]] = [dict(span.attributes or {}) for span in stages]
    kinds = [found["openinference.span.kind"] for found in attributes]
    assert kinds == ["CHAIN", "RETRIEVER", "RETRIEVER", "RERANKER", "CHAIN"]
    assert attributes[1]["gen_ai.operation.name"] == "retrieval"
    assert attributes[2]["retrieval.documents.0.document.id"]
    assert dict(root.attributes or {})["gen_ai.usage.input_tokens"] == 7
    assert ASKED not in str(attributes)
    with_text = str([dict(span.attributes or {}) for span in await spans_of(engine, content=True)])
    assert ASKED in with_text


def test_without_an_endpoint_nothing_is_sent_and_nothing_imported() -> None:
    question = Tracing.from_environment({}).question(PARENT, "answer")
    question.end("answered", {})


def test_an_endpoint_without_the_exporter_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    with pytest.raises(SettingsError, match="otel"):
        Tracing.from_environment({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"})
