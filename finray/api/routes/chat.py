"""POST /v1/chat/completions and GET /v1/models, as OpenAI's clients call them."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Path, Request
from starlette.responses import Response

from finray.api.access import BEARER, AskRoute, Key, ReadRoute, gate_of
from finray.api.chat_messages import chat_message, chat_usage, verdict
from finray.api.chat_requests import ChatRequest
from finray.api.chat_stream import Completion, Said, Write, failed
from finray.api.envelope import context_of
from finray.api.errors import no_model
from finray.api.open_index import OpenIndex
from finray.api.routes import Behind, Limits, Reply, errors
from finray.api.routes.questions import TraceParent
from finray.api.service import Asked, Service, check_answered, one_answer
from finray.api.streaming import byte_stream, while_connected
from finray.api.task_prompts import task_reply
from finray.core.chat_replies import CHAT_MODEL, ChatCompletion, ChatMessage, ModelCard, ModelList
from finray.core.predictions import Prediction
from finray.core.replies import AnswerEvent

chat = APIRouter(prefix="/v1/chat", tags=["chat"], route_class=AskRoute, dependencies=[BEARER])
models = APIRouter(prefix="/v1/models", tags=["chat"], route_class=ReadRoute, dependencies=[BEARER])
_ERRORS = errors(401, 403, 404, 408, 413, 422, 429, 503, 504)
_COMPLETED: Reply = {
    200: {
        "description": "A completion; or, with `stream`, its chunks as server-sent events that end with `[DONE]`",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    }
}


@chat.post("/completions", summary="Chat", responses=_COMPLETED | _ERRORS, response_model=ChatCompletion)
async def chat_completions(
    request: Request, body: ChatRequest, key: Key, service: Behind, limits: Limits, traceparent: TraceParent = None
) -> Response | ChatCompletion:
    """Answers the last user message from the index, after the earlier ones, with citations in the text and in
    `annotations`. OpenAI's clients work with this; parameters of language models are ignored."""
    if body.model != CHAT_MODEL:
        raise no_model(body.model, CHAT_MODEL)
    completion = Completion(context_of(request.scope).request_id)
    usage = body.stream_options is not None and body.stream_options.include_usage
    if (reply := task_reply(body.prompt)) is not None:
        said = Said(ChatMessage(reply))
        if not body.stream:
            return completion.whole(said)
        return await byte_stream(request, completion.said_at_once(said, include_usage=usage), limits.timeout_s, failed)
    question = body.question(limits)
    gate_of(request).limits.ask(key, 1)
    asked = Asked((question,), body.filters.narrowed(), bool(body.stream), False, traceparent, completion.request_id)
    write = partial(_said, service, key, str(request.base_url))
    if body.stream:
        chunks = completion.stream(service.answer(asked), write, include_usage=usage)
        return await byte_stream(request, chunks, limits.timeout_s, failed)
    said = await while_connected(request, _whole(service, asked, write), limits.timeout_s)
    return completion.whole(said)


@models.get("", summary="List models", responses=errors(401, 403, 429))
async def list_models() -> ModelList:
    """One model: answers from this service's index."""
    return ModelList((ModelCard(),))


@models.get("/{model}", summary="One model", responses=errors(401, 403, 404, 429))
async def get_model(model: Annotated[str, Path(max_length=200)]) -> ModelCard:
    if model != CHAT_MODEL:
        raise no_model(model, CHAT_MODEL)
    return ModelCard()


async def _whole(service: Service, asked: Asked, write: Write) -> Said:
    return await write(await one_answer(service, asked))


async def _said(service: Service, key: str, address: str, event: AnswerEvent) -> Said:
    prediction = event.prediction
    check_answered(prediction)
    message = await service.read(key, _message, prediction, address)
    return Said(message, chat_usage(prediction), verdict(prediction), event.index_version)


def _message(index: OpenIndex, prediction: Prediction, address: str) -> ChatMessage:
    return chat_message(prediction, index.filings, address)
