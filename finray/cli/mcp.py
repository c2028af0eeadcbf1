"""``finray mcp``: tools over an index for agents, by the Model Context Protocol."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from finray.cli.options import IndexOption, PresetOption, SetOption, settings_of
from finray.cli.output import err
from finray.core.errors import UsageError
from finray.core.extras import extra
from finray.core.settings import Settings

if TYPE_CHECKING:
    from finray.api.service import LocalService


def mcp(
    index: IndexOption,
    preset: PresetOption = "local",
    set_: SetOption = None,
    http: Annotated[
        bool, typer.Option("--http", help="Serve streamable HTTP at /mcp, beside the routes of `finray serve`.")
    ] = False,
    host: Annotated[str, typer.Option(help="Address to listen on, with --http.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port to listen on, with --http.")] = 8000,
    no_auth: Annotated[
        bool, typer.Option("--no-auth", help="With --http: disable API-key checks; only with a loopback --host.")
    ] = False,
    service: Annotated[
        str | None, typer.Option("--service", help="URL of a service to whose pages citations link; else EDGAR.")
    ] = None,
) -> int:
    """Give agents tools over an index: ask, search, list filings, read pages and tables, look up line items. Speaks MCP
    on standard input and output, or over HTTP with the keys of `finray keys`. Without Ray."""
    with extra("mcp", "finray mcp"):
        import anyio
        import mcp as _  # noqa: F401

    from finray.filings.pages.page_links import PageLinks

    if no_auth and not http:
        raise UsageError("--no-auth is about --http: standard input needs no key")
    PageLinks({}, service)  # fails now if the URL is wrong, not at the first citation
    settings = settings_of(preset, set_)
    if http:
        with suppress(KeyboardInterrupt):  # uvicorn raises it again after it has ended the requests
            anyio.run(_serve_http, index, settings, host, port, no_auth, service)
    else:
        anyio.run(_serve_stdio, index, settings, service)
    return 0


async def _serve_stdio(index: str, settings: Settings, links: str | None) -> None:
    from finray.api.limits import KeyLimits
    from finray.mcp.server import mcp_server
    from finray.mcp.tools import Tools

    # Clients wait for the handshake, not for the engine: the first question does that.
    async with _open(index, settings) as service:
        await service.start()
        limits = KeyLimits(settings.serving)
        await mcp_server(Tools(service, settings.serving, limits, links)).run_stdio_async()


async def _serve_http(index: str, settings: Settings, host: str, port: int, no_auth: bool, links: str | None) -> None:
    import uvicorn

    from finray.api.app import create_app
    from finray.api.keys import KeyRing, keys_location
    from finray.api.logs import log_json
    from finray.cli.serve import SHUTDOWN_SECONDS, keys_of_run, shown_host
    from finray.mcp.http import PATH, McpEndpoint

    serving = settings.serving
    run_keys, shown = keys_of_run(serving, host, port, no_auth=no_auth)
    keys = None if no_auth else KeyRing(keys_location(serving.keys), serving.watch_seconds, extra=run_keys)
    log_json(logging.INFO)
    async with _open(index, settings) as service:
        await service.ready()
        app = create_app(service, serving, keys, endpoints=[partial(McpEndpoint, links=links)])
        url = f"http://{shown_host(host)}:{port}{PATH}"
        err.print(f"MCP server at {url} (Ctrl-C stops it)", highlight=False, markup=False, soft_wrap=True)
        if shown:
            err.print(f"key for this run: {shown}", highlight=False, markup=False, soft_wrap=True)
        config = uvicorn.Config(
            app, host=host, port=port, log_config=None, timeout_graceful_shutdown=int(SHUTDOWN_SECONDS)
        )
        await uvicorn.Server(config).serve()


@asynccontextmanager
async def _open(index: str, settings: Settings) -> AsyncIterator[LocalService]:
    from finray.api.service import LocalService

    service = LocalService(index, settings)
    try:
        yield service
    finally:
        await service.stop()
