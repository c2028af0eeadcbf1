"""Feed archives and folders of full submissions."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import pytest

from finray.core.errors import SourceError
from finray.edgar.store import RawStore
from finray.lab.sample.edgar import Submission, as_feed, feed_archive, feed_path
from finray.storage.locations import read_bytes
from tests.edgar.syncer import NOW, Syncer
from tools.faults.edgar import Fault, LocalEdgar


def by_day(submissions: list[Submission]) -> dict[dt.date, list[Submission]]:
    ordered = sorted(submissions, key=lambda submission: submission.filed_at)
    return {day: list(some) for day, some in groupby(ordered, key=lambda submission: submission.filed_at)}


@pytest.fixture
def feed(tmp_path: Path, submissions: list[Submission]) -> Path:
    folder = tmp_path / "feed"
    folder.mkdir()
    for day, some in by_day(submissions).items():
        (folder / f"{day:%Y%m%d}.nc.tar.gz").write_bytes(feed_archive(some))
    return folder


def test_archives_replace_requests_to_edgar(
    sync: Syncer, edgar: LocalEdgar, feed: Path, submissions: list[Submission]
) -> None:
    summary = sync(online=False, dumps=(str(feed),))
    assert not summary.has_failures
    assert (summary.fetched, summary.archives_read) == (len(submissions), len(list(feed.iterdir())))
    assert edgar.requests == []
    stored = RawStore(sync.raw).get(submissions[0].accession)
    assert stored is not None
    assert (stored.form, stored.filed_at, stored.period) == (
        submissions[0].form,
        submissions[0].filed_at,
        submissions[0].period,
    )
    assert stored.source.endswith(f".nc.tar.gz#{submissions[0].accession}.nc")
    # Another run reads no archive, and EDGAR has nothing to add.
    assert sync(online=False, dumps=(str(feed),)).archives_read == 0
    assert sync().fetched == 0
    assert not edgar.asked("/edgar/data/")


def test_archives_are_filtered_by_form_company_and_date(
    sync: Syncer, feed: Path, submissions: list[Submission]
) -> None:
    one = submissions[0].cik
    sync(online=False, dumps=(str(feed),), forms="10-K", ciks=frozenset({one}))
    assert len(sync.stored()) == 1
    summer = sync(online=False, dumps=(str(feed),), since=dt.date(2023, 7, 1), until=dt.date(2023, 9, 30))
    assert summer.fetched == sum(dt.date(2023, 7, 1) <= s.filed_at <= dt.date(2023, 9, 30) for s in submissions)
    # A wider range reads the same archives again, for what was left out.
    assert sync(online=False, dumps=(str(feed),)).fetched > 0


def test_a_damaged_archive_is_read_as_far_as_possible_and_again_later(
    sync: Syncer, feed: Path, submissions: list[Submission]
) -> None:
    archive = max(feed.iterdir(), key=lambda path: path.stat().st_size)
    whole = archive.read_bytes()
    archive.write_bytes(whole[: len(whole) // 2])
    first = sync(online=False, dumps=(str(feed),))
    assert "damaged" in first.problems[0].reason
    assert first.fetched < len(submissions)
    archive.write_bytes(whole)
    second = sync(online=False, dumps=(str(feed),))
    assert first.fetched + second.fetched == len(submissions)
    assert second.problems == []


def test_deletion_and_correction_notices(sync: Syncer, feed: Path, submissions: list[Submission]) -> None:
    sync(online=False, dumps=(str(feed),))
    deleted, wrong = submissions[0], submissions[1]
    corrected = replace(wrong, content=wrong.content.replace(b"<TYPE>EX-31.1", b"<TYPE>EX-31.2"))
    notices = [
        (f"{deleted.accession}.nc", as_feed(deleted, "DELETION")),
        (f"{wrong.accession}.corr01", as_feed(corrected, "CORRECTION")),
    ]
    (feed / "20240401.nc.tar.gz").write_bytes(feed_archive([], notices))
    now = NOW + dt.timedelta(days=20)
    summary = sync(online=False, dumps=(str(feed),), until=now.date(), now=now)
    assert [d.accession for d in summary.deleted] == [deleted.accession]
    assert "deletion notice" in summary.deleted[0].reason
    assert summary.corrected == 1
    store = RawStore(sync.raw)
    assert store.get(deleted.accession) is None
    kept = store.get(wrong.accession)
    assert kept is not None
    assert b"<TYPE>EX-31.2" in read_bytes(store.filing_uri(kept.accession))
    # Read again, the old archives bring neither of them back.
    again = sync(online=False, dumps=(str(feed),), until=now.date(), now=now, recheck=True)
    assert (again.deleted, store.get(deleted.accession)) == ([], None)
    assert store.get(wrong.accession) == kept


def test_a_folder_of_full_submissions(sync: Syncer, tmp_path: Path, submissions: list[Submission]) -> None:
    folder = tmp_path / "dump"
    folder.mkdir()
    for submission in submissions:
        (folder / f"{submission.accession}.txt").write_bytes(submission.content)
    (folder / "page.txt").write_bytes(b"<html><title>403 Forbidden</title></html>")
    (folder / "cut.txt").write_bytes(submissions[0].content[:5000])
    summary = sync(online=False, dumps=(str(folder),))
    assert summary.fetched == len(submissions)
    assert sorted(problem.what.rpartition("/")[2] for problem in summary.problems) == ["cut.txt", "page.txt"]
    assert sorted(sync.stored().values()) == sorted(submission.content for submission in submissions)


def test_submissions_that_are_too_long_are_skipped_with_the_reason(
    sync: Syncer, feed: Path, submissions: list[Submission]
) -> None:
    shortest = min(len(submission.content) for submission in submissions)
    settings = sync.settings.model_copy(update={"max_bytes": shortest + 2000})
    summary = sync(online=False, dumps=(str(feed),), settings=settings)
    assert summary.skipped["too_large"] > 0
    reasons = [entry.reason for entry in sync.ledger.entries() if entry.state == "skipped"]
    assert all("edgar.max_bytes" in reason for reason in reasons)
    assert len(reasons) == summary.skipped["too_large"]
    # With another limit they can be had from EDGAR.
    assert sync().fetched == 0
    assert sync(retry_failed=True).fetched == len(reasons)


def test_edgars_feed_takes_one_request_a_day(sync: Syncer, edgar: LocalEdgar, submissions: list[Submission]) -> None:
    day = submissions[0].filed_at
    edgar.fail(feed_path(day), Fault(cut_after=900))
    since, until = day - dt.timedelta(days=3), day + dt.timedelta(days=3)
    summary = sync(since=since, until=until, edgar_feed=True)
    assert not summary.has_failures
    assert summary.fetched == len([s for s in submissions if since <= s.filed_at <= until])
    assert [request.ranges for request in edgar.asked(f"{day:%Y%m%d}.nc")] == ["", "bytes=900-"]
    assert summary.complete_until == until
    edgar.requests.clear()
    assert sync(since=since, until=until, edgar_feed=True).fetched == 0
    assert not edgar.asked(f"{day:%Y%m%d}.nc")


def test_a_location_without_dumps_is_an_error(sync: Syncer, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(SourceError, match="empty"):
        sync(online=False, dumps=(str(tmp_path / "empty"),))


def test_member_names_do_not_choose_paths(sync: Syncer, tmp_path: Path, submissions: list[Submission]) -> None:
    folder = tmp_path / "feed"
    folder.mkdir()
    evil = [("../../../outside.nc", as_feed(submissions[0])), ("/etc/outside.nc", b"<SUBMISSION>\n</SUBMISSION>\n")]
    (folder / "20230601.nc.tar.gz").write_bytes(feed_archive([], evil))
    summary = sync(online=False, dumps=(str(folder),))
    assert summary.fetched == 1
    assert not list(tmp_path.rglob("outside*"))
    assert list(sync.stored()) == [f"2023/{submissions[0].accession[:10]}/{submissions[0].accession}.txt"]
