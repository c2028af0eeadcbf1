"""Syncs against a local EDGAR: what lands in the raw store, and what is asked for."""

from __future__ import annotations

import datetime as dt
import json
import shutil
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from finray.core.errors import SourceError
from finray.core.settings import EdgarSettings
from finray.edgar.store import RawStore
from finray.lab.sample.edgar import Submission, daily_index_path, form_index
from tests.edgar.syncer import CONTACT, NOW, SINCE, Syncer
from tools.faults.edgar import BLOCKED, BUSY, Fault, LocalEdgar

Republish = Callable[[list[Submission]], None]


def of_form(submissions: list[Submission], form: str) -> list[Submission]:
    return [submission for submission in submissions if submission.form == form]


def renumbered(submission: Submission, number: int) -> bytes:
    accession = f"{submission.accession[:-6]}{number:06d}"
    return submission.content.replace(submission.accession.encode(), accession.encode())


def test_wanted_filings_are_stored_as_edgar_has_them(
    sync: Syncer, edgar: LocalEdgar, submissions: list[Submission]
) -> None:
    summary = sync()
    assert not summary.has_failures
    assert summary.fetched == len(submissions)
    assert sorted(sync.stored().values()) == sorted(submission.content for submission in submissions)
    first = submissions[0]
    name = f"filings/20{first.accession[11:13]}/{first.accession[:10]}/{first.accession}"
    described = json.loads((Path(sync.raw) / f"{name}.json").read_text())
    assert described["ciks"] == [first.cik]
    assert (described["form"], described["filed_at"]) == (first.form, str(first.filed_at))
    assert described["period"] == str(first.period)
    assert described["url"].endswith(f"/Archives/{first.path}")
    assert described["size"] == len(first.content)
    assert all(request.agent == CONTACT for request in edgar.requests)


def test_a_second_run_fetches_nothing_and_skips_unchanged_indexes(sync: Syncer, edgar: LocalEdgar) -> None:
    sync()
    edgar.requests.clear()
    summary = sync()
    assert summary.fetched == summary.indexes_read == 0
    assert not edgar.asked("/edgar/data/")
    assert {request.status for request in edgar.requests} <= {304, 403}
    assert len(edgar.requests) < 10


def test_the_last_day_is_not_complete_before_edgar_publishes_its_index(sync: Syncer) -> None:
    summary = sync()
    assert summary.complete_until == NOW.date() - dt.timedelta(days=1)
    assert summary.incomplete_days == [NOW.date()]
    later = sync(now=NOW + dt.timedelta(days=3))
    assert later.complete_until == NOW.date()
    assert later.incomplete_days == []


def test_amendments_are_fetched(sync: Syncer, republish: Republish, submissions: list[Submission]) -> None:
    annual = of_form(submissions, "10-K")[0]
    amendment = replace(
        annual,
        form="10-K/A",
        accession=annual.accession[:-6] + "000099",
        content=annual.content.replace(b"SUBMISSION TYPE:\t10-K", b"SUBMISSION TYPE:\t10-K/A").replace(
            annual.accession.encode(), (annual.accession[:-6] + "000099").encode()
        ),
    )
    republish([*submissions, amendment])
    summary = sync(forms="10-K")
    assert not summary.has_failures
    assert summary.fetched == len(of_form(submissions, "10-K")) + 1
    assert any(name.endswith(f"{amendment.accession}.txt") for name in sync.stored())


def test_companies_are_chosen_by_cik(sync: Syncer, submissions: list[Submission]) -> None:
    one = submissions[0].cik
    sync(ciks=frozenset({one}))
    assert len(sync.stored()) == sum(submission.cik == one for submission in submissions)
    # Another selection reads the indexes again, and fetches only what it lacks.
    summary = sync()
    assert summary.fetched == sum(submission.cik != one for submission in submissions)


def test_a_wider_range_fetches_the_rest_of_a_quarter(sync: Syncer, submissions: list[Submission]) -> None:
    middle = sorted(submission.filed_at for submission in submissions)[len(submissions) // 2]
    narrow = sync(since=middle)
    assert narrow.fetched < len(submissions)
    wide = sync()
    assert narrow.fetched + wide.fetched == len(submissions)


def test_a_failed_filing_keeps_its_day_incomplete_until_it_is_fetched(
    sync: Syncer, edgar: LocalEdgar, submissions: list[Submission]
) -> None:
    victim = submissions[3]
    edgar.fail(victim.path, BUSY, BUSY, BUSY)
    first = sync()
    assert [problem.what.rpartition("/")[2] for problem in first.failed] == [f"{victim.accession}.txt"]
    assert "503" in first.failed[0].reason
    assert victim.filed_at in first.incomplete_days
    assert first.complete_until == victim.filed_at - dt.timedelta(days=1)
    edgar.requests.clear()
    second = sync()
    assert (second.fetched, second.failed) == (1, [])
    assert second.complete_until == NOW.date() - dt.timedelta(days=1)
    assert len(edgar.asked("/edgar/data/")) == 1


def test_a_missing_filing_is_given_up_in_the_end(
    sync: Syncer, edgar: LocalEdgar, edgar_settings: EdgarSettings, submissions: list[Submission]
) -> None:
    (edgar.folder / "Archives" / submissions[0].path).unlink()
    patient = edgar_settings.model_copy(update={"give_up_after": 2})
    assert submissions[0].filed_at in sync(settings=patient).incomplete_days
    assert sync(settings=patient).failed
    last = sync(settings=patient)
    assert not last.failed
    assert submissions[0].filed_at not in last.incomplete_days
    assert sync(settings=patient, retry_failed=True).failed


def test_a_block_page_pauses_all_requests(sync: Syncer, edgar: LocalEdgar, submissions: list[Submission]) -> None:
    edgar.fail(submissions[5].path, BLOCKED)
    summary = sync()
    assert (summary.fetched, summary.pauses) == (len(submissions), 1)
    assert not summary.has_failures
    blocked = next(request for request in edgar.requests if request.status == 403 and "/data/" in request.path)
    # Those that had gone out before the page came back may still arrive.
    after = [request.at - blocked.at for request in edgar.requests if request.at > blocked.at + 0.05]
    assert min(after) > 0.25


def test_lasting_refusals_end_the_run_and_the_next_continues(
    sync: Syncer, edgar: LocalEdgar, submissions: list[Submission]
) -> None:
    for submission in submissions:
        edgar.fail(submission.path, *[BLOCKED] * 9)
    first = sync()
    assert "refuses every request" in first.problems[0].reason
    assert first.fetched < len(submissions)
    edgar.faults.clear()
    assert not sync().has_failures
    assert len(sync.stored()) == len(submissions)


def test_status_429_pauses_for_retry_after(sync: Syncer, edgar: LocalEdgar, submissions: list[Submission]) -> None:
    edgar.fail(submissions[0].path, Fault(429, b"slow down", headers=(("Retry-After", "1"),)))
    summary = sync()
    assert (summary.pauses, summary.fetched) == (1, len(submissions))
    assert summary.seconds > 0.9


@pytest.mark.parametrize("compress", [True, False])
def test_a_broken_download_is_resumed(
    sync: Syncer, edgar: LocalEdgar, submissions: list[Submission], compress: bool
) -> None:
    edgar.compress = compress
    edgar.fail(submissions[2].path, Fault(cut_after=5000), Fault(cut_after=3000))
    assert not sync().has_failures
    assert submissions[2].content in sync.stored().values()
    assert [(request.ranges, request.status) for request in edgar.asked(submissions[2].accession)] == [
        ("", 200),
        ("bytes=5000-", 206),
        ("bytes=8000-", 206),
    ]


@pytest.mark.parametrize("compress", [True, False])
def test_a_silently_truncated_body_is_fetched_again(
    sync: Syncer, edgar: LocalEdgar, submissions: list[Submission], compress: bool
) -> None:
    edgar.compress = compress
    edgar.fail(submissions[2].path, Fault(cut_after=5000, cut_silently=True))
    assert not sync().has_failures
    assert submissions[2].content in sync.stored().values()


def test_a_truncated_index_is_read_again(sync: Syncer, edgar: LocalEdgar, submissions: list[Submission]) -> None:
    path = daily_index_path(submissions[-1].filed_at)
    edgar.compress = False
    edgar.fail(path, Fault(cut_after=520, cut_silently=True))
    shutil.rmtree(edgar.folder / "Archives/edgar/full-index")
    since = submissions[-1].filed_at
    now = dt.datetime.combine(since + dt.timedelta(days=1), dt.time(12), dt.UTC)
    first = sync(since=since, now=now)
    assert "index" in first.problems[0].what
    assert since in first.incomplete_days
    assert sync(since=since, now=now).fetched == 1


def test_a_late_filing_of_a_recent_day_is_fetched(
    sync: Syncer, edgar: LocalEdgar, submissions: list[Submission]
) -> None:
    late = max(submissions, key=lambda submission: submission.filed_at)
    day = late.filed_at
    now = dt.datetime.combine(day + dt.timedelta(days=2), dt.time(12), dt.UTC)
    index = edgar.folder / "Archives" / daily_index_path(day)
    full = index.read_bytes()
    same_day = [s for s in submissions if s.filed_at == day and s is not late]
    index.write_bytes(form_index(same_day, daily=day))
    for path in (edgar.folder / "Archives/edgar/full-index").rglob("form.*"):
        path.unlink()
    since = day - dt.timedelta(days=1)
    before = sync(since=since, until=day, now=now).fetched
    assert before == len(same_day)
    index.write_bytes(full)
    assert sync(since=since, until=day, now=now).fetched == 1


def test_a_late_filing_of_a_past_quarter_is_fetched_within_a_week(
    sync: Syncer, republish: Republish, submissions: list[Submission]
) -> None:
    late = min(submissions, key=lambda submission: submission.filed_at)
    republish([submission for submission in submissions if submission is not late])
    assert sync().fetched == len(submissions) - 1
    republish(submissions)
    assert sync().fetched == 0
    assert sync(now=NOW + dt.timedelta(days=7)).fetched == 1


def test_a_deleted_filing_is_set_aside_and_fetched_if_edgar_lists_it_again(
    sync: Syncer, republish: Republish, submissions: list[Submission]
) -> None:
    sync()
    victim = submissions[0]
    republish([submission for submission in submissions if submission is not victim])
    summary = sync(recheck=True)
    assert [deletion.accession for deletion in summary.deleted] == [victim.accession]
    assert victim.content not in sync.stored().values()
    kept = list((Path(sync.raw) / "deleted").rglob("*"))
    assert victim.content in [path.read_bytes() for path in kept if path.suffix == ".txt"]
    assert any("no longer" in path.read_text() for path in kept if path.suffix == ".json")
    assert sync(recheck=True).deleted == []
    republish(submissions)
    assert sync(recheck=True).fetched == 1


def test_an_index_that_lacks_too_many_filings_deletes_none(
    sync: Syncer, republish: Republish, submissions: list[Submission]
) -> None:
    many = [
        replace(submissions[0], accession=f"0009000001-23-{n:06d}", content=renumbered(submissions[0], n))
        for n in range(50, 60)
    ]
    republish([*submissions, *many])
    sync()
    stored = sync.stored()
    republish([*submissions, many[0]])
    summary = sync(recheck=True)
    assert sync.stored() == stored
    assert summary.deleted == []
    assert "too many to believe" in summary.problems[0].reason
    republish([*submissions, *many[1:]])
    assert len(sync(recheck=True).deleted) == 1


def test_a_corrected_filing_replaces_the_stored_one(
    sync: Syncer, republish: Republish, submissions: list[Submission]
) -> None:
    sync()
    before = submissions[0]
    content = before.content.replace(b"SUBMISSION TYPE:\t" + before.form.encode(), b"SUBMISSION TYPE:\t10-KT")
    corrected = replace(before, form="10-KT", content=content + b"\n")
    republish([corrected, *submissions[1:]])
    summary = sync(forms="10-K,10-Q,8-K,10-KT", recheck=True)
    assert (summary.fetched, summary.corrected) == (1, 1)
    stored = RawStore(sync.raw).get(before.accession)
    assert stored is not None
    assert stored.form == "10-KT"
    assert len(stored.previous) == 1
    assert corrected.content in sync.stored().values()


def test_a_renamed_company_is_not_fetched_again(
    sync: Syncer, republish: Republish, submissions: list[Submission]
) -> None:
    one = submissions[0].cik
    sync(ciks=frozenset({one}))
    republish([replace(s, company="NEW NAME HOLDINGS INC") if s.cik == one else s for s in submissions])
    summary = sync(ciks=frozenset({one}), recheck=True)
    assert (summary.fetched, summary.corrected, summary.deleted) == (0, 0, [])
    assert {e.listed.company for e in sync.ledger.entries() if e.listed.ciks == (one,)} == {"NEW NAME HOLDINGS INC"}


def test_a_joint_filing_is_fetched_for_any_of_its_companies(
    sync: Syncer, edgar: LocalEdgar, submissions: list[Submission]
) -> None:
    joint, other = submissions[0], next(s for s in submissions if s.cik != submissions[0].cik)
    second = replace(joint, cik=other.cik, company=other.company)
    index = edgar.folder / "Archives" / "edgar/full-index/2023"
    for path in index.rglob("form.gz"):
        path.unlink()
    for quarter in range(1, 5):
        some = [s for s in (*submissions, second) if (s.filed_at.month + 2) // 3 == quarter and s.filed_at.year == 2023]
        target = index / f"QTR{quarter}" / "form.gz"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(form_index(some))
    (edgar.folder / "Archives" / second.path).write_bytes(second.content)
    summary = sync(ciks=frozenset({other.cik}))
    assert not summary.has_failures
    assert joint.content in sync.stored().values()


def test_a_dry_run_fetches_and_writes_nothing(sync: Syncer, edgar: LocalEdgar, submissions: list[Submission]) -> None:
    summary = sync(dry_run=True)
    assert (summary.waiting, summary.fetched) == (len(submissions), 0)
    assert not edgar.asked("/edgar/data/")
    assert not Path(sync.raw).exists()


def test_content_of_another_filing_is_refused(sync: Syncer, edgar: LocalEdgar, submissions: list[Submission]) -> None:
    (edgar.folder / "Archives" / submissions[0].path).write_bytes(submissions[1].content)
    summary = sync()
    assert "instead of" in summary.failed[0].reason
    assert len(sync.stored()) == len(submissions) - 1


def test_after_the_loss_of_the_ledger_stored_filings_are_adopted(
    sync: Syncer, edgar: LocalEdgar, submissions: list[Submission]
) -> None:
    sync()
    shutil.rmtree(Path(sync.raw) / "ledger")
    edgar.requests.clear()
    summary = sync()
    assert (summary.adopted, summary.fetched) == (len(submissions), 0)
    assert not edgar.asked("/edgar/data/")


def test_days_before_the_range_are_not_requested(sync: Syncer, edgar: LocalEdgar) -> None:
    sync(since=dt.date(2024, 3, 11))
    days = [request.path[-12:-4] for request in edgar.asked("daily-index")]
    assert min(days) == "20240311"
    assert SINCE.strftime("%Y%m%d") not in days


def test_an_unusable_scratch_folder_ends_the_run_and_counts_no_try(
    sync: Syncer, edgar_settings: EdgarSettings, tmp_path: Path, submissions: list[Submission]
) -> None:
    (tmp_path / "file").write_text("not a folder")
    blocked = edgar_settings.model_copy(update={"scratch": str(tmp_path / "file")})
    with pytest.raises(SourceError, match=r"edgar\.scratch"):
        sync(settings=blocked)
    assert {entry.state for entry in sync.ledger.entries()} == {"pending"}
    assert sync().fetched == len(submissions)


def test_ctrl_c_ends_a_pause_at_once(
    sync: Syncer, edgar: LocalEdgar, edgar_settings: EdgarSettings, submissions: list[Submission]
) -> None:
    edgar.fail(submissions[0].path, BLOCKED)
    patient = edgar_settings.model_copy(update={"blocked_pause_s": 600.0, "connections": 2})

    def interrupt() -> None:
        while not edgar.asked(submissions[0].accession):
            time.sleep(0.01)
        main = threading.main_thread().ident
        assert main is not None
        # One that comes while Python collects garbage is lost; whoever sits there would press again.
        while not over.wait(0.5):
            signal.pthread_kill(main, signal.SIGINT)

    over = threading.Event()
    threading.Thread(target=interrupt, daemon=True).start()
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        try:
            sync(settings=patient)
        finally:
            over.set()
    assert time.monotonic() - started < 60
    assert sync().waiting == 0
