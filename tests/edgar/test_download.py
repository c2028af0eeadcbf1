"""What downloads leave behind."""

from __future__ import annotations

import hashlib
import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from finray.core.errors import EdgarUnavailableError
from finray.core.settings import EdgarSettings
from finray.edgar.download import download, downloaded
from finray.edgar.http import EdgarHttp
from finray.edgar.limiter import LocalLimiter
from tests.edgar.syncer import Syncer
from tools.faults.edgar import Fault, LocalEdgar


def test_old_partial_downloads_are_removed_and_other_files_kept(sync: Syncer, tmp_path: Path) -> None:
    partial = tmp_path / "raw" / ".partial"
    partial.mkdir(parents=True)
    names = [f"{'0' * 32}.part", f"{'0' * 32}.part.json", ".0000000001-23-000001.txt.abc.tmp", "notes.txt"]
    names += [f"{'0' * 32}.part.lock", f"{'0' * 32}.01234567.part"]
    for name in names:
        (partial / name).write_text("begun")
    sync()
    assert sorted(path.name for path in partial.iterdir()) == sorted(names)
    for name in names:
        os.utime(partial / name, (0, 0))
    sync()
    assert [path.name for path in partial.iterdir()] == ["notes.txt"]


@pytest.mark.parametrize(
    "content_range",
    [None, "nonsense", "bytes */200000", "bytes 10-15/200000", "bytes 50000-50005/7", "bytes 50000-50005/200000"],
)
def test_a_piece_that_does_not_continue_the_download_is_never_taken_for_the_whole(
    edgar: LocalEdgar, edgar_settings: EdgarSettings, tmp_path: Path, content_range: str | None
) -> None:
    content = os.urandom(200_000)
    path, url = _served(edgar, content)
    headers = (("Content-Range", content_range),) if content_range else ()
    edgar.fail(path, Fault(cut_after=50_000), Fault(206, content[50_000:50_006], headers=headers))
    with EdgarHttp(edgar_settings, LocalLimiter(1000.0)) as http:
        assert download(http, url, tmp_path / "partial", 300_000) == content
    assert edgar.requests[1].ranges == "bytes=50000-"


def test_a_piece_completes_no_download_of_unknown_length(
    edgar: LocalEdgar, edgar_settings: EdgarSettings, tmp_path: Path
) -> None:
    content = os.urandom(200_000)
    path, url = _served(edgar, content)
    scratch = tmp_path / "partial"
    scratch.mkdir()
    partial = scratch / f"{hashlib.sha256(url.encode()).hexdigest()[:32]}.part"
    partial.write_bytes(content[:50_000])
    note = {"url": url, "total": None, "encoding": "", "etag": f'"{hashlib.sha256(content).hexdigest()[:16]}"'}
    partial.with_name(f"{partial.name}.json").write_text(json.dumps(note))
    edgar.fail(path, Fault(206, content[50_000:50_006], headers=(("Content-Range", "bytes 50000-50005/200000"),)))
    with EdgarHttp(edgar_settings, LocalLimiter(1000.0)) as http:
        assert download(http, url, scratch, 300_000) == content
    assert [request.ranges for request in edgar.requests] == ["bytes=50000-", "bytes=50006-"]


def test_a_server_that_only_sends_pieces_is_an_error(
    edgar: LocalEdgar, edgar_settings: EdgarSettings, tmp_path: Path
) -> None:
    path, url = _served(edgar, b"content")
    edgar.fail(path, *[Fault(206, b"con")] * 3)
    with (
        EdgarHttp(edgar_settings, LocalLimiter(1000.0)) as http,
        pytest.raises(EdgarUnavailableError, match="status 206 without Content-Range"),
    ):
        download(http, url, tmp_path / "partial", 300_000)


def test_concurrent_downloads_of_one_file_do_not_mix(
    edgar: LocalEdgar, edgar_settings: EdgarSettings, tmp_path: Path
) -> None:
    content = os.urandom(200_000)
    path, url = _served(edgar, content)
    edgar.fail(path, *[Fault(piece_seconds=0.02)] * 12)
    scratch = tmp_path / "partial"

    def one(number: int) -> bytes:
        if number % 2:
            return download(http, url, scratch, 300_000)
        with downloaded(http, url, scratch, 300_000) as file:
            return file.read_bytes()

    with EdgarHttp(edgar_settings, LocalLimiter(1000.0)) as http, ThreadPoolExecutor(12) as pool:
        results = list(pool.map(one, range(12)))
    assert results == [content] * 12
    assert list(scratch.iterdir()) == []


def _served(edgar: LocalEdgar, content: bytes) -> tuple[str, str]:
    """The path and the URL of a file with this content, which is sent as it is."""
    edgar.compress = False
    path = "/Archives/edgar/file.idx"
    (edgar.folder / path[1:]).write_bytes(content)
    host, port = edgar._server.server_address[:2]
    return path, f"http://{host!s}:{port}{path}"
