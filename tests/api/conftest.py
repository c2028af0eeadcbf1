from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from finray.api.app import create_app
from finray.api.keys import KeyRing, add_key
from finray.api.service import LocalService
from finray.core.settings import Settings

MakeClient = Callable[..., TestClient]


@pytest.fixture(scope="session")
def keys_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("keys") / "keys.json"


@pytest.fixture(scope="session")
def key(keys_file: Path) -> str:
    return add_key(str(keys_file), "tester")


@pytest.fixture(scope="session")
def serving_settings(local_settings: Settings) -> Settings:
    serving = local_settings.serving.model_copy(update={"questions_per_minute": 1e6, "reads_per_minute": 1e6})
    return local_settings.model_copy(update={"serving": serving})


@pytest.fixture(scope="session")
def service(sample_index: str, serving_settings: Settings) -> Iterator[LocalService]:
    with closing(LocalService(sample_index, serving_settings)) as service:
        service.wait_until_ready()
        yield service


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


@pytest.fixture
def client(make_client: MakeClient) -> TestClient:
    return make_client()
