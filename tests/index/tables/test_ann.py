"""The approximate vector index has the recall of exact search, and is retrained and reported if it loses it."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from finray.cli.maintain import described
from finray.core.errors import UsageError
from finray.core.settings import Settings
from finray.index import schema
from finray.index.job.summary import IndexProgress
from finray.index.reading.reader import IndexReader
from finray.index.tables import ann
from finray.index.upkeep import maintain as upkeep
from finray.index.upkeep.check import check_index
from tests.index.conftest import Index
from tests.index.vector_index import Vectors, add_filing, add_filings, clustered, create_index
from tools.faults.contents import differences, read_contents

ROWS = 40_000


@pytest.fixture
def small(settings: Settings) -> Settings:
    """Approximate from 5,000 vectors on."""
    return settings.model_copy(update={"index": settings.index.model_copy(update={"ann_rows": 5_000})})


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory, settings: Settings) -> Path:
    """An index of one filing with ``ROWS`` vectors, to be copied."""
    folder = tmp_path_factory.mktemp("vectors") / "index"
    create_index(str(folder), settings)
    add_filing(str(folder), "f1", clustered(ROWS, 1))
    return folder


@pytest.fixture
def uri(tmp_path: Path, stored: Path) -> str:
    return str(shutil.copytree(stored, tmp_path / "index"))


def maintain(uri: str, settings: Settings) -> ann.AnnReport | None:
    """The report on the chunks."""
    reports = {report.table: report for report in upkeep.maintain(uri, settings).ann}
    return reports.get(schema.CHUNKS)


def recall(uri: str, queries: Vectors) -> float:
    """Recall@10 of the reader's search against exact search, for queries that are not stored."""
    reader = IndexReader.open(uri)
    ids = [filing.filing_id for filing in reader.filings()]
    shares = []
    for query in queries:
        found, exact = (reader.search_chunks_vector(query, which, 10)["score"].to_pylist() for which in (None, ids))
        shares.append(sum(score >= exact[-1] - 1e-6 for score in found) / 10)
    return float(np.mean(shares))


def test_it_is_built_past_the_set_size_and_has_the_recall(uri: str, small: Settings) -> None:
    report = maintain(uri, small)
    assert report is not None
    assert (report.done, report.rows) == ("built", ROWS)
    assert 0.95 <= report.low <= report.recall <= report.high <= 1
    assert report.queries == 100
    assert report.probes < report.partitions, "or it would be exact search by another name"
    assert IndexReader.open(uri).approximate("chunks")
    assert recall(uri, clustered(50, 7)) >= 0.93
    again = maintain(uri, small)
    assert again is not None
    assert (again.done, again.recall) == ("kept", report.recall)


@pytest.mark.slow
def test_a_table_that_has_doubled_keeps_its_recall_and_readers_their_version(uri: str, small: Settings) -> None:
    maintain(uri, small)
    before = IndexReader.open(uri)
    query = clustered(1, 9)[0]
    expected = before.search_chunks_vector(query, None, 10)
    add_filing(uri, "f2", clustered(ROWS - 100, 2, world=1))
    doubled = maintain(uri, small)
    assert doubled is not None
    assert doubled.rows == 2 * ROWS - 100
    assert doubled.recall >= 0.95
    assert before.search_chunks_vector(query, None, 10).equals(expected)
    assert recall(uri, clustered(50, 7, world=1)) >= 0.93


@pytest.mark.slow
def test_recall_below_the_floor_has_it_trained_anew_and_then_dropped(
    uri: str, small: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    maintain(uri, small)
    monkeypatch.setattr(ann, "_SHARE", 100)
    monkeypatch.setattr(ann, "_LEAST_PROBES", 1)
    assert recall(uri, clustered(50, 7)) < 0.9
    report = maintain(uri, small)
    assert report is not None
    assert report.done == "dropped"
    assert report.recall < 0.95
    now = upkeep.index_statistics(uri)
    assert "was dropped for its recall@10 0." in described(upkeep.Upkeep(now, now, 1.0, (report,)))
    assert not IndexReader.open(uri).approximate("chunks")
    assert recall(uri, clustered(50, 7)) == 1.0


def test_small_tables_are_searched_exactly(uri: str, settings: Settings, small: Settings) -> None:
    assert maintain(uri, settings) is None
    assert not IndexReader.open(uri).approximate("chunks")
    maintain(uri, small)
    dropped = maintain(uri, settings)
    assert dropped is not None
    assert dropped.done == "dropped"
    assert not IndexReader.open(uri).approximate("chunks")
    assert "vector search: exact" in described(upkeep.maintain(uri, settings))
    text = described(upkeep.maintain(uri, small))
    assert "vector search in chunks: recall@10" in text
    assert "recall@10 0.9" in text or "recall@10 1.0" in text


@pytest.mark.slow
def test_pages_and_covers_have_one_too_past_a_size_of_their_own(tmp_path: Path, settings: Settings) -> None:
    """Their index is quantized: hits are scored anew, so that the scores are exact and the recall reaches the floor."""
    uri = str(tmp_path / "index")
    create_index(uri, settings)
    rows = 8_000
    vectors = clustered(rows, 1)
    vectors[:200] = 0  # without text
    add_filings(uri, vectors)
    some = settings.model_copy(update={"index": settings.index.model_copy(update={"ann_pages": 5_000})})
    assert upkeep.maintain(uri, settings).ann == ()
    reports = {report.table: report for report in upkeep.maintain(uri, some).ann}
    assert reports.keys() == {"pages", "filings"}
    reader = IndexReader.open(uri)
    assert not reader.approximate("chunks")
    searches: list[tuple[Literal["filings", "pages"], Callable[..., Any]]] = [
        ("filings", reader.search_covers_vector),
        ("pages", partial(reader.search_pages_vector, filing_ids=None)),
    ]
    for name, search in searches:
        report = reports[name]
        assert (report.done, report.rows) == ("built", rows)
        assert 0.95 <= report.recall <= 1
        assert report.queries in range(90, 100)
        assert reader.approximate(name)
        shares = []
        for query in clustered(50, 7):
            found, exact = search(vector=query, limit=10), np.sort(vectors @ query)[::-1][:10]
            shares.append(np.mean(np.asarray(found["score"]) >= exact[-1] - 1e-6))
            numbers = [int(filing_id[1:]) for filing_id in found["filing_id"].to_pylist()]
            assert np.allclose(found["score"], vectors[numbers] @ query, atol=1e-5)
        assert np.mean(shares) >= 0.93
    assert [check.kind for check in check_index(uri)] == []
    again = {report.table: report.done for report in upkeep.maintain(uri, some).ann}
    assert again == {"pages": "kept", "filings": "kept"}
    assert {report.done for report in upkeep.maintain(uri, settings).ann} == {"dropped"}


@pytest.mark.slow
def test_maintenance_beside_readers_and_an_index_job(
    sample_filings: Path, index: Index, settings: Settings, tmp_path: Path
) -> None:
    """The job reports that it was overtaken, readers see whole filings, and a rerun gives what a quiet run gives."""
    some = settings.model_copy(
        update={
            "index": settings.index.model_copy(
                update={"ann_rows": 20, "ann_pages": 5, "write_rows": 5, "ann_recall": 0.9}
            )
        }
    )
    files = sorted(sample_filings.iterdir())
    quiet, uri = str(tmp_path / "quiet"), str(tmp_path / "index")
    index(files, quiet)
    index(files[:4], uri)
    expected, wrong, done = read_contents(quiet), [], threading.Event()
    wanted = sum(expected[schema.CHUNKS].values())

    def read() -> None:
        while not done.is_set():
            reader = IndexReader.open(uri)
            rows = reader.chunks(None, ["filing_id"]).num_rows
            if rows != sum(reader.row_counts("chunks").values()) or rows > wanted:
                wrong.append(rows)

    def maintain_in_the_middle(progress: IndexProgress) -> None:
        if progress.done == 2:
            upkeep.maintain(uri, some)

    reading = threading.Thread(target=read)
    reading.start()
    try:
        with pytest.raises(UsageError, match="taken over"):
            index(files, uri, progress=maintain_in_the_middle)
        index(files, uri)
        upkeep.maintain(uri, some)
    finally:
        done.set()
        reading.join(30)
    assert wrong == []
    assert check_index(uri, deep=True) == []
    assert differences(expected, read_contents(uri)) == []
