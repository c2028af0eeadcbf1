"""``finray serve``: runs the HTTP service on this machine."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING, Annotated
from urllib.parse import quote, urlencode

import typer

from finray.cli.options import IndexOption, PresetOption, SetOption, overrides_of, settings_of
from finray.cli.output import out
from finray.core.errors import UsageError
from finray.core.extras import extra
from finray.core.settings import ServingSettings

if TYPE_CHECKING:
    from finray.api.keys import ApiKey

_ONE_LOOP = ("RAY_SERVE_RUN_USER_CODE_IN_SEPARATE_THREAD", "RAY_SERVE_RUN_ROUTER_IN_SEPARATE_LOOP")
"""Ray Serve's switches for separate threads in a replica. Ours does not need them: engines in child processes do not
block its event loop."""

SHUTDOWN_SECONDS = 3.0
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
    return run_service(index, host, port, preset=preset, set_=set_, replicas=replicas, no_auth=no_auth)


def run_service(
    index: str,
    host: str,
    port: int,
    *,
    preset: str = "local",
    set_: list[str] | None = None,
    replicas: int = 0,
    no_auth: bool = False,
    question: str = "",
) -> int:
    """``finray serve``; the link to the page that it prints fills in ``question``."""
    with extra("serve", "finray serve"):
        import fastapi  # noqa: F401

    settings = settings_of(preset, set_)
    run_keys, shown = keys_of_run(settings.serving, host, port, no_auth=no_auth)
    use_one_loop()
    with extra("serve", "finray serve"):  # Serve reads the variables when it is imported
        from serve.config import Replicas, ServeArguments
        from serve.local import serve_here

    quick = Replicas(graceful_shutdown_timeout_s=SHUTDOWN_SECONDS)
    arguments = ServeArguments(
        index=index, preset=preset, set=overrides_of(set_), auth=not no_auth, run_keys=run_keys, ingress=quick
    )
    if replicas:
        # This Ray runs only this service, and an ingress that waits for replicas needs no CPU of its own.
        ingress = quick.model_copy(update={"num_cpus": 0})
        own = ingress.model_copy(update={"min_replicas": replicas, "max_replicas": replicas})
        arguments = arguments.model_copy(update={"answering": own, "ingress": ingress})
    _print("starting Ray Serve; this takes about half a minute")
    url = f"http://{shown_host(host)}:{port}"
    serve_here(arguments, host, port, lambda: _print(_welcome(url, shown, question, auth=not no_auth)))
    return 0


def use_one_loop() -> None:
    """Set Ray Serve's switches. Its replicas inherit them from Ray, so call this before Ray starts."""
    for name in _ONE_LOOP:
        os.environ.setdefault(name, "0")


def _print(text: str) -> None:
    out.print(text, highlight=False, markup=False, soft_wrap=True)


def keys_of_run(serving: ServingSettings, host: str, port: int, *, no_auth: bool) -> tuple[tuple[ApiKey, ...], str]:
    """A key for this run and its text if there are no permanent ones. Raises UsageError if it cannot listen, or if
    checks are off and ``host`` is not this machine."""
    from finray.api.access import is_loopback
    from finray.api.keys import KeyRing, keys_location, new_key

    if no_auth and not is_loopback(host):
        raise UsageError(f"--no-auth disables API-key checks, so it requires a loopback --host, not {host!r}")
    check_free(host, port)
    if no_auth or len(KeyRing(keys_location(serving.keys), 1.0)):
        return (), ""
    key, shown = new_key("this-run")
    return (key,), shown


def check_free(host: str, port: int) -> None:
    """Raises UsageError if ``port`` is in use or cannot be opened."""
    try:
        with socket.create_server((host, port)):
            return
    except OSError as error:
        raise UsageError(f"cannot listen on {host}:{port}: {error.strerror}; choose another --port") from error


def shown_host(host: str) -> str:
    """``host`` as an address that a browser on this machine can open."""
    if host in ("0.0.0.0", "::", ""):
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host


def _welcome(url: str, key: str, question: str, *, auth: bool) -> str:
    link = urlencode({name: value for name, value in (("key", key), ("q", question)) if value}, quote_via=quote)
    lines = [f"serving at {url} (Ctrl-C stops it)"]
    if link:
        lines.append(f"page:             {url}/#{link}")
    if key:
        lines.append(f"key for this run: {key} (`finray keys add NAME` creates permanent keys)")
    elif not auth:
        lines.append("API-key checks are disabled: everyone on this machine has access")
    return "\n".join(lines)
