"""The routes of the HTTP service, version 1."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Request

from finray.api.batches.batches import Batches
from finray.api.errors import ApiError
from finray.api.service import Service
from finray.core.replies import ErrorReply
from finray.core.settings import ServingSettings

Reply = dict[int | str, dict[str, Any]]


async def service_of(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


async def limits_of(request: Request) -> ServingSettings:
    limits: ServingSettings = request.app.state.settings
    return limits


async def batches_of(request: Request) -> Batches:
    """Raises ApiError 503 if this service keeps no batches."""
    batches: Batches | None = request.app.state.batches
    if batches is None:
        raise ApiError(503, "no_batches", "this service keeps no batches")
    return batches


Behind = Annotated[Service, Depends(service_of)]
Limits = Annotated[ServingSettings, Depends(limits_of)]
BatchesOf = Annotated[Batches, Depends(batches_of)]


def errors(*statuses: int) -> Reply:
    """Error replies of a route for the OpenAPI file: 400, ``statuses`` and 500."""
    return {status: {"model": ErrorReply, "description": _MEANING[status]} for status in (400, *statuses, 500)}


def binary(media_type: str, description: str) -> Reply:
    """The successful reply of a route that sends bytes, for the OpenAPI file."""
    content = {media_type: {"schema": {"type": "string", "format": "binary"}}}
    return {200: {"content": content, "description": description}}


_MEANING = {
    400: "The request is malformed",
    401: "The key is missing or invalid",
    403: "API-key checks are off and the request comes from another machine",
    404: "No such filing, page, file, batch or answer",
    408: "The body did not arrive in time",
    409: "Not possible in the present state",
    413: "The body is too large",
    422: "A field is invalid; `param` names it",
    429: "A limit is reached; wait for Retry-After seconds",
    500: "A bug; the log has the request id",
    503: "Not ready, or a model cannot be reached",
    504: "The time limit was reached",
}
