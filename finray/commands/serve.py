"""``finray serve``: the HTTP service on this machine, in one command."""

from __future__ import annotations

import logging
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console

from finray.api.access import is_loopback
from finray.api.keys import ApiKey, KeyRing, keys_location, new_key
from finray.errors import UsageError
from finray.settings import Settings


def run_serve(
    index: str,
    preset: str,
    overrides: dict[str, Any],
    settings: Settings,
    *,
    host: str,
    port: int,
    auth: bool,
    out: Console,
) -> int:
    """Serve until interrupted. Raises UsageError for what cannot be served so, before anything starts."""
    if not auth and not is_loopback(host):
        raise UsageError(f"--no-auth lets everybody in, so it only goes with a loopback --host, not {host!r}")
    check_free(host, port)
    run_keys: tuple[ApiKey, ...] = ()
    shown = ""
    if auth and not len(KeyRing(keys_location(settings.serving.keys), 1.0)):
        key, shown = new_key("this-run")
        run_keys = (key,)
    # Ray takes a second to import.
    import ray.serve

    from finray.cluster.runtime import ClusterError, ray_cluster
    from serve.app import build
    from serve.config import ServeArguments

    application = build(ServeArguments(index=index, preset=preset, set=overrides, auth=auth, run_keys=run_keys))
    with ray_cluster(), stop_signal() as stop:
        out.print("starting Ray Serve; this takes about half a minute", highlight=False)
        logging.getLogger("ray.serve").setLevel(logging.WARNING)
        ray.serve.start(proxy_location="HeadOnly", http_options={"host": host, "port": port})
        try:
            ray.serve.run(application, name="finray", logging_config={"enable_access_log": False})
            out.print(_welcome(f"http://{host}:{port}", shown, auth), highlight=False, markup=False, soft_wrap=True)
            stop.wait()
        except RuntimeError as error:
            raise ClusterError(f"the service did not start: {error}") from error
        finally:
            ray.serve.delete("finray")
    return 0


@contextmanager
def stop_signal() -> Iterator[threading.Event]:
    """Set by Ctrl-C and by SIGTERM inside the block."""
    stop = threading.Event()
    before = {number: signal.signal(number, lambda *_: stop.set()) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _welcome(url: str, key: str, auth: bool) -> str:
    lines = [f"serving at {url} (Ctrl-C stops it)"]
    if key:
        lines += [
            f"key for this run: {key}",
            f"page:             {url}/#key={key}",
            "`finray keys add NAME` makes keys that last; then none is made here",
        ]
    elif not auth:
        lines.append("no key is asked for: everybody on this machine can ask")
    return "\n".join(lines)


def check_free(host: str, port: int) -> None:
    """Raises UsageError where something listens at ``port`` already, or nothing can."""
    try:
        with socket.create_server((host, port)):
            return
    except OSError as error:
        raise UsageError(f"cannot listen at {host}:{port}: {error.strerror}; choose another --port") from error
