"""POST /v1/answer and POST /v1/retrieve."""

from __future__ import annotations

import time
from typing import Annotated

from fastapi import APIRouter, Header, Request
from starlette.responses import Response

from finray.api.access import BEARER, AskRoute, Key, gate_of
from finray.api.envelope import context_of
from finray.api.events import event_schema
from finray.api.requests import AnswerRequest, RetrieveRequest
from finray.api.routes import Behind, Limits, Reply, errors
from finray.api.service import Asked, Service
from finray.api.streaming import event_stream, while_connected
from finray.core.predictions import Prediction
from finray.core.replies import AnswerEvent, AnswerList, Retrieved

router = APIRouter(prefix="/v1", tags=["questions"], route_class=AskRoute, dependencies=[BEARER])
TraceParent = Annotated[str | None, Header(include_in_schema=False, max_length=128)]
_ERRORS = errors(401, 403, 408, 413, 422, 429, 503, 504)
_ANSWERED: Reply = {
    200: {
        "description": "Predictions; or, with `Accept: text/event-stream`, events as they happen",
        "content": {"text/event-stream": {"itemSchema": event_schema()}},
    }
}


@router.post("/answer", summary="Answer questions", responses=_ANSWERED | _ERRORS, response_model=AnswerList)
async def answer(
    request: Request, body: AnswerRequest, key: Key, service: Behind, limits: Limits, traceparent: TraceParent = None
) -> Response | AnswerList:
    """With `Accept: text/event-stream`, the reply is server-sent events. Closing the connection ends the work."""
    stream = "text/event-stream" in request.headers.get("accept", "")
    asked = body.asked(limits, stream=stream, trace_parent=traceparent, request_id=context_of(request.scope).request_id)
    gate_of(request).limits.ask(key, len(asked.questions))
    if stream:
        return await event_stream(request, service.answer(asked), limits.timeout_s)
    return await while_connected(request, _answers(service, asked), limits.timeout_s)


@router.post("/retrieve", summary="Find filings and passages", responses=_ERRORS)
async def retrieve(
    request: Request,
    body: RetrieveRequest,
    key: Key,
    service: Behind,
    limits: Limits,
    traceparent: TraceParent = None,
) -> Retrieved:
    """The first retrieval of the loop: the query that was read, filings with reasons, and passages, best first."""
    asked = body.asked(limits, trace_parent=traceparent, request_id=context_of(request.scope).request_id)
    gate_of(request).limits.ask(key, 1)
    return await while_connected(request, service.retrieve(asked), limits.timeout_s)


async def _answers(service: Service, asked: Asked) -> AnswerList:
    started, version = time.perf_counter(), ""
    by_qid: dict[str, Prediction] = {}
    async for event in service.answer(asked):
        if isinstance(event, AnswerEvent):
            by_qid[event.qid], version = event.prediction, event.index_version
    predictions = tuple(by_qid[question.qid] for question in asked.questions)
    return AnswerList(version, time.perf_counter() - started, predictions)
