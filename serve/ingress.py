"""The HTTP ingress."""

from __future__ import annotations

import logging
from typing import Any

from ray import serve
from starlette.types import ASGIApp

from finray.api.app import create_app
from finray.api.keys import KeyRing, keys_location
from finray.api.limits import Capacity
from finray.api.logs import log_json
from finray.api.service import Service
from serve.answering import Handles, RemoteService, local_service
from serve.config import ServeArguments
from serve.metrics import cluster_metrics, ray_telemetry


class Ingress:
    """The routes of finray.api. Has its own engines, or forwards to ``handles["answering"]`` if present."""

    async def __init__(self, arguments: ServeArguments, handles: Handles) -> None:  # type: ignore[misc]
        log_json(logging.INFO)
        self._arguments = arguments
        self._service: Service
        if "answering" in handles:
            replicas = arguments.answering.max_replicas if arguments.answering is not None else 1
            serving = arguments.settings().serving
            capacity = Capacity(serving.max_in_flight * replicas, serving.engines * replicas)
            self._service = RemoteService(handles["answering"], capacity)
        else:
            self._service = await local_service(arguments, handles)

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
            telemetry=ray_telemetry(),
            metrics=cluster_metrics,
            echo_id=False,  # Serve's proxy adds X-Request-Id
        )


INGRESS: Any = serve.deployment(name="ingress")(serve.ingress()(Ingress))
Application = Any
"""``ray.serve.Application``, which has no types."""
