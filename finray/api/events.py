"""Server-sent events: progress of a question, and their OpenAPI schemas."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

from pydantic import TypeAdapter

from finray.core.journal import StageReport
from finray.core.query import Query
from finray.core.records import adapter, to_json
from finray.core.replies import EVENTS, IterationEvent, PassageEvent, QuerySummary, ServiceEvent, StageEvent
from finray.core.roles import Curation
from finray.retrieval.flat import WholeIndex

_REFERENCE = "#/components/schemas/{model}"


def encode_event(event: ServiceEvent) -> bytes:
    """In the wire format of server-sent events (WHATWG HTML, section 9.2)."""
    return b"event: %s\ndata: %s\n\n" % (event.name.encode(), to_json(event))


def events_of(qid: str, report: StageReport) -> Iterator[ServiceEvent]:
    """The events for one report: the stage and, after curation, its decision and the passages it kept."""
    if report.seconds is None:
        yield StageEvent(qid, report.stage, report.iteration, "started")
        return
    yield StageEvent(
        qid,
        report.stage,
        report.iteration,
        "finished",
        seconds=report.seconds,
        usage=report.usage,
        trace=report.lines,
        **_result(report),
    )
    if isinstance(report.result, Curation):
        curation = report.result
        yield IterationEvent(
            qid,
            report.iteration,
            answerable=curation.answerable,
            kept=len(curation.kept),
            missing=curation.missing,
            complementary=curation.complementary,
        )
        for passage in curation.kept:
            yield PassageEvent(qid, report.iteration, passage)


def event_schema() -> dict[str, Any]:
    """The OpenAPI schema of one event of a stream."""
    kinds = [
        {"event": {"const": name}, "data": {"contentSchema": {"$ref": _REFERENCE.format(model=kind.__name__)}}}
        for name, kind in EVENTS.items()
    ]
    return {"oneOf": [{"type": "object", "properties": kind, "required": ["event", "data"]} for kind in kinds]}


def event_components() -> dict[str, Any]:
    """The schemas that ``event_schema`` refers to, by name."""
    mode: Literal["serialization"] = "serialization"
    kinds = [(name, mode, adapter(kind)) for name, kind in EVENTS.items()]
    schemas: dict[str, Any] = TypeAdapter.json_schemas(kinds, ref_template=_REFERENCE)[1]["$defs"]
    return schemas


def query_summary(query: Query) -> QuerySummary:
    return QuerySummary(
        text=query.text,
        companies=query.names or query.companies,
        unknown_companies=query.unknown_companies,
        periods=tuple(str(period) for period in query.periods),
        forms=query.forms,
        metrics=query.metrics,
        statements=query.statements,
    )


def _result(report: StageReport) -> dict[str, Any]:
    result = report.result
    if isinstance(result, Query):
        return {"query": query_summary(result)}
    if report.stage == "documents" and isinstance(result, Sequence):
        # A flat method selects no documents; the event does not list the whole index.
        return {"documents": () if isinstance(result, WholeIndex) else tuple(document.ref for document in result)}
    if report.stage == "passages" and isinstance(result, Sequence):
        return {"passages": tuple(result)}
    return {}
