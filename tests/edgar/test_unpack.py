"""Dumps unpacked at once leave what they leave one after the other, whichever of them is first."""

from __future__ import annotations

import datetime as dt
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from finray.core.settings import EdgarSettings
from finray.edgar import unpack
from finray.lab.sample.edgar import Submission, as_feed, feed_archive
from tests.edgar.syncer import NOW, Syncer
from tests.edgar.unpacking import ShuffledUnpacker, counts, left_by_a_sync
from tools.faults.edgar import LocalEdgar


def other(submission: Submission, word: bytes) -> Submission:
    """The same accession number with other content."""
    return replace(submission, content=submission.content.replace(b"<TYPE>EX-31.1", b"<TYPE>EX-" + word))


@pytest.fixture
def tangled(tmp_path: Path, submissions: list[Submission]) -> Path:
    """A week of archives that deliver the same filings again and in other versions, correct, delete, and break off."""
    folder = tmp_path / "tangled"
    folder.mkdir()
    a, b, c, d, *rest = submissions
    nameless = ("nothing.nc", b"<SUBMISSION>\n</SUBMISSION>\n")
    cut = (f"{rest[0].accession}.nc", as_feed(rest[0])[:-2000])
    days: list[tuple[list[Submission], list[tuple[str, bytes]]]] = [
        ([a, b], [nameless, cut]),
        ([other(a, b"1"), c, c, *rest], []),
        ([], [(f"{b.accession}.corr01", as_feed(other(b, b"2"), "CORRECTION"))]),
        ([d], [(f"{d.accession}.corr01", as_feed(other(d, b"3"), "CORRECTION"))]),
        ([], [(f"{c.accession}.nc", as_feed(c, "DELETION")), (f"{a.accession}.nc", as_feed(other(a, b"4")))]),
        ([c, d, b], [(f"{c.accession}.corr01", as_feed(other(c, b"5"), "CORRECTION"))]),
    ]
    for number, (filed, notices) in enumerate(days):
        (folder / f"2024030{number + 1}.nc.tar.gz").write_bytes(feed_archive(filed, notices))
    damaged = feed_archive([other(rest[1], b"6"), rest[2]])
    (folder / "20240307.nc.tar.gz").write_bytes(damaged[: len(damaged) * 2 // 3])
    (folder / "single.txt").write_bytes(a.content)
    return folder


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("sent", [unpack._SENT_BYTES, 0], ids=["contents sent", "dumps read again"])
def test_the_result_does_not_depend_on_the_order_of_workers(
    tmp_path: Path, tangled: Path, edgar_settings: EdgarSettings, seed: int, sent: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unpack, "_SENT_BYTES", sent)
    inline = Syncer(str(tmp_path / "inline"), edgar_settings)
    expected = inline(online=False, dumps=(str(tangled),))
    assert expected.deleted
    assert expected.corrected
    assert expected.failed
    assert expected.problems
    at_once = Syncer(str(tmp_path / "at once"), edgar_settings)
    unpacker = ShuffledUnpacker(seed)
    found = at_once(online=False, dumps=(str(tangled),), unpacker=unpacker)
    assert unpacker.unpacked == len(list(tangled.iterdir()))
    assert left_by_a_sync(at_once.raw) == left_by_a_sync(inline.raw)
    assert counts(found) == counts(expected)
    # All again, with what the ledger knows by now.
    expected = inline(online=False, dumps=(str(tangled),), recheck=True)
    assert counts(at_once(online=False, dumps=(str(tangled),), recheck=True, unpacker=unpacker)) == counts(expected)
    assert left_by_a_sync(at_once.raw) == left_by_a_sync(inline.raw)


def test_a_rerun_adopts_what_workers_of_a_killed_run_stored(
    tmp_path: Path, tangled: Path, edgar_settings: EdgarSettings
) -> None:
    inline = Syncer(str(tmp_path / "inline"), edgar_settings)
    inline(online=False, dumps=(str(tangled),))
    killed = Syncer(str(tmp_path / "killed"), edgar_settings)

    class Killed(BaseException):
        pass

    class Dying(ShuffledUnpacker):
        def wait(self, number: int) -> None:
            raise Killed

    for seed in range(3):
        try:
            killed(online=False, dumps=(str(tangled),), unpacker=Dying(seed))
        except Killed:
            shutil.rmtree(Path(killed.raw, "ledger"), ignore_errors=True)  # nothing was committed
    again = killed(online=False, dumps=(str(tangled),), unpacker=ShuffledUnpacker(0))
    assert again.adopted > 0
    contents = left_by_a_sync(killed.raw)
    expected = left_by_a_sync(inline.raw)
    assert contents["entries"] == expected["entries"]
    texts = {name: text for name, text in expected["files"].items() if name.endswith(".txt")}
    assert {name: text for name, text in contents["files"].items() if name.endswith(".txt")} == texts


def test_a_dry_run_writes_nothing(tmp_path: Path, tangled: Path, edgar_settings: EdgarSettings) -> None:
    sync = Syncer(str(tmp_path / "raw"), edgar_settings)
    expected = Syncer(str(tmp_path / "inline"), edgar_settings)(online=False, dumps=(str(tangled),), dry_run=True)
    found = sync(online=False, dumps=(str(tangled),), dry_run=True, unpacker=ShuffledUnpacker(1))
    assert counts(found) == counts(expected)
    assert not Path(sync.raw, "filings").exists()


def test_edgars_own_feed_is_unpacked_while_the_next_day_is_downloaded(
    sync: Syncer, edgar: LocalEdgar, submissions: list[Submission]
) -> None:
    day = submissions[0].filed_at
    since, until = day - dt.timedelta(days=3), day + dt.timedelta(days=3)
    unpacker = ShuffledUnpacker(2)
    summary = sync(since=since, until=until, edgar_feed=True, unpacker=unpacker)
    assert not summary.has_failures
    assert summary.fetched == len([s for s in submissions if since <= s.filed_at <= until])
    assert unpacker.unpacked > 0
    assert summary.complete_until == until
    assert not list(Path(sync.raw, ".partial").glob("*.part")), "downloads go once they are taken"
    assert NOW.date() > until
    edgar.requests.clear()
    assert sync(since=since, until=until, edgar_feed=True, unpacker=unpacker).archives_read == 0
