"""Dumps unpacked by Ray: the same store and ledger as without, through damage, dead workers and kill -9."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from finray.cluster import unpack_job
from finray.cluster.unpack_job import UnpackOnRay
from finray.core.settings import EdgarSettings
from finray.edgar.feed import Dump
from finray.edgar.unpack import UnpackedDump, UnpackJob
from finray.lab.sample.edgar import Submission, as_feed, feed_archive, sample_submissions
from tests.edgar.syncer import Syncer
from tests.edgar.unpacking import counts, left_by_a_sync

pytestmark = [pytest.mark.ray, pytest.mark.slow]
JOB = Path(__file__).parents[2] / "jobs" / "sync_edgar.py"
SETTINGS = EdgarSettings()


@pytest.fixture(scope="module")
def submissions() -> list[Submission]:
    return sorted(sample_submissions(companies=3, years=1, seed=3), key=lambda submission: submission.filed_at)


@pytest.fixture
def feed(tmp_path: Path, submissions: list[Submission]) -> Path:
    """One archive a day; the last corrects and deletes."""
    folder = tmp_path / "feed"
    folder.mkdir()
    for day, some in groupby(submissions, key=lambda submission: submission.filed_at):
        (folder / f"{day:%Y%m%d}.nc.tar.gz").write_bytes(feed_archive(list(some)))
    first, second = submissions[:2]
    corrected = as_feed(first, "CORRECTION").replace(b"<TYPE>EX-31.1", b"<TYPE>EX-31.2")
    notices = [(f"{first.accession}.corr01", corrected), (f"{second.accession}.nc", as_feed(second, "DELETION"))]
    (folder / "20240319.nc.tar.gz").write_bytes(feed_archive([], notices))
    return folder


@pytest.fixture
def inline(tmp_path: Path, feed: Path) -> Syncer:
    """A store that one process has unpacked."""
    sync = Syncer(str(tmp_path / "inline"), SETTINGS)
    summary = sync(online=False, dumps=(str(feed),))
    assert (summary.corrected, len(summary.deleted), summary.problems) == (1, 1, [])
    return sync


def test_ray_stores_what_one_process_stores(local_ray: None, tmp_path: Path, feed: Path, inline: Syncer) -> None:
    sync = Syncer(str(tmp_path / "raw"), SETTINGS)
    summary = sync(online=False, dumps=(str(feed),), unpacker=UnpackOnRay(2))
    assert counts(summary) == counts(Syncer(str(tmp_path / "again"), SETTINGS)(online=False, dumps=(str(feed),)))
    assert left_by_a_sync(sync.raw) == left_by_a_sync(inline.raw)
    assert sync(online=False, dumps=(str(feed),), unpacker=UnpackOnRay(2)).archives_read == 0


def test_a_damaged_archive_and_one_that_kills_its_worker_fail_alone(
    local_ray: None, tmp_path: Path, feed: Path, inline: Syncer, monkeypatch: pytest.MonkeyPatch
) -> None:
    archives = sorted(feed.iterdir())
    damaged, deadly = archives[4], archives[5]  # without the filings that the last one corrects and deletes
    whole = damaged.read_bytes()
    damaged.write_bytes(whole[:40])
    deadly_name, original = deadly.name, unpack_job._unpack

    def dies(number: int, dump: Dump, job: UnpackJob, claims: Any) -> UnpackedDump:
        if dump.uri.endswith(deadly_name):
            os._exit(1)
        return original(number, dump, job, claims)

    sync = Syncer(str(tmp_path / "raw"), SETTINGS)
    with monkeypatch.context() as patch:
        patch.setattr(unpack_job, "_unpack", dies)
        summary = sync(online=False, dumps=(str(feed),), unpacker=UnpackOnRay(2))
    assert summary.archives_read == len(archives) - 2
    problems = {problem.what.rpartition("/")[2]: problem.reason for problem in summary.problems}
    assert problems.keys() == {damaged.name, deadly.name}
    assert "damaged" in problems[damaged.name]
    assert "its worker failed" in problems[deadly.name]
    damaged.write_bytes(whole)
    again = sync(online=False, dumps=(str(feed),), unpacker=UnpackOnRay(2))
    assert (again.archives_read, again.problems) == (2, [])
    assert left_by_a_sync(sync.raw)["entries"] == left_by_a_sync(inline.raw)["entries"]
    assert left_by_a_sync(sync.raw)["files"].keys() == left_by_a_sync(inline.raw)["files"].keys()


def start(raw: Path, feed: Path) -> subprocess.Popen[str]:
    environment = {name: value for name, value in os.environ.items() if name != "RAY_ADDRESS"}
    command = [sys.executable, str(JOB), "--raw", str(raw), "--since", "2023-01-02", "--until", "2024-03-20"]
    command += ["--from-feed", str(feed), "--unpack-workers", "2", "--json"]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_a_killed_run_is_completed_by_a_rerun(tmp_path: Path, feed: Path, inline: Syncer) -> None:
    raw = tmp_path / "raw"
    process = start(raw, feed)
    deadline = time.monotonic() + 120
    while len(list(raw.rglob("*.txt"))) < 3:
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    process = start(raw, feed)
    _, errors = process.communicate(timeout=180)
    assert process.returncode == 0, errors
    found, expected = left_by_a_sync(str(raw)), left_by_a_sync(inline.raw)
    assert (found["files"], found["entries"]) == (expected["files"], expected["entries"])
    assert {read["unit"] for read in found["reads"].values()} == {read["unit"] for read in expected["reads"].values()}
