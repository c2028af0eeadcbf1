from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from finray.api.app import create_app
from finray.api.keys import KeyRing
from finray.api.service import LocalService
from finray.client import Client
from finray.core.settings import Settings
from finray.engine import Engine
from finray.library import Index
from tests.api.batch_service import Borrowed

QUERY = "What were the main risks and the revenue of Grevandor Systems in fiscal 2022?"


@pytest.fixture(scope="module")
def index(engine: Engine) -> Iterator[Index]:
    with Index(engine) as index:
        yield index


@pytest.fixture(scope="module")
def client(
    service: LocalService, serving_settings: Settings, keys_file: Path, key: str, listen: Callable[[Any], str]
) -> Iterator[Client]:
    app: Any = create_app(Borrowed(service), serving_settings.serving, KeyRing(str(keys_file), 0.0))
    with Client(listen(app), key) as client:
        yield client


@pytest.fixture(scope="module", params=["index", "service"])
def source(request: pytest.FixtureRequest) -> Index | Client:
    found: Index | Client = request.getfixturevalue({"index": "index", "service": "client"}[request.param])
    return found
