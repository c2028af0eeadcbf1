"""The deployment that runs batches for several ingress replicas, and their way to it."""

from __future__ import annotations

import logging
from functools import partial
from typing import Any, cast

from ray import serve

from finray.api.batches.batches import Batches
from finray.api.batches.place import batches_location
from finray.api.logs import log_json
from finray.api.service import Service
from finray.cluster.gpus import hide_unassigned_gpus
from serve.answering import Handles, ask_replica, service_behind
from serve.config import ServeArguments


def batches_of(arguments: ServeArguments, service: Service) -> Batches:
    """Batches at the place that the arguments name."""
    settings = arguments.settings()
    return Batches(batches_location(settings.serving.batches, arguments.index), service, settings)


class BatchKeeper:
    """One replica, so that each batch runs once and its state is in one memory."""

    async def __init__(self, arguments: ServeArguments, handles: Handles) -> None:  # type: ignore[misc]
        log_json(logging.INFO)
        hide_unassigned_gpus()
        self._batches = batches_of(arguments, await service_behind(arguments, handles))
        await self._batches.start()

    async def call(self, method: str, *args: object, **kwargs: object) -> Any:
        """A method of :class:`Batches`."""
        return await getattr(self._batches, method)(*args, **kwargs)


KEEPER: Any = serve.deployment(name="batches")(BatchKeeper)


class _RemoteBatches:
    """The methods of :class:`Batches` over a handle of :class:`BatchKeeper`, which starts and stops them itself."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle

    async def start(self) -> None:
        """Nothing to do."""

    async def stop(self) -> None:
        """Nothing to do."""

    def __getattr__(self, method: str) -> Any:
        return partial(ask_replica, self._handle, method)


def remote_batches(handle: Any) -> Batches:
    return cast(Batches, _RemoteBatches(handle))
