from __future__ import annotations

import datetime as dt
import shutil
from typing import Any

import pytest

from finray.core.errors import EdgarUnavailableError, UsageError
from finray.edgar.companies_now import read_company
from finray.lab.sample.edgar import Submission, company_submissions
from tests.edgar.syncer import Syncer
from tools.faults.edgar import LocalEdgar


def test_filings_of_today_are_fetched_before_an_index_lists_them(
    sync: Syncer, edgar: LocalEdgar, submissions: list[Submission]
) -> None:
    shutil.rmtree(edgar.folder / "Archives/edgar/daily-index")
    shutil.rmtree(edgar.folder / "Archives/edgar/full-index")
    newest = max(submissions, key=lambda submission: submission.filed_at)
    now = dt.datetime.combine(newest.filed_at, dt.time(18), dt.UTC)
    options: dict[str, Any] = {
        "since": newest.filed_at,
        "until": newest.filed_at,
        "now": now,
        "ciks": frozenset({newest.cik}),
    }
    assert sync(**options).fetched == 0
    summary = sync(**options, companies_now=True)
    assert summary.fetched == 1
    assert list(sync.stored().values()) == [newest.content]
    assert summary.incomplete_days == [newest.filed_at]
    assert sync(**options, companies_now=True).fetched == 0


def test_now_requires_chosen_companies(sync: Syncer) -> None:
    with pytest.raises(UsageError, match="--tickers or --ciks"):
        sync(companies_now=True)


def test_an_unknown_cik_is_reported(sync: Syncer) -> None:
    summary = sync(ciks=frozenset({"0000000042"}), companies_now=True)
    assert [problem.what for problem in summary.problems] == ["company 0000000042"]


def test_read_company(submissions: list[Submission], edgar: LocalEdgar) -> None:
    one = [submission for submission in submissions if submission.cik == submissions[0].cik]
    found = read_company(one[0].cik, company_submissions(one), "url")
    assert {(f.accession, f.form, f.filed_at) for f in found} == {(s.accession, s.form, s.filed_at) for s in one}
    for content in (b"", b"<html>", b"{}", b'{"name": "A", "filings": {"recent": {"accessionNumber": [1]}}}'):
        with pytest.raises(EdgarUnavailableError):
            read_company("0000000001", content, "url")
