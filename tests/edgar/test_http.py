"""What EDGAR's HTTP client takes for an answer: redirects, lengths, encodings."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest

from finray.core.errors import EdgarBlockedError, EdgarRefusedError, EdgarUnavailableError, FilingError
from finray.core.settings import EdgarSettings
from finray.edgar.download import download
from finray.edgar.http import EdgarHttp
from finray.edgar.limiter import LocalLimiter
from finray.lab.sample.edgar import Submission
from tests.edgar.syncer import Syncer
from tools.faults.edgar import Fault, LocalEdgar

LIMIT = 100_000
FILE = "/Archives/edgar/file.idx"


@pytest.fixture
def other(tmp_path: Path) -> Iterator[LocalEdgar]:
    """Another server, with a file that must never pass for EDGAR's."""
    server = LocalEdgar(tmp_path / "other")
    (server.folder / "Archives" / "edgar").mkdir(parents=True)
    (server.folder / FILE[1:]).write_bytes(b"not EDGAR's")
    yield server
    server.stop()


@pytest.fixture
def http(edgar_settings: EdgarSettings) -> Iterator[EdgarHttp]:
    settings = edgar_settings.model_copy(update={"max_index_bytes": LIMIT})
    with EdgarHttp(settings, LocalLimiter(1000.0)) as client:
        yield client


@pytest.fixture
def base(edgar: LocalEdgar) -> str:
    (edgar.folder / FILE[1:]).write_bytes(b"EDGAR's")
    host, port = edgar._server.server_address[:2]
    return f"http://{host!s}:{port}"


def moved(to: str, status: int = 302) -> Fault:
    return Fault(status, b"moved", headers=(("Location", to),))


def refused(http: EdgarHttp, url: str, tmp_path: Path) -> str:
    with pytest.raises(EdgarRefusedError) as one:
        http.get(url)
    with pytest.raises(EdgarRefusedError):
        download(http, url, tmp_path / "partial", LIMIT)
    return str(one.value)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_to_another_host_is_not_followed(
    http: EdgarHttp, edgar: LocalEdgar, base: str, other: LocalEdgar, status: int, tmp_path: Path
) -> None:
    elsewhere = other.start() + FILE  # another port is another server
    edgar.fail(FILE, *[moved(elsewhere, status)] * 2)
    message = refused(http, base + FILE, tmp_path)
    assert f"redirected to {elsewhere!r}, another host or protocol, and not followed" in message
    assert "EDGAR_BASE_URL" in message
    assert other.requests == []
    assert len(edgar.requests) == 2  # the same request is not sent again


@pytest.mark.parametrize(
    "location",
    ["https://127.0.0.1/file", "http://sec.gov.evil.test/file", "//evil.test/file", "ftp://127.0.0.1/file", "file:///etc/passwd",
     "http://user@evil.test/", "http://[bad"],
)  # fmt: skip
def test_a_redirect_to_another_scheme_or_an_invalid_url_is_not_followed(
    http: EdgarHttp, edgar: LocalEdgar, base: str, location: str, tmp_path: Path
) -> None:
    edgar.fail(FILE, *[moved(location)] * 2)
    assert "redirected to" in refused(http, base + FILE, tmp_path)


def test_redirects_on_the_same_host_are_followed_up_to_a_limit(
    http: EdgarHttp, edgar: LocalEdgar, base: str, tmp_path: Path
) -> None:
    edgar.fail("/Archives/old", moved(FILE), moved(base + FILE))
    assert http.get(f"{base}/Archives/old").content == b"EDGAR's"
    assert download(http, f"{base}/Archives/old", tmp_path / "partial", LIMIT) == b"EDGAR's"
    assert http.requests == 4  # each is paced
    edgar.fail(FILE, *[moved(FILE)] * 100)
    assert "redirected more than 5 times" in refused(http, base + FILE, tmp_path)
    assert http.requests == 4 + 2 * 6


def test_a_redirected_filing_is_retried_by_the_next_run(
    sync: Syncer, edgar: LocalEdgar, submissions: list[Submission]
) -> None:
    edgar.fail(submissions[0].path, moved("https://evil.test/filing.txt"))
    summary = sync()
    assert [problem.reason for problem in summary.failed if "another host" in problem.reason]
    assert sync().fetched == 1  # once that is over


def test_the_limit_of_an_index(http: EdgarHttp, edgar: LocalEdgar, base: str) -> None:
    file = edgar.folder / FILE[1:]
    for compress in (True, False):
        edgar.compress = compress
        file.write_bytes(b"x" * LIMIT)
        assert http.get(base + FILE).content == b"x" * LIMIT
        file.write_bytes(b"x" * (LIMIT + 1))
        before = http.requests
        with pytest.raises(EdgarRefusedError, match=r"longer than 100,000 bytes, the setting edgar\.max_index_bytes"):
            http.get(base + FILE)
        assert http.requests == before + 1


def test_a_filing_that_decompresses_to_more_than_allowed(
    http: EdgarHttp, edgar: LocalEdgar, base: str, tmp_path: Path
) -> None:
    (edgar.folder / FILE[1:]).write_bytes(b"x" * (LIMIT + 1))
    with pytest.raises(FilingError, match="longer than 100,000 bytes"):
        download(http, base + FILE, tmp_path / "partial", LIMIT)


def test_encodings_that_were_not_requested(http: EdgarHttp, edgar: LocalEdgar, base: str) -> None:
    twice = gzip.compress(gzip.compress(b"x"))
    edgar.fail(FILE, *[Fault(200, twice, headers=(("Content-Encoding", "gzip, gzip"),))] * 3)
    with pytest.raises(EdgarUnavailableError, match="not requested"):
        http.get(base + FILE)


def test_only_the_start_of_a_refusal_is_read(http: EdgarHttp, edgar: LocalEdgar, base: str) -> None:
    page = b"<html>undeclared automated tool" + b"\0" * 50_000_000
    edgar.fail(FILE, *[Fault(403, gzip.compress(page), headers=(("Content-Encoding", "gzip"),))] * 3)
    with pytest.raises(EdgarBlockedError, match="because of the contact"):
        http.get(base + FILE)
