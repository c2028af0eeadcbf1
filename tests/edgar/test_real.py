"""A local EDGAR of real filings and a real index."""

from __future__ import annotations

import datetime as dt
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from finray.core.settings import Settings
from finray.edgar.indexing import index_backlog
from finray.edgar.store import RawStore
from finray.edgar.submissions import read_header
from finray.index.job.in_process import index_in_process
from finray.index.reading.reader import IndexReader
from finray.lab.sample.edgar import Submission, feed_archive
from tests.edgar.syncer import Syncer
from tools.faults.edgar import LocalEdgar

pytestmark = pytest.mark.shared
REAL = ("0000943374-24-000509.txt", "0001011438-98-000429.txt", "0001094891-00-000193.txt")
NOW = dt.datetime(2025, 6, 1, tzinfo=dt.UTC)


def real(folder: Path, name: str) -> Submission:
    content = (folder / "edgar/submissions" / name).read_bytes()
    header = read_header(content)
    assert header.accession and header.form and header.company and header.filed_at
    period = header.period or header.filed_at
    return Submission(header.accession, header.ciks[0], header.company, header.form, header.filed_at, period, content)


@pytest.mark.slow
def test_real_filings_from_edgar_to_the_index(
    sync: Syncer, republish: Callable[..., None], shared_data: Path, local_settings: Settings, tmp_path: Path
) -> None:
    filings = [real(shared_data, name) for name in REAL]
    republish(filings)
    years = [dt.date(filing.filed_at.year, 1, 1) for filing in filings]
    for year in years:
        summary = sync(since=year, until=year.replace(month=12, day=31), now=NOW, forms="8-K,4")
        assert [problem for problem in summary.problems if "no such file" not in problem.reason] == []
    assert sorted(sync.stored().values()) == sorted(filing.content for filing in filings)
    store, index = RawStore(sync.raw), str(tmp_path / "index")
    index_in_process(index_backlog(sync.ledger, store, index).new, index, local_settings)
    current = {filing.filing_id: filing for filing in IndexReader.open(index).filings()}["0000943374-24-000509"]
    assert (current.form, current.filed_at) == ("8-K", dt.date(2024, 12, 27))
    assert current.company.lower() == "1895 bancorp of wisconsin, inc."
    assert index_backlog(sync.ledger, store, index).new == ()


def test_a_dry_run_over_a_real_daily_index(sync: Syncer, edgar: LocalEdgar, shared_data: Path) -> None:
    day = dt.date(2020, 3, 18)
    folder = edgar.folder / "Archives/edgar/daily-index/2020/QTR1"
    folder.mkdir(parents=True)
    shutil.copyfile(shared_data / "edgar/indexes/form.20200318.idx", folder / "form.20200318.idx")
    lines = (folder / "form.20200318.idx").read_text(encoding="latin-1").splitlines()
    annual = {line.split()[-1][-24:] for line in lines if line.split()[:1] in (["10-K"], ["10-K/A"])}
    now = dt.datetime(2020, 3, 19, 8, tzinfo=dt.UTC)
    summary = sync(since=day, until=day, now=now, forms="10-K", dry_run=True)
    assert summary.waiting == len(annual) > 50
    assert summary.complete_until is None


def test_real_feed_files(sync: Syncer, shared_data: Path, tmp_path: Path) -> None:
    folder = tmp_path / "feed"
    folder.mkdir()
    real_files = sorted((shared_data / "edgar/submissions").glob("*.nc"))
    members = [(path.name, path.read_bytes()) for path in real_files]
    (folder / "20250213.nc.tar.gz").write_bytes(feed_archive([], members))
    since, until = dt.date(2025, 1, 1), dt.date(2025, 12, 31)
    summary = sync(online=False, dumps=(str(folder),), since=since, until=until, now=NOW, forms="4,ABS-15G")
    assert (summary.fetched, summary.problems, summary.failed) == (2, [], [])
    assert sorted(sync.stored().values()) == sorted(content for _, content in members)
    texts = str(shared_data / "edgar/submissions")
    again = sync(online=False, dumps=(texts,), forms="8-K", since=dt.date(1998, 1, 1), until=until, now=NOW)
    assert again.fetched == 2
