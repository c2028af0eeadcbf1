"""The keeper of batches outside a replica. No Ray starts; tests/serve/test_replicas.py has the real one."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import AsyncMock, create_autospec

import pytest

from finray.api.service import LocalService
from serve import batches
from serve.config import ServeArguments
from tests.weightless import WEIGHTLESS


async def test_a_keeper_with_its_own_engines_looks_for_new_versions_of_the_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = create_autospec(LocalService, instance=True)
    monkeypatch.setattr(batches, "service_behind", AsyncMock(return_value=service))
    monkeypatch.setattr(batches, "log_json", lambda level: None)
    monkeypatch.setattr(batches, "hide_unassigned_gpus", lambda: None)
    keeper = batches.BatchKeeper.__new__(batches.BatchKeeper)
    await keeper.__init__(ServeArguments(index=str(tmp_path / "index"), set=WEIGHTLESS), {})  # type: ignore[misc]
    assert (await keeper.call("batches", "ana", None, 10)).data == ()
    service.start.assert_awaited_once()
    await keeper._batches.stop()
