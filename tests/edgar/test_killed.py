"""kill -9 at any moment, and a rerun: the same raw store and ledger as without, and nothing fetched twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from finray.core.settings import EdgarSettings
from finray.edgar.ledger import Entry, Ledger
from finray.lab.sample.edgar import Submission
from tests.edgar.syncer import CONTACT, Syncer
from tools.faults.edgar import Fault, LocalEdgar

pytestmark = pytest.mark.slow
IMPATIENT = EdgarSettings(contact=CONTACT)
JOB = Path(__file__).parents[2] / "jobs" / "sync_edgar.py"


def start(raw: Path, **settings: str) -> subprocess.Popen[str]:
    chosen = {"contact": CONTACT, "requests_per_second": "500", "connections": "2", "retry_wait_s": "0.01"} | settings
    environment = {name: value for name, value in os.environ.items() if name != "RAY_ADDRESS"}
    environment |= {f"FINRAY_EDGAR__{name.upper()}": value for name, value in chosen.items()}
    command = [sys.executable, str(JOB), "--raw", str(raw), "--since", "2023-01-02", "--until", "2024-03-20", "--json"]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process: subprocess.Popen[str]) -> None:
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors


def kill(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.communicate()


def rows(raw: Path) -> dict[str, Entry]:
    return {entry.listed.accession: entry for entry in Ledger(str(raw / "ledger"), read_only=True).entries()}


def downloaded_bytes(raw: Path, path: str) -> int:
    """The size of the unfinished download of ``path``; 0 if there is none, or it was just finished."""
    with suppress(FileNotFoundError):
        for note in (raw / ".partial").glob("*.part.json"):
            if json.loads(note.read_text())["url"].endswith(path):
                return note.with_suffix("").stat().st_size
    return 0


@pytest.fixture
def undisturbed(edgar: LocalEdgar, tmp_path: Path) -> Path:
    raw = tmp_path / "undisturbed"
    finish(start(raw))
    edgar.requests.clear()
    return raw


def test_a_download_resumes_after_kill(
    edgar: LocalEdgar, submissions: list[Submission], tmp_path: Path, undisturbed: Path
) -> None:
    edgar.compress = False
    slow = max(submissions, key=lambda submission: len(submission.content))
    edgar.fail(slow.path, Fault(piece_seconds=0.02))
    raw = tmp_path / "raw"
    process = start(raw)
    deadline = time.monotonic() + 60
    while downloaded_bytes(raw, slow.path) <= 50_000:
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
    time.sleep(0.3)
    kill(process)
    finish(start(raw))
    assert Syncer(str(raw), IMPATIENT).stored() == Syncer(str(undisturbed), IMPATIENT).stored()
    assert rows(raw) == rows(undisturbed)
    asked = edgar.asked(slow.accession)
    assert [request.status for request in asked] == [200, 206]
    assert int(asked[1].ranges.removeprefix("bytes=").rstrip("-")) > 40_000
    assert not list((raw / ".partial").glob("*"))


def test_repeated_kills_do_not_change_the_result(
    edgar: LocalEdgar, submissions: list[Submission], tmp_path: Path, undisturbed: Path
) -> None:
    raw = tmp_path / "raw"
    whole: set[str] = set()
    for moment in range(6):
        edgar.requests.clear()
        for submission in submissions:
            edgar.fail(submission.path, Fault(piece_seconds=0.002))
        process = start(raw)
        deadline = time.monotonic() + 60
        while len(edgar.requests) < 2 + moment * 13 and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.002)
        kill(process)
        asked = {request.path.rpartition("/")[2].removesuffix(".txt") for request in edgar.asked("/edgar/data/")}
        assert not asked & whole, "what was stored whole is not fetched again"
        whole = {path.stem for path in (raw / "filings").rglob("*.json")}
    edgar.faults.clear()
    finish(start(raw))
    assert Syncer(str(raw), IMPATIENT).stored() == Syncer(str(undisturbed), IMPATIENT).stored()
    assert rows(raw) == rows(undisturbed)


def test_two_concurrent_syncs_end_as_one(
    edgar: LocalEdgar, submissions: list[Submission], tmp_path: Path, undisturbed: Path
) -> None:
    raw = tmp_path / "raw"
    both = [start(raw), start(raw)]
    for process in both:
        finish(process)
    assert Syncer(str(raw), IMPATIENT).stored() == Syncer(str(undisturbed), IMPATIENT).stored()
    assert rows(raw) == rows(undisturbed)
