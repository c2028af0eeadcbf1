"""Server-sent events: what a client sees of a question while it is worked on."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from finray.batch.predictions import document_record, passage_record
from finray.core.journal import StageReport
from finray.core.query import Query
from finray.core.roles import Curation
from finray.retrieval.flat import WholeIndex


@dataclass(frozen=True, slots=True)
class Event:
    """``name`` is one of started, stage, iteration, passage, answer, error, done; ``data`` is JSON."""

    name: str
    data: dict[str, Any]

    def encode(self) -> bytes:
        """In the wire format of server-sent events (WHATWG HTML, section 9.2)."""
        return f"event: {self.name}\ndata: {json.dumps(self.data, ensure_ascii=False)}\n\n".encode("utf-8", "replace")


KEEP_ALIVE = b": still at work\n\n"


def events_of(qid: str, report: StageReport) -> Iterator[Event]:
    """The events that one report becomes: the stage itself, and what its curation kept."""
    data: dict[str, Any] = {"qid": qid, "stage": report.stage, "iteration": report.iteration}
    if report.seconds is None:
        yield Event("stage", data | {"state": "started"})
        return
    usage = {name: asdict(tokens) for name, tokens in report.usage.items()}
    yield Event(
        "stage",
        data
        | {"state": "finished", "seconds": report.seconds, "usage": usage, "trace": list(report.lines)}
        | _result(report),
    )
    if isinstance(report.result, Curation):
        curation = report.result
        place = {"qid": qid, "iteration": report.iteration}
        yield Event(
            "iteration",
            place
            | {
                "answerable": curation.answerable,
                "kept": len(curation.kept),
                "missing": list(curation.missing),
                "complementary": curation.complementary,
            },
        )
        for passage in curation.kept:
            yield Event("passage", place | {"passage": passage_record(passage)})


def query_record(query: Query) -> dict[str, Any]:
    """How the question was understood."""
    return {
        "text": query.text,
        "companies": list(query.names or query.companies),
        "unknown_companies": list(query.unknown_companies),
        "periods": [str(period) for period in query.periods],
        "forms": list(query.forms),
        "metrics": list(query.metrics),
        "statements": list(query.statements),
    }


def _result(report: StageReport) -> dict[str, Any]:
    result = report.result
    if isinstance(result, Query):
        return {"query": query_record(result)}
    if report.stage == "documents" and isinstance(result, Sequence):
        # A flat method chooses none: to list the whole index would say nothing.
        return {"documents": [] if isinstance(result, WholeIndex) else [document_record(d) for d in result]}
    if report.stage == "passages" and isinstance(result, Sequence):
        return {"passages": [passage_record(p) for p in result]}
    return {}
