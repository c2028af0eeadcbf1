"""From the raw store into the index: what is new is added, what EDGAR deleted is withdrawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

import pytest

from finray.core.settings import Settings
from finray.edgar import indexing
from finray.edgar.indexing import Backlog, IndexOutcome, index_backlog
from finray.edgar.store import RawStore
from finray.index import layout, schema
from finray.index.job.in_process import index_in_process
from finray.index.job.parser_process import ParserProcess
from finray.index.job.summary import IndexSummary
from finray.index.reading.reader import IndexReader
from finray.index.upkeep.check import check_index
from finray.index.writing.writer import IndexWriter, RunUpkeep, here
from finray.lab.sample.edgar import Submission
from finray.storage.s3 import s3_filesystem
from tests.edgar.syncer import Syncer

T = TypeVar("T")
Republish = Callable[[list[Submission]], None]


def backlog(sync: Syncer, index: str) -> Backlog:
    return index_backlog(sync.ledger, RawStore(sync.raw), index)


def bring_up_to_date(
    sync: Syncer, index: str, settings: Settings, parser: ParserProcess, upkeep: RunUpkeep = here
) -> IndexOutcome:
    def index_new(sources: Sequence[str]) -> IndexSummary:
        return index_in_process(sources, index, settings, parser=parser)

    store = RawStore(sync.raw)
    outcome = indexing.bring_up_to_date(sync.ledger, store, index, settings, index_new, upkeep)
    assert outcome.summary is None or outcome.summary.failed == 0
    return outcome


def test_upkeep_after_a_deletion_goes_to_the_workers(
    sync: Syncer,
    republish: Republish,
    submissions: list[Submission],
    local_settings: Settings,
    parser: ParserProcess,
    tmp_path_str: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    index = f"{tmp_path_str}/index"
    republish(submissions[:5])
    sync()
    bring_up_to_date(sync, index, local_settings, parser)
    republish(submissions[1:5])
    sync(recheck=True)
    runs: list[RunUpkeep] = []
    finish = IndexWriter.finish

    def noting(writer: IndexWriter, run: RunUpkeep = here) -> None:
        runs.append(run)
        finish(writer, run)

    monkeypatch.setattr(IndexWriter, "finish", noting)

    def on_workers(upkeep: Callable[[], object]) -> None:
        here(upkeep)

    outcome = bring_up_to_date(sync, index, local_settings, parser, on_workers)
    assert (outcome.withdrawn, outcome.summary, runs) == (1, None, [on_workers])


def indexed(index: str) -> set[str]:
    return {filing.filing_id for filing in IndexReader.open(index).filings()}


def test_the_index_follows_the_raw_store(
    sync: Syncer,
    republish: Republish,
    submissions: list[Submission],
    local_settings: Settings,
    parser: ParserProcess,
    tmp_path_str: str,
) -> None:
    index = f"{tmp_path_str}/index"
    some = submissions[:5]
    republish(some)
    sync()
    assert len(backlog(sync, index).new) == 5
    bring_up_to_date(sync, index, local_settings, parser)
    assert indexed(index) == {submission.accession for submission in some}
    assert backlog(sync, index) == Backlog()

    # One is deleted, one is corrected, one is new.
    corrected = replace(some[1], form="10-KT", content=some[1].content.replace(b"Ohio", b"Iowa") + b"\n")
    republish([corrected, *some[2:], submissions[5]])
    sync(forms="10-K,10-Q,8-K,10-KT", recheck=True)
    work = backlog(sync, index)
    assert [len(work.new), len(work.deleted)] == [2, 1]
    bring_up_to_date(sync, index, local_settings, parser)
    assert indexed(index) == {submission.accession for submission in submissions[1:6]}
    assert backlog(sync, index) == Backlog()
    gone = some[0].accession
    for table in (*schema.CHILDREN, schema.FILINGS):
        assert layout.open_table(index, table).count_rows(f"filing_id = '{gone}'") == 0
    assert layout.open_table(index, schema.SOURCES).count_rows(f"source_uri LIKE '%{gone}%'") == 0

    # A filing that was committed, but not noted before a kill, is noted.
    layout.open_table(index, schema.SOURCES).delete(f"filing_id = '{submissions[5].accession}'")
    assert len(backlog(sync, index).new) == 1
    bring_up_to_date(sync, index, local_settings, parser)
    assert check_index(index) == []

    # What EDGAR lists again comes back.
    republish([some[0], corrected, *some[2:], submissions[5]])
    sync(forms="10-K,10-Q,8-K,10-KT", recheck=True)
    bring_up_to_date(sync, index, local_settings, parser)
    assert gone in indexed(index)


def test_a_filing_that_cannot_be_parsed_is_not_indexed_again(
    sync: Syncer,
    republish: Republish,
    submissions: list[Submission],
    local_settings: Settings,
    parser: ParserProcess,
    tmp_path_str: str,
) -> None:
    index = f"{tmp_path_str}/index"
    start = submissions[0].content.index(b"<TEXT>")
    empty = replace(submissions[0], content=submissions[0].content[:start] + b"</DOCUMENT>\n</SEC-DOCUMENT>\n")
    republish([empty])
    assert sync().fetched == 1
    work = backlog(sync, index)
    assert index_in_process(work.new, index, local_settings, parser=parser).failed == 1
    assert backlog(sync, index) == Backlog()


@pytest.mark.slow
def test_everything_on_s3(
    sync: Syncer,
    submissions: list[Submission],
    local_settings: Settings,
    parser: ParserProcess,
    s3: str,
    tmp_path_str: str,
) -> None:
    on_s3 = Syncer(f"{s3}/raw", sync.settings.model_copy(update={"scratch": f"{tmp_path_str}/scratch"}))
    since = sorted(submission.filed_at for submission in submissions)[-3]
    assert on_s3(since=since).fetched == 3
    assert on_s3(since=since).fetched == 0
    index = f"{s3}/index"
    bring_up_to_date(on_s3, index, local_settings, parser)
    assert len(indexed(index)) == 3
    assert backlog(on_s3, index) == Backlog()
    names = s3_filesystem().find(f"{s3}/raw/filings")
    assert len([name for name in names if name.endswith(".txt")]) == 3


@pytest.fixture(scope="module")
def parser(local_settings: Settings) -> Iterator[ParserProcess]:
    """One for all tests: each takes seconds to start."""
    process = ParserProcess(local_settings.filings, local_settings.chunks)
    yield process
    process.close()


@pytest.fixture
def tmp_path_str(tmp_path: object) -> str:
    return str(tmp_path)
