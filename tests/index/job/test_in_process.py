"""The index job end to end, without Ray: what a user sees of indexing, changing and repeating."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from finray.core.errors import IndexMismatchError, SourceError
from finray.core.settings import Settings, load_settings
from finray.index import layout, schema
from finray.index.job import in_process
from finray.index.job.in_process import index_in_process
from finray.index.job.parser_process import ParserProcess
from finray.index.job.summary import IndexProgress, IndexSummary
from finray.index.reading.reader import IndexReader
from finray.lab.sample.broken import write_broken_files
from tools.faults.contents import read_contents

Index = Callable[..., IndexSummary]


@pytest.fixture
def index_uri(tmp_path: Path) -> str:
    return str(tmp_path / "index")


def newest(path: Path) -> None:
    """Make ``path`` younger than every other file of a test."""
    os.utime(path, (4e9, 4e9))


def a_report(corpus: Path) -> Path:
    return sorted(corpus.glob("*-10k.*"))[0]


def noted_failures(index_uri: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = layout.open_table(index_uri, schema.FAILURES).to_table().to_pylist()
    return rows


def test_every_file_becomes_a_filing_with_pages_and_chunks(
    corpus: Path, index_uri: str, index: Index, settings: Settings
) -> None:
    summary = index([corpus], index_uri)
    filings = IndexReader.open(index_uri, settings).filings()
    assert summary.indexed == summary.seen == len(list(corpus.iterdir())) == len(filings)
    assert summary.failed == 0
    assert {filing.doc_name for filing in filings} == {path.stem for path in corpus.iterdir()}
    assert summary.pages > summary.indexed
    assert summary.peak_rss_bytes > 0
    assert set(summary.stage_seconds) == {"read", "parse", "embed", "write", "commit", "upkeep"}


def test_the_same_input_again_is_no_work(corpus: Path, index_uri: str, index: Index) -> None:
    index([corpus], index_uri)
    before = read_contents(index_uri)
    summary = index([corpus], index_uri)
    assert (summary.indexed, summary.failed, summary.chunks) == (0, 0, 0)
    assert summary.skipped == {"unchanged": summary.seen}
    assert read_contents(index_uri) == before


def test_a_changed_file_replaces_its_rows_even_at_the_same_size(
    corpus: Path, index_uri: str, index: Index, tmp_path: Path
) -> None:
    index([corpus], index_uri)
    page = next(path for path in sorted(corpus.glob("*.htm")) if b" the " in path.read_bytes())
    before = page.stat()
    page.write_bytes(page.read_bytes().replace(b" the ", b" any "))
    os.utime(page, ns=(before.st_atime_ns, before.st_mtime_ns))
    summary = index([corpus], index_uri)
    assert (summary.indexed, summary.skipped) == (1, {"unchanged": summary.seen - 1})
    index([corpus], str(tmp_path / "fresh"))
    assert read_contents(index_uri) == read_contents(str(tmp_path / "fresh"))


def test_a_changed_pdf_without_accession_number_leaves_no_old_filing(
    corpus: Path, index_uri: str, index: Index, settings: Settings
) -> None:
    first, second = sorted(corpus.glob("*.pdf"))[:2]
    index([first], index_uri)
    shutil.copyfile(second, first)
    index([first], index_uri)
    filings = IndexReader.open(index_uri, settings).filings()
    assert [filing.source_uri for filing in filings] == [str(first)]


def test_one_content_under_two_names_is_one_filing_named_after_the_first(
    corpus: Path, index_uri: str, index: Index, settings: Settings
) -> None:
    report = a_report(corpus)
    copy = report.with_name("zz-copy" + report.suffix)
    shutil.copyfile(report, copy)
    summary = index([copy, report], index_uri)
    assert (summary.seen, summary.indexed, summary.skipped) == (2, 1, {"duplicate": 1})
    assert [f.doc_name for f in IndexReader.open(index_uri, settings).filings()] == [report.stem]
    again = index([copy, report], index_uri)
    assert again.skipped == {"unchanged": 2}


def test_a_copy_takes_over_when_the_first_file_changes(
    corpus: Path, index_uri: str, index: Index, settings: Settings
) -> None:
    one, other = sorted(corpus.glob("*.pdf"))[:2]
    first, copy = corpus / "aa.pdf", corpus / "bb.pdf"
    shutil.copyfile(one, first)
    shutil.copyfile(one, copy)
    index([first, copy], index_uri)
    shutil.copyfile(other, first)
    index([first, copy], index_uri)
    sources = {filing.source_uri for filing in IndexReader.open(index_uri, settings).filings()}
    assert sources == {str(first), str(copy)}
    assert index([first, copy], index_uri).skipped == {"unchanged": 2}


@pytest.mark.parametrize("newer", ["a.txt", "b.txt"])
def test_of_two_contents_with_one_accession_number_the_newer_file_stays(
    tmp_path: Path, index_uri: str, index: Index, settings: Settings, newer: str
) -> None:
    submission = (
        "<SEC-DOCUMENT>0000999999-24-000001.txt\n<SEC-HEADER>\nACCESSION NUMBER:\t0000999999-24-000001\n"
        "CONFORMED SUBMISSION TYPE:\t8-K\nCONFORMED PERIOD OF REPORT:\t20240102\nFILED AS OF DATE:\t20240103\n"
        "FILER:\n\tCOMPANY DATA:\n\t\tCOMPANY CONFORMED NAME:\tQUILLFERN CORP\n"
        "\t\tCENTRAL INDEX KEY:\t0000999999\n</SEC-HEADER>\n<DOCUMENT>\n<TYPE>8-K\n<TEXT>\n"
        "FORM 8-K\nCurrent Report\nQuillfern Corp\nThe board met and decided: {}.\n</TEXT>\n</DOCUMENT>\n"
        "</SEC-DOCUMENT>\n"
    )
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text(submission.format(f"what {name} says"))
    newest(tmp_path / newer)
    sources = [str(tmp_path / name) for name in ("a.txt", "b.txt")]
    summary = index(sources, index_uri)
    reader = IndexReader.open(index_uri, settings)
    assert [filing.doc_name for filing in reader.filings()] == [Path(newer).stem]
    assert f"what {newer} says" in reader.chunks(None)["text"][0].as_py()
    assert summary.seen == 2
    assert index(sources, index_uri).skipped == {"unchanged": 2}
    assert IndexReader.open(index_uri, settings).chunks(None).num_rows == reader.chunks(None).num_rows


def test_broken_files_become_rows_and_stop_nothing(corpus: Path, tmp_path: Path, index_uri: str, index: Index) -> None:
    expected = write_broken_files(tmp_path / "broken")
    summary = index([tmp_path / "broken", a_report(corpus)], index_uri)
    failures = {Path(row["source_uri"]).name: row for row in noted_failures(index_uri)}
    assert {name: (row["stage"], row["reason"]) for name, row in failures.items()} == {
        file.name: (file.stage, file.reason) for file in expected if file.reason is not None
    }
    assert all(row["detail"] and row["content_sha256"] for row in failures.values())
    assert summary.failed == len(failures)
    assert summary.indexed == 1 + sum(file.reason is None for file in expected)


def test_failed_files_are_left_alone_until_asked_for_or_changed(
    corpus: Path, tmp_path: Path, index_uri: str, index: Index
) -> None:
    bad = tmp_path / "report.htm"
    bad.write_bytes(b"")
    assert [failure.reason for failure in index([bad], index_uri).failures] == ["empty"]
    assert index([bad], index_uri).skipped == {"failed before": 1}
    assert index([bad], index_uri, retry_failed=True).failed == 1
    assert len(noted_failures(index_uri)) == 1
    shutil.copyfile(sorted(corpus.glob("*.htm"))[0], bad)
    assert index([bad], index_uri).indexed == 1
    assert noted_failures(index_uri) == []


def test_copies_of_a_broken_file_are_each_listed(tmp_path: Path, index_uri: str, index: Index) -> None:
    for name in ("a.pdf", "b.pdf"):
        (tmp_path / name).write_bytes(b"")
    summary = index([tmp_path / "*.pdf"], index_uri)
    assert [Path(failure.source_uri).name for failure in summary.failures] == ["a.pdf", "b.pdf"]


def test_an_unreadable_file_is_tried_again(
    corpus: Path, index_uri: str, index: Index, settings: Settings, tmp_path: Path
) -> None:
    link = tmp_path / "gone.pdf"
    shutil.copyfile(sorted(corpus.glob("*.pdf"))[0], link)
    too_small = settings.model_copy(update={"filings": settings.filings.model_copy(update={"max_bytes": 1})})
    (failure,) = index_in_process([str(link)], index_uri, too_small).failures
    assert failure.reason == "too_large"
    assert index([link], index_uri).indexed == 1


def test_progress_starts_at_nothing_and_ends_at_everything(corpus: Path, index_uri: str, index: Index) -> None:
    seen: list[IndexProgress] = []
    index([corpus], index_uri, progress=seen.append)
    total = len(list(corpus.iterdir()))
    assert [progress.done for progress in seen] == [*range(total + 1), total]
    assert seen[-1].chunks > 0


def test_a_source_that_is_not_there_makes_no_index(tmp_path: Path, index_uri: str, index: Index) -> None:
    with pytest.raises(SourceError, match="nothing at"):
        index([tmp_path / "none"], index_uri)
    assert not Path(index_uri).exists()


def test_an_index_is_extended_only_with_the_settings_it_was_built_with(
    corpus: Path, index_uri: str, index: Index
) -> None:
    index([a_report(corpus)], index_uri)
    other = load_settings(overrides={"encoder.model": "hash", "chunks.size": 512}, environment={})
    with pytest.raises(IndexMismatchError, match=r"chunks of 1024.*chunks of 512"):
        index_in_process([str(corpus)], index_uri, other)
    with pytest.raises(IndexMismatchError):
        IndexReader.open(index_uri, other)


@pytest.mark.slow
def test_several_parsers_give_the_rows_of_one(
    corpus: Path, index_uri: str, index: Index, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_broken_files(corpus)
    index([corpus], index_uri)
    monkeypatch.setattr(in_process, "_processors", lambda: 3)
    order: list[str] = []

    def report(progress: IndexProgress) -> None:
        order.append(progress.last_uri)

    summary = index_in_process([str(corpus)], str(tmp_path / "together"), settings, progress=report)
    assert read_contents(str(tmp_path / "together")) == read_contents(index_uri)
    assert summary.failed > 0
    done = [uri for uri in dict.fromkeys(order) if uri]
    assert done == sorted(done)


def test_an_error_that_ends_the_run_ends_its_parsers(
    corpus: Path, index_uri: str, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[ParserProcess] = []

    class Noted(ParserProcess):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            started.append(self)

    def stop(progress: IndexProgress) -> None:
        if progress.done:
            raise KeyboardInterrupt

    monkeypatch.setattr(in_process, "_processors", lambda: 2)
    monkeypatch.setattr(in_process, "ParserProcess", Noted)
    with pytest.raises(KeyboardInterrupt):
        index_in_process([str(corpus)], index_uri, settings, progress=stop)
    assert len(started) == 2
    assert all(parser.child is None for parser in started)


@pytest.mark.parametrize(
    ("changed", "files", "processors", "here"),
    [
        ({}, 100, 64, True),
        ({}, 101, 64, False),
        ({}, 10_000, 4, True),
        ({"encoder.model": "static"}, 1, 64, True),
        ({"encoder.model": "minilm", "encoder.backend": "onnx"}, 1_000, 4, True),
        ({"encoder.model": "minilm", "encoder.backend": "onnx"}, 1, 8, False),
        ({"encoder.model": "minilm", "encoder.backend": "torch"}, 1, 2, False),
        ({"index_job.embed_workers_max": 2}, 1, 2, False),
    ],
)
def test_what_is_small_is_done_without_ray(
    changed: dict[str, Any], files: int, processors: int, here: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(in_process, "_processors", lambda: processors)
    wanted = load_settings(overrides={"encoder.model": "hash"} | changed, environment={})
    run: Any = SimpleNamespace(settings=wanted, plan=SimpleNamespace(todo=range(files)))
    assert in_process.suits_this_process(run) is here
