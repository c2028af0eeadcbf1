"""The MCP server as an endpoint of the HTTP service: streamable HTTP without sessions, with the service's keys."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager

from mcp.server.transport_security import TransportSecuritySettings
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from finray.api.access import Gate, body_limit, with_body
from finray.api.envelope import context_of
from finray.api.errors import ApiError
from finray.api.service import Service
from finray.core.settings import ServingSettings
from finray.mcp.server import mcp_server
from finray.mcp.tools import Tools

PATH = "/mcp"


class McpEndpoint:
    """An ASGI application for ``path``. Every request counts as a read of its key and toward the key's concurrency
    limit; its questions count as questions."""

    path = PATH

    def __init__(self, service: Service, settings: ServingSettings, gate: Gate, *, links: str | None = None) -> None:
        server = mcp_server(Tools(service, settings, gate.limits, links))
        # Creates the session manager. It need not protect from DNS rebinding: without keys, the gate checks the Host
        # header; with keys, a page of another site has none to send.
        server.streamable_http_app(
            streamable_http_path=PATH,
            stateless_http=True,
            max_request_body_size=settings.max_body_bytes,
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )
        self._sessions = server.session_manager
        self._settings, self._gate = settings, gate

    def running(self) -> AbstractAsyncContextManager[None]:
        """Requests are handled inside this context, which can be entered once."""
        return self._sessions.run()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Raises ApiError 401, 403, 405, 408, 413, 429."""
        scope["route"] = self
        context = context_of(scope)
        request = Request(scope, receive)
        context.key = await self._gate.name_of(request)
        if scope["method"] != "POST":
            raise ApiError(405, "method_not_allowed", "this server keeps no sessions and streams: use POST")
        self._gate.limits.read(context.key)
        context.ended.append(self._gate.limits.begin(context.key))
        unread = [await (await with_body(request, body_limit(self._settings))).body()]

        async def replay() -> Message:
            return {"type": "http.request", "body": unread.pop(), "more_body": False} if unread else await receive()

        await self._sessions.handle_request(scope, replay, send)
