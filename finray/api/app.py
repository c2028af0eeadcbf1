"""The ASGI application."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp

import finray
from finray.api.access import Gate
from finray.api.envelope import Envelope
from finray.api.errors import INTERNAL, ApiError, error_body
from finray.api.events import event_components
from finray.api.keys import KeyRing
from finray.api.limits import KeyLimits
from finray.api.routes import health, library, questions
from finray.api.service import LocalService, Service
from finray.api.telemetry import NoTelemetry, Telemetry
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


def create_app(
    service: Service,
    settings: ServingSettings,
    keys: KeyRing | None,
    *,
    telemetry: Telemetry | None = None,
    metrics: MetricsSource | None = None,
    echo_id: bool = True,
) -> ASGIApp:
    """The ASGI application over ``service``. ``keys`` None disables API-key checks.

    ``metrics`` returns the text of ``/metrics``. Turn ``echo_id`` off if a proxy adds X-Request-Id to replies.
    """
    app = make_routes()
    app.state.telemetry = telemetry = telemetry or NoTelemetry()
    app.state.service, app.state.settings, app.state.metrics = service, settings, metrics
    app.state.gate = Gate(keys, KeyLimits(settings))
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
    for router in (questions.router, library.router, *health.routers()):
        app.include_router(router)
    app.add_exception_handler(ApiError, _on_api_error)
    app.add_exception_handler(RequestValidationError, _on_invalid)
    app.add_exception_handler(HTTPException, _on_http_error)
    app.add_exception_handler(Exception, _on_unexpected)
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
    service = app.state.service
    if isinstance(service, LocalService):
        await service.start()
    yield
    if isinstance(service, LocalService):
        await service.stop()


async def _on_api_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, ApiError)
    request.scope["state"]["finray"].error = error.code
    if error.status == 429:
        request.app.state.telemetry.refused(error.code)
    return JSONResponse(error.body(), error.status, error.headers)


async def _on_invalid(request: Request, error: Exception) -> Response:
    """Report the first validation error without echoing the input, which may be long or hostile."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    place = [str(part) for part in first["loc"] if part not in ("body", "query", "path", "header")]
    param = ".".join(place)[:200] or None
    if first["type"] == "json_invalid":
        param, message = None, "the body is not JSON"
    else:
        message = f"{param or 'the request'}: {first['msg']}"
    request.scope["state"]["finray"].error = "invalid_request"
    return JSONResponse(error_body(422, "invalid_request", message, param), 422)


async def _on_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    request.scope["state"]["finray"].error = str(error.status_code)
    code = {404: "unknown_route", 405: "method_not_allowed"}.get(error.status_code, "http_error")
    message = {404: "there is nothing at this path", 405: "this path has other methods"}.get(
        error.status_code, str(error.detail)[:200]
    )
    headers = dict(error.headers or {})
    return JSONResponse(error_body(error.status_code, code, message), error.status_code, headers)


async def _on_unexpected(_request: Request, _error: Exception) -> Response:
    """Reply without details. Starlette raises the error again, and the envelope logs it."""
    return JSONResponse(error_body(500, "internal_error", INTERNAL), 500)


def openapi_text() -> str:
    """The content of docs/openapi.json."""
    return json.dumps(openapi(make_routes()), indent=1, ensure_ascii=False) + "\n"
