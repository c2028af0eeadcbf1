from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
from mcp import Client

from finray.api.limits import KeyLimits
from finray.api.service import LocalService
from finray.core.settings import Settings
from finray.mcp.server import mcp_server
from finray.mcp.tools import Tools

Connect = Callable[..., AbstractAsyncContextManager[Client]]


@pytest.fixture
def connect(service: LocalService, serving_settings: Settings) -> Connect:
    """A client of the SDK in this process, over ``service`` or another; keywords change its settings."""

    def make(behind: Any = service, links: str | None = None, mode: str = "auto", **changed: Any) -> Client:
        settings = serving_settings.serving.model_copy(update=changed)
        return Client(mcp_server(Tools(behind, settings, KeyLimits(settings), links)), mode=mode)

    return make
