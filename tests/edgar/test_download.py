"""What downloads leave behind."""

from __future__ import annotations

import os
from pathlib import Path

from tests.edgar.syncer import Syncer


def test_what_was_begun_and_never_finished_goes_after_days_and_no_file_that_is_not_ours(
    sync: Syncer, tmp_path: Path
) -> None:
    partial = tmp_path / "raw" / ".partial"
    partial.mkdir(parents=True)
    names = [f"{'0' * 32}.part", f"{'0' * 32}.part.json", ".0000000001-23-000001.txt.abc.tmp", "notes.txt"]
    for name in names:
        (partial / name).write_text("begun")
    sync()
    assert sorted(path.name for path in partial.iterdir()) == sorted(names)
    for name in names:
        os.utime(partial / name, (0, 0))
    sync()
    assert [path.name for path in partial.iterdir()] == ["notes.txt"]
