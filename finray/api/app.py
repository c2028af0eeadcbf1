"""The ASGI application."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

import finray
from finray.api.access import Gate
from finray.api.batches.batches import Batches
from finray.api.completions import Completions
from finray.api.envelope import Envelope, context_of
from finray.api.errors import ApiError, internal_error
from finray.api.events import event_components
from finray.api.keys import KeyRing
from finray.api.limits import KeyLimits
from finray.api.routes import batches as batch_routes
from finray.api.routes import chat, files, health, language_model, library, questions
from finray.api.service import LocalService, Service
from finray.api.telemetry import Telemetry
from finray.core.settings import ServingSettings

MetricsSource = Callable[[], Awaitable[str]]
WEB = Path(finray.__file__).parent / "web"
"""Static files of the web page, served at ``/`` if present."""

_DESCRIPTION = (
    "Answers to questions about SEC filings, each with the filing and page that it rests on. Pages count from 0. "
    "Every error has the shape of OpenAI's."
)
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; "
    "font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HTTP_ERRORS = {
    404: ("unknown_route", "there is nothing at this path"),
    405: ("method_not_allowed", "this path has other methods"),
}


class Endpoint(Protocol):
    """An ASGI application for one path beside the routes. It admits requests itself, with the gate that it gets."""

    path: str

    def running(self) -> AbstractAsyncContextManager[None]:
        """A context that is entered while the application runs."""
        ...

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None: ...


MakeEndpoint = Callable[[Service, ServingSettings, Gate], Endpoint]


def create_app(
    service: Service,
    settings: ServingSettings,
    keys: KeyRing | None,
    *,
    batches: Batches | None = None,
    telemetry: Telemetry | None = None,
    metrics: MetricsSource | None = None,
    echo_id: bool = True,
    endpoints: Sequence[MakeEndpoint] = (),
    completions: Completions | None = None,
) -> ASGIApp:
    """The ASGI application over ``service``. ``keys`` None disables API-key checks.

    ``batches`` are started and stopped with the application; without them their routes reply 503.
    ``metrics`` returns the text of ``/metrics``; ``endpoints`` make what is served beside the routes. Turn ``echo_id``
    off if a proxy adds X-Request-Id to replies. ``completions`` is the language model under ``/llm/v1``.
    """
    app = make_routes()
    app.state.telemetry = telemetry = telemetry or Telemetry()
    app.state.service, app.state.settings, app.state.metrics = service, settings, metrics
    app.state.batches, app.state.completions = batches, completions
    app.state.gate = gate = Gate(keys, KeyLimits(settings))
    app.state.endpoints = [make(service, settings, gate) for make in endpoints]
    for endpoint in app.state.endpoints:
        app.router.routes.insert(0, Route(endpoint.path, endpoint, include_in_schema=False))
    return Envelope(app, telemetry=telemetry, echo_id=echo_id)


def make_routes() -> FastAPI:
    """The routes, error handlers and OpenAPI description, without a service."""
    app = FastAPI(
        title="finray",
        version="1",
        description=_DESCRIPTION,
        lifespan=_lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url="/v1/openapi.json",
        redirect_slashes=False,
        generate_unique_id_function=lambda route: route.name,
    )
    batch_routers = (files.uploads, files.router, batch_routes.writes, batch_routes.router)
    chat_routers = (chat.chat, chat.models, language_model.chat, language_model.models)
    for router in (questions.router, *chat_routers, library.router, *batch_routers, *health.routers()):
        app.include_router(router)
    for kind in (ApiError, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(kind, _on_error)
    if WEB.is_dir():
        app.mount("/", _Web(directory=WEB, html=True), name="web")
    app.openapi = lambda: openapi(app)  # type: ignore[method-assign]
    return app


def openapi(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI description, including the schemas of events."""
    if app.openapi_schema is None:
        schema = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
        components = schema.setdefault("components", {}).setdefault("schemas", {})
        components.update(event_components())
        for unused in ("HTTPValidationError", "ValidationError"):
            components.pop(unused, None)
        app.openapi_schema = schema
    return app.openapi_schema


class _Web(StaticFiles):
    """The web page. Its content security policy allows only its own scripts and requests to this service."""

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        response = super().file_response(*args, **kwargs)
        response.headers["content-security-policy"] = _POLICY
        response.headers["cache-control"] = "no-cache"
        return response


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    service, batches = app.state.service, app.state.batches
    async with AsyncExitStack() as stack:
        if isinstance(service, LocalService):
            await service.start()
            stack.push_async_callback(service.stop)
        if batches is not None:
            await batches.start()
            stack.push_async_callback(batches.stop)
        for endpoint in app.state.endpoints:
            await stack.enter_async_context(endpoint.running())
        yield


async def _on_error(request: Request, error: Exception) -> Response:
    """The reply to a failed request. After an unexpected error, Starlette raises it again, and the envelope logs it."""
    found = _api_error(error)
    context_of(request.scope).error = found.code
    if found.status == 429:
        request.app.state.telemetry.refused(found.code)
    response = found.response()
    if isinstance(error, HTTPException):
        response.headers.update(error.headers or {})
    return response


def _api_error(error: Exception) -> ApiError:
    match error:
        case ApiError():
            return error
        case RequestValidationError():
            return _invalid(error)
        case HTTPException(status_code=status, detail=detail):
            code, message = _HTTP_ERRORS.get(status, ("http_error", str(detail)[:200]))
            return ApiError(status, code, message)
    return internal_error()


def _invalid(error: RequestValidationError) -> ApiError:
    """The first validation error without the input, which may be long or hostile."""
    first = error.errors()[0]
    if first["type"] == "json_invalid":
        return ApiError(422, "invalid_request", "the body is not JSON")
    place = [str(part) for part in first["loc"] if part not in ("body", "query", "path", "header")]
    param = ".".join(place)[:200] or None
    return ApiError(422, "invalid_request", f"{param or 'the request'}: {first['msg']}", param=param)


def openapi_text() -> str:
    """The content of docs/openapi.json."""
    return json.dumps(openapi(make_routes()), indent=1, ensure_ascii=False) + "\n"
