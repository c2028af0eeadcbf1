"""The routes of the HTTP service, version 1."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Request

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


Behind = Annotated[Service, Depends(service_of)]
Limits = Annotated[ServingSettings, Depends(limits_of)]


def errors(*statuses: int) -> Reply:
    """The errors that a route may reply besides 400 and 500, for the OpenAPI file."""
    return {status: {"model": ErrorReply, "description": _MEANING[status]} for status in (400, *statuses, 500)}


_MEANING = {
    400: "The request is malformed",
    401: "No key, or not a valid one",
    403: "Keys are off and the request comes from another machine",
    404: "There is no such filing or page",
    408: "The body did not arrive in time",
    413: "The body is too large",
    422: "A field is wrong; `param` names it",
    429: "Too much at once; wait for Retry-After seconds",
    500: "A bug; the log has the request id",
    503: "Not ready, or a model cannot be reached",
    504: "Not done in time",
}
