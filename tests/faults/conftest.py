from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.faults.edgar import LocalEdgar
from tools.faults.world import World, make_world


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """A small EDGAR, and commands that use it."""
    edgar = LocalEdgar(tmp_path)
    address = edgar.start()
    for name in ("EDGAR_BASE_URL", "EDGAR_DATA_URL"):
        monkeypatch.setenv(name, address)
    monkeypatch.setenv("EDGAR_LOCAL_DATA_DIR", str(tmp_path / "edgartools"))
    made = make_world(tmp_path, edgar)
    made.publish(made.base)
    yield made
    edgar.stop()
