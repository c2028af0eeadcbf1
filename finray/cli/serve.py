"""``finray serve``: runs the HTTP service on this machine."""

from __future__ import annotations

import os
import socket
from typing import Annotated

import typer

from finray.cli.options import IndexOption, PresetOption, SetOption, overrides_of, settings_of
from finray.cli.output import out
from finray.core.errors import UsageError
from finray.core.extras import extra

_ONE_LOOP = ("RAY_SERVE_RUN_USER_CODE_IN_SEPARATE_THREAD", "RAY_SERVE_RUN_ROUTER_IN_SEPARATE_LOOP")
"""Ray Serve's switches for separate threads in a replica. Ours does not need them: engines in child processes do not
block its event loop."""

_SHUTDOWN_SECONDS = 3.0
"""Time for requests in progress to finish after Ctrl-C."""


def serve(
    index: IndexOption,
    preset: PresetOption = "local",
    set_: SetOption = None,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port to listen on.")] = 8000,
    replicas: Annotated[
        int, typer.Option(min=0, help="Replicas with engines, beside the HTTP ingress; 0: the ingress has the engines.")
    ] = 0,
    no_auth: Annotated[
        bool, typer.Option("--no-auth", help="Disable API-key checks; only with a loopback --host.")
    ] = False,
) -> int:
    """Serve an index over HTTP on this machine, on a local Ray. If no key exists, it creates one for this run."""
    with extra("serve", "finray serve"):
        from finray.api.access import is_loopback
        from finray.api.keys import ApiKey, KeyRing, keys_location, new_key

    settings = settings_of(preset, set_)
    if no_auth and not is_loopback(host):
        raise UsageError(f"--no-auth disables API-key checks, so it requires a loopback --host, not {host!r}")
    check_free(host, port)
    run_keys: tuple[ApiKey, ...] = ()
    shown = ""
    if not no_auth and not len(KeyRing(keys_location(settings.serving.keys), 1.0)):
        key, shown = new_key("this-run")
        run_keys = (key,)
    for name in _ONE_LOOP:
        os.environ.setdefault(name, "0")
    with extra("serve", "finray serve"):  # Serve reads the variables when it is imported
        from serve.config import Replicas, ServeArguments
        from serve.local import serve_here

    quick = Replicas(graceful_shutdown_timeout_s=_SHUTDOWN_SECONDS)
    arguments = ServeArguments(
        index=index, preset=preset, set=overrides_of(set_), auth=not no_auth, run_keys=run_keys, ingress=quick
    )
    if replicas:
        # This Ray runs only this service, and an ingress that waits for replicas needs no CPU of its own.
        ingress = quick.model_copy(update={"num_cpus": 0})
        own = ingress.model_copy(update={"min_replicas": replicas, "max_replicas": replicas})
        arguments = arguments.model_copy(update={"answering": own, "ingress": ingress})
    _print("starting Ray Serve; this takes about half a minute")
    serve_here(arguments, host, port, lambda: _print(_welcome(f"http://{host}:{port}", shown, not no_auth)))
    return 0


def _print(text: str) -> None:
    out.print(text, highlight=False, markup=False, soft_wrap=True)


def check_free(host: str, port: int) -> None:
    """Raises UsageError if ``port`` is in use or cannot be opened."""
    try:
        with socket.create_server((host, port)):
            return
    except OSError as error:
        raise UsageError(f"cannot listen on {host}:{port}: {error.strerror}; choose another --port") from error


def _welcome(url: str, key: str, auth: bool) -> str:
    lines = [f"serving at {url} (Ctrl-C stops it)"]
    if key:
        lines += [
            f"key for this run: {key}",
            f"page:             {url}/#key={key}",
            "`finray keys add NAME` creates permanent keys, which replace this one",
        ]
    elif not auth:
        lines.append("API-key checks are disabled: everyone on this machine has access")
    return "\n".join(lines)
