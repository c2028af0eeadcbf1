"""The summary of `finray index` for filings that need review."""

from __future__ import annotations

import json
from dataclasses import asdict

from finray.cli.index import described
from finray.index.summary import IndexSummary, MarkedFiling

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


def test_a_machine_reads_the_same() -> None:
    marked = json.loads(json.dumps(asdict(SUMMARY)))["marked"]
    assert marked[0] == {
        "source_uri": "/in/a.pdf", "marks": ["unidentified", "ocr"], "unknown": ["company", "period"],
    }  # fmt: skip
