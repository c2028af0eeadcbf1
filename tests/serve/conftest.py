from __future__ import annotations

import shutil
import socket
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

WAIT_SECONDS = 120.0


@pytest.fixture
def free_port() -> int:
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:
        port: int = listening.getsockname()[1]
        return port


@pytest.fixture
def own_index(sample_index: str, tmp_path: Path) -> str:
    """A copy of the sample's index that a test may change."""
    return str(shutil.copytree(sample_index, tmp_path / "index"))


@pytest.fixture(scope="session")
def until() -> Callable[..., None]:
    """Waits for a condition; on timeout, fails with its description."""

    def wait(condition: Callable[[], bool], what: str, seconds: float = WAIT_SECONDS) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, f"still not: {what}"
            time.sleep(0.2)

    return wait
