"""EDGAR's indexes and submissions as EDGAR writes them."""

from __future__ import annotations

import datetime as dt
import gzip
from pathlib import Path

import pytest

from finray.core.errors import EdgarRefusedError, EdgarUnavailableError
from finray.edgar.listing import Quarter, day_url, filing_url, quarter_url, read_day, read_quarter
from finray.edgar.selection import read_company_tickers
from finray.edgar.submissions import check_submission, read_header
from finray.lab.sample.edgar import Submission, as_feed, form_index
from tools.faults.edgar import LocalEdgar

DAY = dt.date(2020, 3, 18)
LIMIT = 2**20


@pytest.mark.shared
def test_a_real_daily_index(shared_data: Path) -> None:
    content = (shared_data / "edgar/indexes/form.20200318.idx").read_bytes()
    index = read_day(DAY, content)
    forms = [filing.form for filing in index.filings.values()]
    # Each line is a filing and a company; filings of several companies have several lines.
    lines = [line for line in content.decode("latin-1").splitlines() if "edgar/data/" in line]
    assert sum(len(filing.ciks) for filing in index.filings.values()) == len({line.split()[-1] for line in lines})
    assert forms.count("10-K") > 50
    assert {"8-K", "10-K/A", "1-A POS", "SC 13D/A"} <= set(forms)
    known = index.filings["0001140361-20-006155"]
    assert (known.form, known.company, known.ciks) == ("1-A", "DLP Positive Note Fund LLC", ("0001806014",))
    assert known.filed_at == known.day == DAY
    assert known.url.endswith("/Archives/edgar/data/1806014/0001140361-20-006155.txt")


@pytest.mark.shared
def test_a_real_index_of_a_day_without_filings(shared_data: Path) -> None:
    assert read_day(DAY, (shared_data / "edgar/indexes/empty-form.idx").read_bytes()).filings == {}


@pytest.mark.shared
def test_real_tickers(shared_data: Path) -> None:
    found = read_company_tickers((shared_data / "edgar/indexes/company_tickers.json").read_bytes())
    assert len(found) > 9000
    assert found["BRK-B"] == "0001067983"


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "form", "filed_at", "ciks"),
    [
        ("0000943374-24-000509.txt", "8-K", dt.date(2024, 12, 27), {"0001847360"}),
        ("0001011438-98-000429.txt", "8-K", dt.date(1998, 12, 31), None),
        ("0000929638-25-000114.nc", "ABS-15G", dt.date(2025, 1, 10), {"0001654238"}),
        ("0001127602-25-004598.nc", "4", dt.date(2025, 2, 13), {"0001870985", "0000007536"}),
        ("0001094891-00-000193.txt", "4", dt.date(2000, 3, 14), None),
    ],
)
def test_headers_of_real_submissions(
    shared_data: Path, name: str, form: str, filed_at: dt.date, ciks: set[str] | None
) -> None:
    content = (shared_data / "edgar/submissions" / name).read_bytes()
    check_submission(content)
    header = read_header(content)
    assert (header.accession, header.form, header.filed_at) == (name.rpartition(".")[0], form, filed_at)
    assert header.ciks
    if ciks is not None:
        assert set(header.ciks) >= ciks
    with pytest.raises(EdgarUnavailableError, match="ends early"):
        check_submission(content[: len(content) * 2 // 3])


def test_indexes_of_the_sample_are_read_like_edgars(submissions: list[Submission], edgar: LocalEdgar) -> None:
    daily = form_index(submissions, daily=DAY)
    quarterly = form_index(submissions)
    for index in (read_day(DAY, daily), read_quarter(Quarter(2023, 1), quarterly, LIMIT)):
        assert {f.accession: (f.form, f.company, f.ciks, f.filed_at) for f in index.filings.values()} == {
            s.accession: (s.form, s.company, (s.cik,), s.filed_at) for s in submissions
        }
    assert read_quarter(Quarter(2023, 1), gzip.compress(quarterly), LIMIT).until == max(s.filed_at for s in submissions)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<html><body>Service temporarily unavailable</body></html>\n",
        b"Form Type   Company Name\n" + b"-" * 40 + b"\n10-K        ACME",
        b"Form Type   Company Name\n" + b"-" * 40 + b"\n10-K        ACME  not-a-cik  20200318  edgar/data/1/x.txt\n",
        b"Form Type   Company Name\n" + b"-" * 40 + b"\n10-K\n",
    ],
)
def test_content_that_is_not_an_index_is_an_error(content: bytes) -> None:
    with pytest.raises(EdgarUnavailableError):
        read_day(DAY, content)


def test_a_damaged_quarterly_index() -> None:
    packed = gzip.compress(form_index([]))
    with pytest.raises(EdgarUnavailableError, match="ends early"):
        read_quarter(Quarter(2023, 1), packed[:-9], LIMIT)


def test_a_quarterly_index_that_decompresses_to_too_much() -> None:
    with pytest.raises(EdgarRefusedError, match=r"longer than 1,048,576 bytes, the setting edgar\.max_index_bytes"):
        read_quarter(Quarter(2023, 1), gzip.compress(b" " * (LIMIT + 1)), LIMIT)


def test_urls(edgar: LocalEdgar) -> None:
    archives = "/Archives/edgar"
    assert day_url(DAY).endswith(f"{archives}/daily-index/2020/QTR1/form.20200318.idx")
    assert quarter_url(Quarter(2020, 1)).endswith(f"{archives}/full-index/2020/QTR1/form.gz")
    assert filing_url("0000320193", "0000320193-24-000123").endswith(f"{archives}/data/320193/0000320193-24-000123.txt")


def test_headers_of_the_feed_have_the_same_facts(submissions: list[Submission]) -> None:
    for submission in submissions:
        header = read_header(submission.content)
        assert read_header(as_feed(submission)) == header
        assert (header.accession, header.form, header.ciks) == (
            submission.accession,
            submission.form,
            (submission.cik,),
        )
        check_submission(submission.content)
        check_submission(as_feed(submission))
    assert read_header(as_feed(submissions[0], "DELETION")).kind == "deletion"
    assert read_header(as_feed(submissions[0], "CORRECTION")).kind == "correction"
