"""The deployment that runs batches for several ingress replicas, and their way to it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, cast

from ray import serve

from finray.api.batches.batches import Batches
from finray.api.batches.place import batches_location
from finray.api.logs import log_json
from finray.api.service import LocalService, Service
from finray.cluster.gpus import hide_unassigned_gpus
from serve.answering import Handles, service_behind
from serve.calls import reply_to
from serve.config import ServeArguments

_ONCE = frozenset({"add_file", "create", "delete", "delete_file", "resume"})
"""Methods of :class:`Batches` that must not run twice."""


def batches_of(arguments: ServeArguments, service: Service) -> Batches:
    """The batches stored at ``serving.batches``, by default beside the index."""
    settings = arguments.settings()
    return Batches(batches_location(settings.serving.batches, arguments.index), service, settings)


class BatchKeeper:
    """One replica, so that each batch runs once and its state is in one memory."""

    async def __init__(self, arguments: ServeArguments, handles: Handles) -> None:  # type: ignore[misc]
        log_json(logging.INFO)
        hide_unassigned_gpus()
        service = await service_behind(arguments, handles)
        if isinstance(service, LocalService):
            await service.start()
        self._batches = batches_of(arguments, service)
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

    def __getattr__(self, method: str) -> Callable[..., Coroutine[Any, Any, Any]]:
        return partial(self._ask, method)

    async def _ask(self, method: str, *args: object, **kwargs: object) -> Any:
        return await reply_to(lambda: self._handle.call.remote(method, *args, **kwargs), once=method in _ONCE)


def remote_batches(handle: Any) -> Batches:
    """The batches of the :class:`BatchKeeper` behind ``handle``."""
    return cast(Batches, _RemoteBatches(handle))
