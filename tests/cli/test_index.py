"""The summary of `finray index` for filings that need review."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from finray.cli.index import described
from finray.index.job.summary import IndexSummary, MarkedFiling

SUMMARY = IndexSummary(
    seen=4,
    indexed=4,
    skipped={},
    failures=(),
    ignored={},
    pages=90,
    chunks=400,
    seconds=3.0,
    marked=(
        MarkedFiling("/in/a.pdf", ("unidentified", "ocr"), ("company", "period")),
        MarkedFiling("/in/b.pdf", ("repaired",)),
        MarkedFiling("/in/c.pdf", ("unread",)),
    ),
)


def test_each_marked_filing_is_listed_with_its_unknown_facts() -> None:
    lines = described(SUMMARY).splitlines()
    assert lines[2] == "indexed, but please review: 1 unidentified, 1 ocr, 1 unread, 1 repaired"
    unidentified = "not identified (unknown: company, period), found by its text; read by OCR"
    assert lines[3] == f"indexed: /in/a.pdf: {unidentified}"
    assert lines[4] == "indexed: /in/b.pdf: repaired, with all its pages"
    assert "install Tesseract" in lines[5]


def test_documents_left_out_are_counted() -> None:
    summary = replace(SUMMARY, left_out={"EX-21.1": 1, "EX-31.1": 2})
    assert described(summary).splitlines()[2] == "left out of submissions: 3 documents (1 EX-21.1, 2 EX-31.1)"
    assert json.loads(json.dumps(asdict(summary)))["left_out"] == {"EX-21.1": 1, "EX-31.1": 2}
    assert "left out" not in described(SUMMARY)


def test_a_machine_reads_the_same() -> None:
    marked = json.loads(json.dumps(asdict(SUMMARY)))["marked"]
    assert marked[0] == {
        "source_uri": "/in/a.pdf", "marks": ["unidentified", "ocr"], "unknown": ["company", "period"],
    }  # fmt: skip


@pytest.mark.slow
def test_a_bad_filing_does_not_fail_the_job_of_a_scheduler(
    finray: Callable[..., Any], sample_folder: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "filings"
    folder.mkdir()
    shutil.copy(sorted((sample_folder / "filings").glob("*8k*"))[0], folder)
    (folder / "one.pdf").write_bytes(b"no PDF")
    options = ["--set", "index.in_process=true", "--set", "encoder.model=hash", "--index"]
    plain = finray("index", folder, *options, tmp_path / "a")
    assert plain.code == 1
    tolerant = finray("index", folder, *options, tmp_path / "b", "--exit-zero")
    assert tolerant.code == 0
    assert "failed: " in tolerant.out
    # Nothing but failures: the job itself is at fault, or the rights that it was given.
    broken = tmp_path / "broken"
    broken.mkdir()
    for name in ("one.pdf", "two.pdf"):
        (broken / name).write_bytes(b"no PDF, " + name.encode())
    assert finray("index", broken, *options, tmp_path / "c", "--exit-zero").code == 1
    assert finray("index", tmp_path / "gone", *options, tmp_path / "d", "--exit-zero").code == 2
