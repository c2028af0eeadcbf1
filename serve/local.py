"""Runs the application on this machine until a signal stops it."""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import ray
from ray import serve

from finray.cluster.runtime import ClusterError, ray_cluster
from serve.app import build
from serve.config import ServeArguments
from serve.gpus import with_gpus

_NAME = "finray"


def serve_here(arguments: ServeArguments, host: str, port: int, ready: Callable[[], None]) -> None:
    """Start Ray (or use the cluster at ``RAY_ADDRESS``) and the application; stop it on Ctrl-C or SIGTERM.

    Calls ``ready`` once the service can answer. Raises SettingsError, IndexMissingError, IndexMismatchError,
    ClusterError.
    """
    build(arguments)  # before Ray starts, which takes longer
    with ray_cluster():
        free: dict[str, float] = ray.available_resources()  # type: ignore[no-untyped-call]
        application = build(with_gpus(arguments, arguments.settings(), free.get("GPU", 0.0)))
        logging.getLogger("ray.serve").setLevel(logging.WARNING)
        serve.start(proxy_location="HeadOnly", http_options={"host": host, "port": port})
        try:
            serve.run(application, name=_NAME, logging_config={"enable_access_log": False})
            with _stop_signal() as stop:
                ready()
                stop.wait()
        except RuntimeError as error:
            raise ClusterError(f"the service did not start: {error}") from error
        finally:
            serve.delete(_NAME)


@contextmanager
def _stop_signal() -> Iterator[threading.Event]:
    """An event that Ctrl-C or SIGTERM sets inside the block."""
    stop = threading.Event()
    before = {number: signal.signal(number, lambda *_: stop.set()) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
