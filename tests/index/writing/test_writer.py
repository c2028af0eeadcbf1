"""The committer: what readers see while it works, and what is left when it is killed between any two steps."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import lance
import lance.fragment
import numpy as np
import pytest
from lancedb.db import LanceDBConnection
from lancedb.table import LanceTable

from finray.core.errors import FilingError, UsageError
from finray.core.settings import Settings
from finray.index import layout, schema
from finray.index.reading.reader import IndexReader
from finray.index.tables import maintenance
from finray.index.upkeep.check import check_index
from finray.index.upkeep.maintain import maintain
from finray.index.writing import plan, writer
from finray.index.writing.fragments import write_filings
from finray.index.writing.plan import PlannedFile, content_fingerprint
from finray.index.writing.writer import IndexWriter
from finray.storage import lance_commit
from finray.storage.locations import SourceFile
from tests.index.made_up_filings import ENCODER, MODIFIED, add, bundle, write
from tools.faults.contents import Contents, read_contents


@pytest.fixture
def index_uri(tmp_path: Path) -> str:
    return str(tmp_path / "index")


@dataclass(frozen=True)
class OneFile:
    """A run over one file that fails or ``works``: the index ``before`` it, none if it fails, and what is in it
    ``after``."""

    works: bool
    before: str
    after: Contents


class Killed(BaseException):
    """Stands for kill -9: nothing below catches it."""


def killed_after(monkeypatch: pytest.MonkeyPatch, steps: int) -> None:
    """Let ``steps`` writes to any table happen, then kill."""
    left = steps

    def counted(function: Callable[..., Any]) -> Callable[..., Any]:
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            nonlocal left
            if left == 0:
                raise Killed
            left -= 1
            return function(*args, **kwargs)

        return wrapper

    monkeypatch.setattr(lance.fragment, "write_fragments", counted(lance.fragment.write_fragments))
    monkeypatch.setattr(lance.LanceDataset, "commit", staticmethod(counted(lance.LanceDataset.commit)))
    monkeypatch.setattr(lance.LanceDataset, "update_config", counted(lance.LanceDataset.update_config))
    monkeypatch.setattr(LanceDBConnection, "create_table", counted(LanceDBConnection.create_table))
    for name in ("delete", "merge_insert", "optimize", "create_index"):
        monkeypatch.setattr(LanceTable, name, counted(getattr(LanceTable, name)))


@pytest.fixture(scope="module")
def undisturbed(settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Contents:
    """What is in an index of the filings NEW."""
    uri = str(tmp_path_factory.mktemp("undisturbed"))
    write(uri, settings, NEW)
    return read_contents(uri)


OLD = [bundle("f1", "old words"), bundle("f2", "same words")]
NEW = [bundle("f1", "new words", 5), bundle("f2", "same words"), bundle("f3", "more words")]
STEPS = [0, 5, 8, *range(12, 26), *range(40, 58)]


@pytest.mark.parametrize("steps", [pytest.param(n, marks=() if n % 4 == 0 else pytest.mark.slow) for n in STEPS])
def test_killed_between_any_two_steps_and_run_again_ends_with_the_same_rows(
    index_uri: str,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    steps: int,
    undisturbed: Contents,
) -> None:
    with monkeypatch.context() as patch:
        killed_after(patch, steps)
        try:
            write(index_uri, settings, OLD)
            write(index_uri, settings, NEW)
        except Killed:
            pass
    if Path(index_uri, "index.json").exists():
        reader = IndexReader.open(index_uri)
        for filing in reader.filings():
            texts = reader.pages([filing.filing_id])["text"].to_pylist()
            revisions = {text.split(" page")[0] for text in texts}
            assert len(revisions) == 1 and len(texts) in (3, 5), "a reader sees a filing whole or not at all"
        assert reader.pages(None).num_rows == sum(reader.pages([f.filing_id]).num_rows for f in reader.filings())
    write(index_uri, settings, NEW)
    assert read_contents(index_uri) == undisturbed


SOME, FINE = bundle("f1", "some words")


def run_over_one_file(uri: str, settings: Settings, *, works: bool) -> None:
    """Index the file SOME, which fails or ``works``."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan, "_fingerprint", lambda file: SOME.fingerprint)
        writer = IndexWriter(uri, settings, ENCODER.dimension)
        if writer.plan([SOME.file], retry_failed=works).todo:
            if works:
                add(writer, (SOME, FINE))
            else:
                digest = SOME.fingerprint.removeprefix("sha256:")
                writer.fail(SOME, digest, FilingError("parse", "corrupt_pdf", "cut short"))
        writer.finish()


@pytest.fixture(scope="module", params=[False, True], ids=["failed", "fixed"])
def one_file(request: pytest.FixtureRequest, settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> OneFile:
    works: bool = request.param
    folder = tmp_path_factory.mktemp("one-file")
    before, fresh = str(folder / "before"), str(folder / "fresh")
    if works:
        run_over_one_file(before, settings, works=False)
    run_over_one_file(fresh, settings, works=works)
    return OneFile(works, before, read_contents(fresh))


@pytest.mark.parametrize("steps", range(16))
def test_killed_while_a_failure_is_noted_or_cleared_and_run_again_ends_with_the_same_rows(
    index_uri: str, settings: Settings, steps: int, one_file: OneFile
) -> None:
    if one_file.works:
        shutil.copytree(one_file.before, index_uri)
    with pytest.MonkeyPatch.context() as patch:
        killed_after(patch, steps)
        with suppress(Killed):
            run_over_one_file(index_uri, settings, works=one_file.works)
    run_over_one_file(index_uri, settings, works=one_file.works)
    assert read_contents(index_uri) == one_file.after


def test_an_open_reader_keeps_its_version(index_uri: str, settings: Settings) -> None:
    write(index_uri, settings, [bundle("f1", "old words")])
    reader = IndexReader.open(index_uri)
    write(index_uri, settings, [bundle("f1", "new words"), bundle("f2", "more words")])
    assert {text.split(" page")[0] for text in reader.chunks(None)["text"].to_pylist()} == {"old words"}
    assert [filing.filing_id for filing in reader.filings()] == ["f1"]
    assert reader.search_chunks_text("new", None, 5).num_rows == 0


def test_rows_that_are_not_committed_are_never_found(index_uri: str, settings: Settings) -> None:
    write(index_uri, settings, [bundle("f1", "committed words")])
    for made in (bundle("f1", "replacing words")[1], bundle("f9", "orphan words")[1]):
        for name in schema.CHILDREN:
            rows = getattr(made, name).cast(schema.table_schemas(ENCODER.dimension)[name])
            lance.write_dataset(rows, layout.table_uri(index_uri, name), mode="append")
    reader = IndexReader.open(index_uri)
    query = ENCODER.encode_query("orphan words")
    for ids in (None, ["f1", "f9"], ["f9"]):
        expected = 0 if ids == ["f9"] else 3
        assert reader.pages(ids).num_rows == expected
        assert reader.search_chunks_text("words", ids, 50).num_rows == expected
        assert reader.search_pages_text("words", ids, 50).num_rows == expected
        assert reader.search_chunks_vector(query, ids, 50).num_rows == expected
        assert reader.search_pages_vector(query, ids, 50).num_rows == expected
    assert sum(len(items) for items in reader.line_items(None).values()) == 1
    maintenance.sweep(index_uri)
    assert layout.open_table(index_uri, schema.CHUNKS).count_rows() == 3


def test_a_filing_that_lost_rows_is_indexed_again(index_uri: str, settings: Settings) -> None:
    filings = [bundle("f1", "some words"), bundle("f2", "other words")]
    write(index_uri, settings, filings)
    whole = read_contents(index_uri)
    layout.open_table(index_uri, schema.PAGES).delete("filing_id = 'f2' AND page = 1")
    write(index_uri, settings, filings)
    assert read_contents(index_uri) == whole


def test_a_second_writer_takes_over_and_the_first_stops(index_uri: str, settings: Settings) -> None:
    first = IndexWriter(index_uri, settings, ENCODER.dimension)
    add(first, bundle("f1", "some words"))
    second = IndexWriter(index_uri, settings, ENCODER.dimension)
    with pytest.raises(UsageError, match="another index job has taken over"):
        first.flush()
    add(second, bundle("f2", "other words"))
    second.finish()
    assert [filing.filing_id for filing in IndexReader.open(index_uri).filings()] == ["f2"]


def test_batches_are_committed_by_rows(index_uri: str, settings: Settings) -> None:
    small = settings.model_copy(update={"index": settings.index.model_copy(update={"write_rows": 6})})
    writer = IndexWriter(index_uri, small, ENCODER.dimension)
    for number in range(3):
        add(writer, bundle(f"f{number}", "some words"))
    assert len(IndexReader.open(index_uri).filings()) == 2
    writer.finish()
    assert len(IndexReader.open(index_uri).filings()) == 3


def test_finished_tables_are_compact_and_fully_indexed(index_uri: str, settings: Settings) -> None:
    small = settings.model_copy(update={"index": settings.index.model_copy(update={"write_rows": 1})})
    write(index_uri, small, [bundle(f"f{number}", "some words") for number in range(8)])
    write(index_uri, small, [bundle(f"g{number}", "some words") for number in range(8)])
    for name in (schema.CHUNKS, schema.PAGES):
        table = layout.open_table(index_uri, name)
        assert len(table.get_fragments()) <= 4
        assert {index.name for index in table.describe_indices()} == {"filing_id_idx", "text_idx"}
        for index in ("filing_id_idx", "text_idx"):
            assert table.stats.index_stats(index)["num_unindexed_rows"] == 0


def test_every_key_of_an_upsert_or_delete_has_a_b_tree(index_uri: str, settings: Settings) -> None:
    def uncovered() -> dict[str, int]:
        """Rows that the B-tree of each table does not cover."""
        behind = {}
        for name in schema.table_schemas(1):
            key = "source_uri" if name in (schema.SOURCES, schema.FAILURES) else "filing_id"
            table = layout.open_table(index_uri, name)
            (index,) = (index for index in table.describe_indices() if index.field_names == [key])
            assert index.index_type == "BTree"
            behind[name] = table.stats.index_stats(index.name)["num_unindexed_rows"]
        return behind

    first = [bundle(f"f{number}", f"sales {number}", 2) for number in range(6)]
    write(index_uri, settings, first, failing=["bad1", "bad2"])
    assert set(uncovered().values()) == {0}
    # Upserts and deletes by way of the B-trees: rows of an older write, of this one, and of none.
    changed = [bundle("f1", "revenue 1", 3), bundle("f7", "sales 7", 1)]
    write(index_uri, settings, changed, failing=["bad2", "bad3"])
    write(index_uri, settings, [bundle("f1", "income 1", 1)])
    assert set(uncovered().values()) == {0}
    reader = IndexReader.open(index_uri)
    expected = {f"f{number}": 2 for number in range(6)} | {"f1": 1, "f7": 1}
    assert reader.row_counts("chunks") == expected
    assert Counter(reader.chunks(None, ["filing_id"])["filing_id"].to_pylist()) == expected
    failures = layout.read_table(index_uri, schema.FAILURES)["source_uri"].to_pylist()
    assert len(failures) == len(set(failures)) == 3
    assert check_index(index_uri, deep=True) == []


def test_an_index_past_the_set_size_gets_an_approximate_index_with_good_recall(
    index_uri: str, settings: Settings
) -> None:
    some = settings.model_copy(update={"index": settings.index.model_copy(update={"ann_rows": 500})})
    random = np.random.default_rng(0)
    words = [f"w{number}" for number in range(400)]
    filings = [bundle(f"f{n}", " ".join(random.choice(words, 6)), 10) for n in range(100)]
    write(index_uri, some, filings)
    reader = IndexReader.open(index_uri)
    assert reader.approximate("chunks")
    ids = [filing.filing_id for filing in reader.filings()]
    recalls = []
    for _ in range(20):
        query = ENCODER.encode_query(" ".join(random.choice(words, 4)))
        found, exact = (reader.search_chunks_vector(query, which, 10) for which in (None, ids))
        best = exact["score"].to_pylist()[-1]
        recalls.append(sum(score >= best - 1e-6 for score in found["score"].to_pylist()) / exact.num_rows)
    assert np.mean(recalls) >= 0.95


@pytest.mark.parametrize("step", ["_write_children", "_commit_filings"])
def test_a_writer_that_is_overtaken_in_the_middle_of_a_commit_leaves_nothing_of_it(
    index_uri: str,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    step: str,
    tmp_path: Path,
) -> None:
    write(index_uri, settings, [bundle("f1", "old words")])
    new = [bundle("f1", "new words", 5), bundle("f2", "more words")]
    original = getattr(IndexWriter, step)

    def overtaken(self: IndexWriter, *args: Any) -> None:
        if step == "_write_children":  # its rows are written, and do not count yet
            original(self, *args)
        monkeypatch.undo()
        write(index_uri, settings, new)
        if step != "_write_children":
            original(self, *args)

    monkeypatch.setattr(IndexWriter, step, overtaken)
    with pytest.raises(UsageError, match="taken over"):
        write(index_uri, settings, new)
    write(str(tmp_path / "fresh"), settings, new)
    assert read_contents(index_uri) == read_contents(str(tmp_path / "fresh"))
    assert check_index(index_uri, deep=True) == []


def test_of_two_writers_that_claim_an_index_in_the_same_moment_one_stops_as_overtaken(
    index_uri: str, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(index_uri, settings, [bundle("f1", "old words")])
    claim = writer.claim

    def claim_too_late(uri: str) -> str:
        """Another claim is committed between the opening of the table and ours."""
        layout.write_dataset(
            uri, schema.FILINGS, lambda table: (claim(uri), table.update_config({maintenance.CLAIM: "mine"}))
        )
        return "mine"

    monkeypatch.setattr(writer, "claim", claim_too_late)
    with pytest.raises(UsageError, match="taken over"):
        IndexWriter(index_uri, settings, ENCODER.dimension)
    assert check_index(index_uri, deep=True) == []


def data_files(uri: str) -> set[Path]:
    return {path for name in schema.CHILDREN for path in Path(layout.table_uri(uri, name), "data").iterdir()}


def test_files_of_a_killed_worker_are_never_visible_and_maintain_removes_them(
    index_uri: str, settings: Settings
) -> None:
    write(index_uri, settings, [bundle("f1", "some words")])
    before, files = read_contents(index_uri), data_files(index_uri)
    killed = IndexWriter(index_uri, settings, ENCODER.dimension)
    planned, made = bundle("f2", "orphan words")
    write_filings(killed.target, [(made, planned.file.modified)])  # and neither worker nor committer goes on
    assert len(data_files(index_uri) - files) == len(schema.CHILDREN)
    assert read_contents(index_uri) == before
    reader = IndexReader.open(index_uri)
    assert reader.search_chunks_text("orphan", None, 5).num_rows == 0
    maintain(index_uri, settings)
    assert data_files(index_uri) == files
    assert read_contents(index_uri) == before
    assert check_index(index_uri, deep=True) == []


def test_maintain_keeps_files_of_older_versions_for_open_readers(index_uri: str, settings: Settings) -> None:
    write(index_uri, settings, [bundle("f1", "old words")])
    reader = IndexReader.open(index_uri)
    write(index_uri, settings, [bundle("f1", "new words")])
    maintain(index_uri, settings)
    assert reader.chunks(None)["text"].to_pylist()[0].startswith("old words")


@pytest.mark.parametrize("moment", ["before the claim is checked", "before the files are checked", "at the commit"])
def test_a_writer_whose_files_maintain_removed_cannot_commit_them(
    index_uri: str, settings: Settings, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    write(index_uri, settings, [bundle("f1", "some words")])
    before = read_contents(index_uri)
    late = IndexWriter(index_uri, settings, ENCODER.dimension)
    add(late, bundle("f2", "late words"))

    def maintained_first(owner: Any, name: str) -> None:
        function = getattr(owner, name)

        def wrapper(*args: Any, **kwargs: Any) -> Any:
            monkeypatch.undo()
            maintain(index_uri, settings)
            return function(*args, **kwargs)

        monkeypatch.setattr(owner, name, staticmethod(wrapper) if owner is lance.LanceDataset else wrapper)

    if moment == "before the files are checked":
        maintained_first(lance_commit, "_check_files")
    elif moment == "at the commit":
        maintained_first(lance.LanceDataset, "commit")
    else:
        maintain(index_uri, settings)
    with pytest.raises(UsageError, match="taken over"):
        late.flush()
    assert read_contents(index_uri) == before
    assert check_index(index_uri, deep=True) == []


def test_of_two_contents_with_one_id_in_a_batch_only_the_winner_keeps_rows(
    index_uri: str, settings: Settings, tmp_path: Path
) -> None:
    winner, (_, other) = bundle("f1", "winning words", 5), bundle("f1", "losing words")
    loser = PlannedFile(SourceFile("/corpus/a.pdf", 1, MODIFIED), content_fingerprint(other.filing.content_sha256))
    filing = replace(other.filing, source_uri=loser.file.uri)
    write(index_uri, settings, [winner, (loser, replace(other, filing=filing)), bundle("f2", "more words")])
    assert layout.open_table(index_uri, schema.PAGES).count_rows() == 5 + 3
    assert check_index(index_uri, deep=True) == []


def test_the_same_content_written_twice_in_a_run_is_stored_once(index_uri: str, settings: Settings) -> None:
    """As of two S3 objects whose entity tags differ: their rows differ only in the name of the write."""
    writer = IndexWriter(index_uri, settings, ENCODER.dimension)
    add(writer, bundle("f1", "some words"))
    writer.flush()
    add(writer, bundle("f1", "some words"), bundle("f2", "other words"))
    writer.finish()
    assert layout.open_table(index_uri, schema.PAGES).count_rows() == 3 + 3
    assert [filing.filing_id for filing in IndexReader.open(index_uri).filings()] == ["f1", "f2"]
    maintenance.sweep(index_uri, thorough=True)
    assert layout.open_table(index_uri, schema.FILINGS).count_rows() == 2


def test_an_index_of_another_lance_gets_the_words_of_this_one(index_uri: str, settings: Settings) -> None:
    """Lance 13 and 14 leave out different words unless they are told which."""
    write(index_uri, settings, [bundle("f1", "not a series d bond")])
    told = layout.open_table(index_uri, schema.CHUNKS)
    told.create_scalar_index("text", "INVERTED", name="text_idx", with_position=False)  # as finray once did
    write(index_uri, settings, [bundle("f2", "not a series d share")])
    reader = IndexReader.open(index_uri)
    for query in ("not", "d"):
        assert set(reader.search_chunks_text(query, None, 10)["filing_id"].to_pylist()) == {"f1", "f2"}
    assert reader.search_chunks_text("a", None, 10).num_rows == 0
