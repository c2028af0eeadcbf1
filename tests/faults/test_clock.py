"""A wall clock that is wrong or jumps while an index is written: nothing is taken from open readers, and a rerun ends
where a quiet run ends. (For a sync: tests/edgar/test_clock.py.)"""

from __future__ import annotations

import datetime as dt
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import lance
import pytest

from finray.index import layout, schema
from finray.index.reading.reader import IndexReader
from finray.index.tables.maintenance import expired_versions
from finray.index.upkeep.check import check_index
from finray.lab.sample.generate import generate_sample
from tools.faults.contents import differences, read_contents

UTC = dt.UTC
JOBS = Path(__file__).parents[2] / "jobs"
SLEEP = Path(__file__).parent / "faketime"
FAKETIME = Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1")
needs_faketime = pytest.mark.skipif(not FAKETIME.exists(), reason="libfaketime is not installed (Debian: faketime)")


def versions(*days: float) -> list[dict[str, Any]]:
    start = dt.datetime(2024, 1, 1, tzinfo=UTC)
    return [{"version": n, "timestamp": start + dt.timedelta(days=day)} for n, day in enumerate(days, start=1)]


def test_a_version_expires_a_day_after_it_was_replaced_whenever_it_was_made() -> None:
    start = dt.datetime(2024, 1, 1, tzinfo=UTC)
    assert expired_versions(versions(0, 0.1, 30), start + dt.timedelta(days=30.5)) == [1]
    assert expired_versions(versions(0, 0.1, 30), start + dt.timedelta(days=31.5)) == [1, 2]
    assert expired_versions(versions(0), start + dt.timedelta(days=9999)) == []
    assert expired_versions(versions(0, 30, -19000, 30.1), start + dt.timedelta(days=30.5)) == [], "a clock set back"
    assert expired_versions(versions(0, 365, 365.1), start + dt.timedelta(days=1)) == [], "a clock that was ahead"


def test_a_reader_of_a_version_that_was_the_newest_for_days_keeps_it(
    index_uri_of_days_ago: str, local_settings: Any
) -> None:
    from finray.index.writing.writer import IndexWriter

    reader = IndexReader.open(index_uri_of_days_ago)
    before = reader.chunks(None).num_rows
    writer = IndexWriter(index_uri_of_days_ago, local_settings, reader.record.dimension)
    writer.withdraw([reader.filings()[0].source_uri])
    writer.finish()
    assert reader.chunks(None).num_rows == before
    assert IndexReader.open(index_uri_of_days_ago).chunks(None).num_rows < before


@pytest.fixture
def index_uri_of_days_ago(tmp_path: Path) -> str:
    """An index that was written three days ago, by the clock of that process."""
    if not FAKETIME.exists():
        pytest.skip("libfaketime is not installed (Debian: faketime)")
    generate_sample(tmp_path, companies=1, years=1, seed=4, questions=1, formats=("html",), workers=1)
    run_index(tmp_path / "filings", tmp_path / "index", {"FAKETIME": "-3d"})
    made = lance.dataset(layout.table_uri(str(tmp_path / "index"), schema.CHUNKS)).versions()[-1]["timestamp"]
    assert isinstance(made, dt.datetime)
    assert dt.datetime.now() - made > dt.timedelta(days=2)
    return str(tmp_path / "index")


def run_index(source: Path, index: Path, clock: dict[str, str]) -> dict[str, Any]:
    """``finray index`` in a process whose clock is as libfaketime's variables say; timers are left alone."""
    fake = {
        "LD_PRELOAD": str(FAKETIME),
        "DONT_FAKE_MONOTONIC": "1",
        "FAKETIME_NO_CACHE": "1",
        "PYTHONPATH": os.pathsep.join((str(SLEEP), os.environ.get("PYTHONPATH", ""))).rstrip(os.pathsep),
    }
    environment = os.environ | {"FINRAY_ENCODER__MODEL": "hash", "FINRAY_INDEX__IN_PROCESS": "true"}
    environment |= fake | clock if clock else {}
    command = [sys.executable, str(JOBS / "index.py"), str(source), "--index", str(index), "--json"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    summary: dict[str, Any] = json.loads(done.stdout)
    return summary


@pytest.mark.slow
@needs_faketime
def test_a_clock_that_jumps_between_index_jobs_and_in_the_middle_of_one(tmp_path: Path) -> None:
    generate_sample(tmp_path, companies=1, years=1, seed=4, questions=1, formats=("html",), workers=1)
    files = sorted((tmp_path / "filings").iterdir())
    run_index(tmp_path / "filings", tmp_path / "quiet", {})
    some, jumps = tmp_path / "some", tmp_path / "clock"
    some.mkdir()
    steps: tuple[tuple[dict[str, str], int], ...] = (({}, 2), ({"FAKETIME": "+400d"}, 3), ({"FAKETIME": "-20000d"}, 4))
    for clock, upto in steps:
        for file in files[:upto]:
            (some / file.name).write_bytes(file.read_bytes())
        reader = IndexReader.open(str(tmp_path / "index")) if upto > 2 else None
        rows = reader.chunks(None).num_rows if reader else 0
        run_index(some, tmp_path / "index", clock)
        assert reader is None or reader.chunks(None).num_rows == rows, "taken from an open reader"
    jumps.write_text("+0")
    moving = subprocess.Popen(
        [sys.executable, "-c", JUMPING, str(jumps)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    for file in files:
        (some / file.name).write_bytes(file.read_bytes())
    summary = run_index(some, tmp_path / "index", {"FAKETIME_TIMESTAMP_FILE": str(jumps)})
    moving.kill()
    moving.wait()
    assert summary["seconds"] < 60, "durations are measured by a clock that nobody sets"
    assert differences(read_contents(str(tmp_path / "quiet")), read_contents(str(tmp_path / "index"))) == []
    assert check_index(str(tmp_path / "index"), deep=True) == []


JUMPING = """
import itertools, pathlib, sys, time
for offset in itertools.cycle(["+1d", "-1h", "-20000d", "+400d", "+0"]):
    pathlib.Path(sys.argv[1]).write_text(offset)
    time.sleep(0.3)
"""
