from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from starlette.types import ASGIApp

from finray.api.app import create_app
from finray.api.keys import KeyRing
from finray.api.service import LocalService
from finray.core.settings import Settings

MakeClient = Callable[..., TestClient]


@pytest.fixture
def make_client(service: LocalService, serving_settings: Settings, keys_file: Path, key: str) -> Iterator[MakeClient]:
    """A client with a valid key, over ``service`` or another; keyword arguments change settings of the service."""
    with ExitStack() as stack:

        def make(behind: Any = service, *, app_options: dict[str, Any] | None = None, **changed: Any) -> TestClient:
            settings = serving_settings.serving.model_copy(update=changed)
            app = create_app(behind, settings, KeyRing(str(keys_file), 0.0), **(app_options or {}))
            client = TestClient(app, raise_server_exceptions=False, headers={"Authorization": f"Bearer {key}"})
            stack.callback(client.close)
            return client

        yield make


@pytest.fixture(scope="session")
def app(service: LocalService, serving_settings: Settings, keys_file: Path) -> ASGIApp:
    """The application over ``service``: the first request of each takes a tenth of a second, to set up its routes."""
    return create_app(service, serving_settings.serving, KeyRing(str(keys_file), 0.0))


@pytest.fixture
def client(app: ASGIApp, key: str) -> Iterator[TestClient]:
    with closing(TestClient(app, raise_server_exceptions=False, headers={"Authorization": f"Bearer {key}"})) as client:
        yield client
