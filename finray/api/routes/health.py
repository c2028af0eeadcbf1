"""Liveness, readiness and metrics."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import PlainTextResponse, Response

from finray.api.access import BEARER, ReadRoute
from finray.api.errors import ApiError
from finray.api.routes import Behind, Reply, errors
from finray.core.replies import Health, Ready

_METRICS: Reply = errors(401, 403, 429, 503) | {
    200: {"content": {"text/plain": {"schema": {"type": "string"}}}, "description": "Prometheus text format"}
}


def routers() -> tuple[APIRouter, ...]:
    """The same routes under ``/v1`` and, for probes that expect no version, at the root."""
    first, root = APIRouter(prefix="/v1", tags=["health"]), APIRouter()
    for router, shown in ((first, True), (root, False)):
        router.get("/healthz", summary="Alive", responses=errors(), include_in_schema=shown)(healthz)
        router.get("/readyz", summary="Able to answer", responses=errors(503), include_in_schema=shown)(readyz)
        router.add_api_route(
            "/metrics",
            metrics,
            summary="Metrics",
            responses=_METRICS,
            include_in_schema=shown,
            dependencies=[BEARER],
            route_class_override=ReadRoute,
        )
    return first, root


async def healthz() -> Health:
    """Needs no key. Shows only that the process replies."""
    return Health()


async def readyz(service: Behind) -> Ready:
    """Needs no key. 503 until questions can be answered."""
    return await service.status()


async def metrics(request: Request) -> Response:
    """Metrics of the whole cluster. Prometheus sends the key with `authorization.credentials_file`."""
    source = request.app.state.metrics
    if source is None:
        raise ApiError(503, "no_metrics", "this service collects no metrics")
    return PlainTextResponse(await source(), media_type="text/plain; version=0.0.4")
