"""``finray serve``: the HTTP service on this machine, in one command."""

from __future__ import annotations

import os
import socket
from typing import Any

from rich.console import Console

from finray.api.access import is_loopback
from finray.api.keys import ApiKey, KeyRing, keys_location, new_key
from finray.core.errors import UsageError
from finray.core.settings import Settings

_ONE_LOOP = ("RAY_SERVE_RUN_USER_CODE_IN_SEPARATE_THREAD", "RAY_SERVE_RUN_ROUTER_IN_SEPARATE_LOOP")
"""Ray Serve's switches for the threads that HTTP takes in a replica. Ours are never blocked: engines are processes of
their own."""

_SHUTDOWN_SECONDS = 3.0
"""After Ctrl-C, for requests that are under way."""


def run_serve(
    index: str,
    preset: str,
    overrides: dict[str, Any],
    settings: Settings,
    *,
    host: str,
    port: int,
    auth: bool,
    replicas: int,
    out: Console,
) -> int:
    """Serve until interrupted, answering in ``replicas`` processes of their own, or for 0 in the one that speaks HTTP.

    Raises UsageError for what cannot be served so, before anything starts.
    """
    if not auth and not is_loopback(host):
        raise UsageError(f"--no-auth lets everybody in, so it only goes with a loopback --host, not {host!r}")
    check_free(host, port)
    run_keys: tuple[ApiKey, ...] = ()
    shown = ""
    if auth and not len(KeyRing(keys_location(settings.serving.keys), 1.0)):
        key, shown = new_key("this-run")
        run_keys = (key,)
    for name in _ONE_LOOP:
        os.environ.setdefault(name, "0")
    # After that: Serve reads them when imported. Ray takes a second to import.
    from serve.config import Replicas, ServeArguments
    from serve.local import serve_here

    def ready() -> None:
        out.print(_welcome(f"http://{host}:{port}", shown, auth), highlight=False, markup=False, soft_wrap=True)

    quick = Replicas(graceful_shutdown_timeout_s=_SHUTDOWN_SECONDS)
    arguments = ServeArguments(index=index, preset=preset, set=overrides, auth=auth, run_keys=run_keys, ingress=quick)
    if replicas:
        # Nobody else is on this Ray: what waits for HTTP takes no processor from what answers.
        ingress = quick.model_copy(update={"num_cpus": 0})
        own = ingress.model_copy(update={"min_replicas": replicas, "max_replicas": replicas})
        arguments = arguments.model_copy(update={"answering": own, "ingress": ingress})
    out.print("starting Ray Serve; this takes about half a minute", highlight=False)
    serve_here(arguments, host, port, ready)
    return 0


def check_free(host: str, port: int) -> None:
    """Raises UsageError where something listens at ``port`` already, or nothing can."""
    try:
        with socket.create_server((host, port)):
            return
    except OSError as error:
        raise UsageError(f"cannot listen at {host}:{port}: {error.strerror}; choose another --port") from error


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
