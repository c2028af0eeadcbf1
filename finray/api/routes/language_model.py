"""The language model of this service for other programs, under /llm/v1."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Request
from starlette.responses import JSONResponse, Response

from finray.api.access import BEARER, AskRoute, Key, ReadRoute, gate_of
from finray.api.chat_stream import failed
from finray.api.completions import CompletionRequest, Completions
from finray.api.errors import ApiError, no_model
from finray.api.routes import Limits, Reply, errors
from finray.api.streaming import byte_stream, while_connected
from finray.core.chat_replies import ModelCard, ModelList

PREFIX = "/llm/v1"
chat = APIRouter(prefix=f"{PREFIX}/chat", tags=["language model"], route_class=AskRoute, dependencies=[BEARER])
models = APIRouter(prefix=f"{PREFIX}/models", tags=["language model"], route_class=ReadRoute, dependencies=[BEARER])
_COMPLETED: Reply = {
    200: {
        "description": "A completion; or, with `stream`, its chunks as server-sent events that end with `[DONE]`",
        "content": {
            "application/json": {"schema": {"type": "object"}},
            "text/event-stream": {"schema": {"type": "string"}},
        },
    }
}


async def completions_of(request: Request) -> Completions:
    """Raises ApiError 404 if this service shares no language model."""
    model: Completions | None = request.app.state.completions
    if model is None:
        raise ApiError(404, "no_language_model", "this service shares no language model")
    return model


Model = Annotated[Completions, Depends(completions_of)]


@chat.post(
    "/completions",
    summary="Ask the language model",
    responses=_COMPLETED | errors(401, 403, 404, 408, 413, 422, 429, 503, 504),
    response_model=None,
)
async def llm_completions(
    request: Request, body: CompletionRequest, key: Key, model: Model, limits: Limits
) -> Response:
    """A completion by the language model itself, without the index: the one that reads questions and curates. The body
    is OpenAI's; text only, and `response_format` is enforced. A request counts as a question."""
    if body.model != model.model:
        raise no_model(body.model, model.model)
    asked = body.body()
    gate_of(request).limits.ask(key, 1)
    if body.stream:
        return await byte_stream(request, model.stream(asked), limits.timeout_s, failed)
    completion: dict[str, Any] = await while_connected(request, model.complete(asked), limits.timeout_s)
    return JSONResponse(completion)


@models.get("", summary="The language model", responses=errors(401, 403, 404, 429))
async def llm_models(model: Model) -> ModelList:
    """The one model behind these routes."""
    return ModelList((ModelCard(model.model),))


@models.get("/{name:path}", summary="The language model by name", responses=errors(401, 403, 404, 429))
async def llm_model(name: Annotated[str, Path(max_length=200)], model: Model) -> ModelCard:
    if name != model.model:
        raise no_model(name, model.model)
    return ModelCard(model.model)
