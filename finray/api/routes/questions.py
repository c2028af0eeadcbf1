"""POST /v1/answer and POST /v1/retrieve."""

from __future__ import annotations

import time
from typing import Annotated, Any

from fastapi import APIRouter, Header, Request
from starlette.responses import JSONResponse, Response

from finray.api.access import BEARER, AskRoute, Key, gate_of
from finray.api.envelope import context_of
from finray.api.requests import AnswerRequest, RetrieveRequest
from finray.api.routes import Behind, Limits, replies
from finray.api.service import Asked, Service
from finray.api.streaming import EventStream, while_connected

router = APIRouter(prefix="/v1", tags=["questions"], route_class=AskRoute, dependencies=[BEARER])
TraceParent = Annotated[str | None, Header(include_in_schema=False, max_length=128)]
_ERRORS = (401, 403, 408, 413, 422, 429, 503, 504)
_ANSWERED = replies("AnswerList", *_ERRORS)
_ANSWERED[200]["content"]["text/event-stream"] = {"schema": {"type": "string"}}
_ANSWERED[200]["description"] = (
    "Predictions in the order of the questions; or, with `Accept: text/event-stream`, the events started, stage, "
    "iteration, passage, answer, error and done as they happen (docs/serving.md)"
)


@router.post("/answer", summary="Answer one or several questions", responses=_ANSWERED, response_class=JSONResponse)
async def answer(
    request: Request, body: AnswerRequest, key: Key, service: Behind, limits: Limits, traceparent: TraceParent = None
) -> Response:
    """With `Accept: text/event-stream` the reply is server-sent events. Closing the connection ends the work."""
    stream = "text/event-stream" in request.headers.get("accept", "")
    asked = body.asked(limits, stream=stream, trace_parent=traceparent, request_id=context_of(request.scope).request_id)
    gate_of(request).limits.ask(key, len(asked.questions))
    if stream:
        return EventStream(service.answer(asked), limits.timeout_s)
    return JSONResponse(await while_connected(request, _answers(service, asked), limits.timeout_s))


@router.post("/retrieve", summary="Find filings and passages", responses=replies("Retrieval", *_ERRORS))
async def retrieve(
    request: Request,
    body: RetrieveRequest,
    key: Key,
    service: Behind,
    limits: Limits,
    traceparent: TraceParent = None,
) -> Response:
    """The first retrieval of the loop: how the question was understood, filings with reasons, passages, best first."""
    asked = body.asked(limits, trace_parent=traceparent, request_id=context_of(request.scope).request_id)
    gate_of(request).limits.ask(key, 1)
    return JSONResponse(await while_connected(request, service.retrieve(asked), limits.timeout_s))


async def _answers(service: Service, asked: Asked) -> dict[str, Any]:
    started, version = time.perf_counter(), ""
    by_qid: dict[str, Any] = {}
    async for event in service.answer(asked):
        if event.name == "answer":
            by_qid[event.data["qid"]] = event.data["prediction"]
            version = event.data["index_version"]
    return {
        "object": "list",
        "index_version": version,
        "seconds": time.perf_counter() - started,
        "data": [by_qid[question.qid] for question in asked.questions],
    }
