"""The HTTP ingress."""

from __future__ import annotations

import logging
from typing import Any

from ray import serve
from starlette.types import ASGIApp

from finray.api.app import MakeEndpoint, create_app
from finray.api.keys import KeyRing, keys_location
from finray.api.logs import log_json
from finray.cluster.gpus import hide_unassigned_gpus
from finray.core.extras import extra
from finray.core.settings import ServingSettings
from serve.answering import Handles, service_behind
from serve.batches import batches_of, remote_batches
from serve.config import ServeArguments
from serve.llm_endpoint import SharedModel
from serve.metrics import cluster_metrics, ray_telemetry


class Ingress:
    """The routes of finray.api. Has its own engines and runs the batches, or forwards to ``handles["answering"]`` and
    ``handles["batches"]`` if present."""

    async def __init__(self, arguments: ServeArguments, handles: Handles) -> None:  # type: ignore[misc]
        log_json(logging.INFO)
        hide_unassigned_gpus()
        self._arguments, self._handles = arguments, handles
        self._service = await service_behind(arguments, handles)
        batches = handles.get("batches")
        self._batches = batches_of(arguments, self._service) if batches is None else remote_batches(batches)

    def __serve_build_asgi_app__(self) -> ASGIApp:
        serving = self._arguments.settings().serving
        keys = None
        if self._arguments.auth:
            location = keys_location(serving.keys)
            keys = KeyRing(location, serving.watch_seconds, extra=self._arguments.run_keys)
        return create_app(
            self._service,
            serving,
            keys,
            batches=self._batches,
            telemetry=ray_telemetry(),
            metrics=cluster_metrics,
            echo_id=False,  # Serve's proxy adds X-Request-Id
            endpoints=_endpoints(serving),
            completions=self._shared_model(),
        )

    def _shared_model(self) -> SharedModel | None:
        settings, handle = self._arguments.settings(), self._handles.get("llm")
        if handle is None or not settings.serving.share_llm:
            return None
        return SharedModel(handle, settings.llm.model, settings.serving.timeout_s)


def _endpoints(serving: ServingSettings) -> list[MakeEndpoint]:
    if not serving.mcp:
        return []
    with extra("mcp", "serving.mcp"):
        from finray.mcp.http import McpEndpoint
    return [McpEndpoint]


INGRESS: Any = serve.deployment(name="ingress")(serve.ingress()(Ingress))
Application = Any
"""``ray.serve.Application``, which has no types."""
