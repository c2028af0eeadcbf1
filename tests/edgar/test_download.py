"""What downloads leave behind."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

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


def test_concurrent_downloads_of_one_file_do_not_mix(
    edgar: LocalEdgar, edgar_settings: EdgarSettings, tmp_path: Path
) -> None:
    content = os.urandom(200_000)
    edgar.compress = False
    path = "/Archives/edgar/file.idx"
    (edgar.folder / path[1:]).write_bytes(content)
    edgar.fail(path, *[Fault(piece_seconds=0.02)] * 12)
    host, port = edgar._server.server_address[:2]
    url, scratch = f"http://{host!s}:{port}{path}", tmp_path / "partial"

    def one(number: int) -> bytes:
        if number % 2:
            return download(http, url, scratch, 300_000)
        with downloaded(http, url, scratch, 300_000) as file:
            return file.read_bytes()

    with EdgarHttp(edgar_settings, LocalLimiter(1000.0)) as http, ThreadPoolExecutor(12) as pool:
        results = list(pool.map(one, range(12)))
    assert results == [content] * 12
    assert list(scratch.iterdir()) == []
