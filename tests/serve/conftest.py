from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tools.ports import free_port

WAIT_SECONDS = 120.0


@pytest.fixture(name="free_port")
def _free_port() -> int:
    return free_port()


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
