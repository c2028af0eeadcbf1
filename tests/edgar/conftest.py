from __future__ import annotations

import importlib
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from finray.core.settings import EdgarSettings
from finray.lab.sample.edgar import Submission, sample_submissions, write_edgar
from tests.edgar.syncer import CONTACT, Syncer
from tools.faults.edgar import LocalEdgar


@pytest.fixture(scope="session")
def submissions() -> list[Submission]:
    """What two fictional companies filed about one year."""
    return sample_submissions(companies=2, years=1, seed=3)


@pytest.fixture(scope="session")
def _tree(submissions: list[Submission], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("edgar")
    write_edgar(folder, submissions)
    return folder


@pytest.fixture(scope="session")
def _server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalEdgar]:
    """One server for all tests, because edgartools reads EDGAR's address on import."""
    server = LocalEdgar(tmp_path_factory.mktemp("nothing"))
    with pytest.MonkeyPatch.context() as patch:
        address = server.start()
        patch.setenv("EDGAR_BASE_URL", address)
        patch.setenv("EDGAR_DATA_URL", address)
        patch.setenv("EDGAR_LOCAL_DATA_DIR", str(tmp_path_factory.mktemp("edgartools")))
        for name in ("edgar.config", "edgar.urls"):
            importlib.reload(importlib.import_module(name))
        yield server
    server.stop()


@pytest.fixture
def edgar(_server: LocalEdgar, _tree: Path, tmp_path: Path) -> LocalEdgar:
    """EDGAR with the sample's filings, without limits, faults or past requests."""
    shutil.copytree(_tree, tmp_path / "edgar")
    _server.folder, _server.per_second, _server.compress = tmp_path / "edgar", None, True
    _server.requests.clear()
    _server.faults.clear()
    return _server


@pytest.fixture
def edgar_settings() -> EdgarSettings:
    """Impatient: tests wait for nothing."""
    return EdgarSettings(
        contact=CONTACT, requests_per_second=1000, retry_wait_s=0.01, blocked_pause_s=0.3, attempts=3, timeout_s=5
    )


@pytest.fixture
def sync(tmp_path: Path, edgar: LocalEdgar, edgar_settings: EdgarSettings) -> Syncer:
    return Syncer(str(tmp_path / "raw"), edgar_settings)


@pytest.fixture
def republish(edgar: LocalEdgar) -> Callable[[list[Submission]], None]:
    """Write EDGAR's indexes and files anew, as they are with these filings and no others."""

    def write(submissions: list[Submission]) -> None:
        shutil.rmtree(edgar.folder)
        write_edgar(edgar.folder, submissions)

    return write
