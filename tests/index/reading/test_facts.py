"""What is kept of filings between questions: never out of date, and within its bytes."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import pytest

from finray.answering.cells.filing_cells import FilingCells
from finray.core.filing import LineItem, Page
from finray.core.settings import Settings
from finray.index.reading.facts import FilingFacts, kept_with
from finray.index.reading.reader import IndexReader
from finray.question.companies.catalog import CompanyCatalog
from finray.retrieval.filing_pages import PageCache
from tests.index.made_up_filings import bundle, write


@pytest.fixture
def index_uri(tmp_path: Path) -> str:
    return str(tmp_path / "index")


def _facts(uri: str, cache_bytes: int = 1_000_000) -> FilingFacts:
    reader = IndexReader.open(uri)
    return FilingFacts(reader, CompanyCatalog(reader.filings()), cache_bytes)


def _revenue(facts: FilingFacts) -> float:
    cells = kept_with(facts.line_items(["f1"])["f1"], FilingCells)
    return cells.items[0].value


def _words(pages: PageCache) -> str:
    (filing,) = pages.filings(["f1"])
    return filing.text(0).text


def test_what_is_kept_belongs_to_one_version_of_the_index(index_uri: str, settings: Settings) -> None:
    write(index_uri, settings, [bundle("f1", "old words", revenue=5e6)])
    facts, pages = _facts(index_uri), PageCache(IndexReader.open(index_uri))
    assert (_revenue(facts), _words(pages)) == (5e6, "old words page 0")
    write(index_uri, settings, [bundle("f1", "new words", revenue=7e6)])
    assert (_revenue(facts), _words(pages)) == (5e6, "old words page 0")
    assert (_revenue(_facts(index_uri)), _words(PageCache(IndexReader.open(index_uri)))) == (7e6, "new words page 0")


def test_a_filing_is_read_and_prepared_once_while_there_is_room(
    index_uri: str, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(index_uri, settings, [bundle("f1", "some words"), bundle("f2", "other words")])
    reads: list[str] = []
    read = IndexReader.line_items

    def counted(self: IndexReader, filing_ids: Collection[str] | None) -> dict[str, tuple[LineItem, ...]]:
        reads.extend(filing_ids or ())
        return read(self, filing_ids)

    monkeypatch.setattr(IndexReader, "line_items", counted)
    roomy, full = _facts(index_uri), _facts(index_uri, cache_bytes=1)
    for facts, expected in ((roomy, ["f1", "f2"]), (full, ["f1", "f2", "f1", "f2"])):
        reads.clear()
        for filing_id in ("f1", "f1", "f2", "f1", "f2"):
            facts.line_items([filing_id])
        assert reads == expected
    items = roomy.line_items(["f1"])["f1"]
    assert kept_with(items, FilingCells) is kept_with(roomy.line_items(["f1"])["f1"], FilingCells)


def test_pages_are_the_same_from_a_full_cache(index_uri: str, settings: Settings) -> None:
    write(index_uri, settings, [bundle("f1", "some words", n_pages=4), bundle("f2", "other words")])
    full = PageCache(IndexReader.open(index_uri), cache_bytes=1)
    for ids in (["f2", "f1"], ["f1"], ["f2"], ["f1", "f2", "f1"]):
        found = full.filings(ids)
        assert [filing.filing_id for filing in found] == sorted(set(ids))
        texts = {filing.filing_id: [filing.text(at).text for at in range(len(filing.pages))] for filing in found}
        for filing_id, words, count in (("f1", "some words", 4), ("f2", "other words", 3)):
            if filing_id in texts:
                assert texts[filing_id] == [f"{words} page {number}" for number in range(count)]


def test_a_page_is_read_once(index_uri: str, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    write(index_uri, settings, [bundle("f1", "some words", n_pages=2)])
    reads: list[tuple[str, int]] = []
    read = IndexReader.pages_at

    def counted(self: IndexReader, pages: Collection[tuple[str, int]]) -> dict[tuple[str, int], Page]:
        reads.extend(pages)
        return read(self, pages)

    monkeypatch.setattr(IndexReader, "pages_at", counted)
    facts = _facts(index_uri)
    first = facts.pages([("f1", 0)])
    both = facts.pages([("f1", 0), ("f1", 1), ("f1", 9)])
    assert both[("f1", 0)] == first[("f1", 0)]
    assert set(both) == {("f1", 0), ("f1", 1)}
    assert reads == [("f1", 0), ("f1", 1), ("f1", 9)]
    assert [page.page for page in facts.indexed_pages([("f1", 1), ("f1", 0)])] == [1, 0]
    assert len(reads) == 3
