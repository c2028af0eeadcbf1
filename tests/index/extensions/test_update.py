"""Stored vectors beside the index: made once, brought up to date, checked when opened."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import lance
import numpy as np
import pyarrow as pa
import pytest

from finray.core.errors import IndexMismatchError, ModelUnavailableError
from finray.index.extensions import update
from finray.index.extensions.extension import Cost, Encode, Extension, FilingExtension, OfFiling
from finray.index.extensions.set_aside import Attempted, FailedFiling
from finray.index.extensions.store import location_of
from finray.index.extensions.table import extension_file, open_extension
from finray.index.extensions.update import extend_index
from finray.index.job.attempts import AttemptsHere
from finray.index.layout import table_uri
from finray.index.reading.reader import IndexReader
from finray.index.schema import vectors_array
from finray.models.hash_encoder import HashEncoder
from finray.storage.locations import write_bytes
from tests.index.conftest import Index

SEEN: list[int] = []


def encode(texts: Sequence[str]) -> Mapping[str, pa.Array]:
    SEEN.append(len(texts))
    return {"vector": vectors_array(HashEncoder().encode_passages(texts), 64)}


PAGES = Extension("page_scorer", "pages", {"model": "hash", "max_tokens": 256}, lambda: encode)
CHUNKS = replace(PAGES, name="splade", rows="chunks")


@pytest.fixture(scope="module")
def made(index: Index, sample_filings: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("index")
    index([sample_filings], str(folder))
    return folder


@pytest.fixture
def reader(made: Path, tmp_path: Path) -> IndexReader:
    """A reader of a copy of the index that the test may change."""
    SEEN.clear()
    return IndexReader.open(str(shutil.copytree(made, tmp_path / "index")))


@pytest.mark.parametrize("extension", [PAGES, CHUNKS], ids=["pages", "chunks"])
def test_every_page_or_chunk_gets_a_row(reader: IndexReader, extension: Extension) -> None:
    summary = extend_index(reader, extension)
    stored = open_extension(reader, extension).rows(["vector"])
    expected = reader.pages(None, ["filing_id", "page"]) if extension is PAGES else reader.chunks(None)
    assert stored.num_rows == expected.num_rows == summary.rows
    assert stored["filing_id"].to_pylist() == expected["filing_id"].to_pylist()
    assert stored["page"].to_pylist() == expected["page"].to_pylist()
    assert (summary.filings, summary.added, summary.removed) == (len(reader.filings()), summary.filings, 0)


def test_vector_search_agrees_with_numpy_and_keeps_to_the_filings_asked_for(reader: IndexReader) -> None:
    extend_index(reader, PAGES)
    table = open_extension(reader, PAGES)
    vector = HashEncoder().encode_query("total revenue")
    rows = table.rows(["vector"])
    vectors = np.asarray(rows["vector"].combine_chunks().flatten()).reshape(rows.num_rows, -1)
    found = table.search_vector(vector, None, 10)
    np.testing.assert_allclose(found["score"].to_numpy(), np.sort(vectors @ vector)[::-1][:10], atol=1e-5)
    one = reader.filings()[0].filing_id
    assert set(table.search_vector(vector, [one], 10)["filing_id"].to_pylist()) == {one}
    assert table.search_vector(vector, [], 10).num_rows == 0
    assert table.search_vector(vector, ["x' OR '1'='1"], 10).num_rows == 0


def test_a_second_run_does_nothing_and_loads_no_model(reader: IndexReader) -> None:
    extend_index(reader, PAGES)
    SEEN.clear()
    told: list[tuple[int, int]] = []
    summary = extend_index(reader, replace(PAGES, load=_never), progress=lambda *state: told.append(state))
    assert (summary.added, summary.removed, SEEN, told) == (0, 0, [], [])


def test_only_new_filings_are_encoded(index: Index, corpus: Path, tmp_path: Path) -> None:
    uri = str(tmp_path / "growing")
    held_back = sorted(corpus.iterdir())[0]
    content = held_back.read_bytes()
    held_back.unlink()
    index([corpus], uri)
    before = IndexReader.open(uri)
    extend_index(before, PAGES)
    SEEN.clear()
    held_back.write_bytes(content)
    index([corpus], uri)
    after = IndexReader.open(uri)
    missing = rf"lack 1 of {len(after.filings())} filings.*finray extend --index .* --with page_scorer"
    with pytest.raises(IndexMismatchError, match=missing):
        open_extension(after, PAGES)
    assert extend_index(after, PAGES).added == len(SEEN) == 1
    assert open_extension(after, PAGES).rows([]).num_rows == sum(after.row_counts("pages").values())
    table = lance.dataset(location_of(uri, "page_scorer.lance"))
    assert [index.field_names for index in table.describe_indices()] == [["filing_id"]]
    assert table.stats.index_stats("filing_id_idx")["num_unindexed_rows"] == 0
    # Whoever still has the smaller index open sees its filings alone.
    rows = open_extension(before, PAGES).rows([])
    assert set(rows["filing_id"].to_pylist()) == {f.filing_id for f in before.filings()}
    assert open_extension(before, PAGES).search_vector(HashEncoder().encode_query("x"), None, 9999).num_rows == (
        rows.num_rows
    )


def test_filings_that_are_gone_or_written_twice_are_put_right(reader: IndexReader) -> None:
    extend_index(reader, PAGES)
    uri = location_of(reader.uri, "page_scorer.lance")
    one = reader.filings()[0].filing_id
    rows = lance.dataset(uri).to_table(filter=f"filing_id = '{one}'")
    stranger = rows.set_column(rows.column_names.index("revision"), "revision", pa.array(["old"] * rows.num_rows))
    lance.write_dataset(pa.concat_tables([rows, stranger]), uri, mode="append")
    with pytest.raises(IndexMismatchError, match="lack 1 of"):
        open_extension(reader, PAGES)
    summary = extend_index(reader, PAGES)
    assert (summary.added, summary.removed) == (1, 2)
    assert lance.dataset(uri).count_rows() == summary.rows


def test_a_killed_run_continues(reader: IndexReader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(update, "_COMMIT_ROWS", 1)
    calls = 0

    def dies(texts: Sequence[str]) -> Mapping[str, pa.Array]:
        nonlocal calls
        calls += 1
        if calls == 4:
            raise KeyboardInterrupt
        return encode(texts)

    with pytest.raises(KeyboardInterrupt):
        extend_index(reader, replace(PAGES, load=lambda: dies))
    told: list[tuple[int, int]] = []
    summary = extend_index(reader, PAGES, progress=lambda *state: told.append(state))
    assert summary.added == len(reader.filings()) - 3
    assert told == [(done, summary.added) for done in range(1, summary.added + 1)]
    assert open_extension(reader, PAGES).rows([]).num_rows == summary.rows


def test_on_s3_as_in_a_folder(made: Path, s3: str) -> None:
    for path in made.rglob("*"):
        if path.is_file():
            write_bytes(f"{s3}/index/{path.relative_to(made)}", path.read_bytes())
    reader = IndexReader.open(f"{s3}/index")
    with pytest.raises(IndexMismatchError, match=f"finray extend --index {s3}/index --with page_scorer"):
        open_extension(reader, PAGES)
    assert extend_index(reader, PAGES).added == len(reader.filings())
    assert extend_index(reader, replace(PAGES, load=_never)).added == 0
    found = open_extension(reader, PAGES).search_vector(HashEncoder().encode_query("total revenue"), None, 5)
    assert found.num_rows == 5


def test_a_damaged_index_is_not_extended(reader: IndexReader) -> None:
    one = reader.filings()[0].filing_id
    uri = table_uri(reader.uri, "pages")
    rows = lance.dataset(uri).to_table(filter=f"filing_id = '{one}'")
    lance.write_dataset(rows, uri, mode="append")
    with pytest.raises(IndexMismatchError, match=f"damaged: filing {one} has {2 * rows.num_rows} pages"):
        extend_index(IndexReader.open(reader.uri), PAGES)


def test_without_the_extension_the_error_names_the_command(reader: IndexReader) -> None:
    with pytest.raises(IndexMismatchError, match=r"no 'splade' vectors.*finray extend --index .* --with splade"):
        open_extension(reader, CHUNKS)


def test_another_model_is_refused_until_a_rebuild(reader: IndexReader) -> None:
    extend_index(reader, PAGES)
    other = replace(PAGES, model={"model": "other", "max_tokens": 256})
    for use in (open_extension, extend_index):
        with pytest.raises(IndexMismatchError, match="--rebuild"):
            use(reader, other)
    summary = extend_index(reader, other, rebuild=True)
    assert summary.removed == summary.added == len(reader.filings())
    assert open_extension(reader, other).rows([]).num_rows == summary.rows


def test_one_row_a_filing_with_its_cost_and_files_made_once(reader: IndexReader) -> None:
    made: list[str] = []

    def load(opened: IndexReader) -> OfFiling:
        counts = opened.row_counts("pages")

        def build(filing_id: str) -> tuple[Mapping[str, pa.Array], Cost]:
            made.append(filing_id)
            return {"leaves": pa.array([counts[filing_id]])}, Cost(2.0, 1.0, counts[filing_id], 30, 3)

        return build

    trees = FilingExtension("fingear", {"depth": 2}, load, {"lexicon": lambda: b"terms" + str(len(made)).encode()})
    with pytest.raises(IndexMismatchError, match=r"no 'fingear' trees.*--with fingear"):
        open_extension(reader, trees)
    summary = extend_index(reader, trees)
    counts = reader.row_counts("pages")
    assert {filing_id: cost.nodes for filing_id, cost in summary.costs.items()} == counts
    assert summary.rows == summary.added == len(made) == len(counts)
    one = min(counts)
    table = open_extension(reader, trees)
    assert table.rows(["leaves"], [one]).to_pylist() == [{"filing_id": one, "leaves": counts[one]}]
    assert table.rows(["leaves"]).num_rows == len(counts) and table.rows(["leaves"], []).num_rows == 0
    assert extend_index(reader, trees).costs == {}
    assert extension_file(reader, trees, "lexicon") == b"terms0"
    with pytest.raises(IndexMismatchError, match="--rebuild"):
        open_extension(reader, replace(trees, model={"depth": 3}))


def test_a_rebuild_may_have_other_columns(reader: IndexReader) -> None:
    extend_index(reader, PAGES)
    wide = replace(PAGES, model={"model": "wide"}, load=lambda: encode_wide)
    extend_index(reader, wide, rebuild=True)
    assert open_extension(reader, wide).search_vector(HashEncoder(128).encode_query("revenue"), None, 3).num_rows == 3


def encode_wide(texts: Sequence[str]) -> Mapping[str, pa.Array]:
    return {"vector": vectors_array(HashEncoder(128).encode_passages(texts), 128)}


def _never() -> Encode:
    raise AssertionError("nothing was to be encoded")


def test_prefixed_words_are_found_by_their_prefix(reader: IndexReader) -> None:
    one = reader.filings()[0].filing_id
    words = Extension(
        "title_words",
        "chunks",
        {"title": "test"},
        lambda: lambda texts: {"text": pa.array(texts)},
        method="bm25+title",
        prefix=lambda filing: "zweihundert " if filing.filing_id == one else "",
        words=True,
    )
    with pytest.raises(IndexMismatchError, match=r"finray extend --index .* --with bm25\+title"):
        open_extension(reader, words)
    extend_index(reader, words)
    found = open_extension(reader, words).search_text("zweihundert", None, 9999)
    assert set(found["filing_id"].to_pylist()) == {one}
    assert found.num_rows == reader.row_counts("chunks")[one]
    assert open_extension(reader, words).search_text("zweihundert", [], 10).num_rows == 0
    place = (one, found["page"][0].as_py())
    rows = open_extension(reader, words).rows_of_pages([place], ["text"])
    assert rows["text"].to_pylist() == [f"zweihundert {t}" for t in reader.chunks_of_pages([place])["text"].to_pylist()]


def test_a_run_killed_before_its_full_text_index_continues(
    reader: IndexReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = replace(CHUNKS, load=lambda: lambda texts: {"text": pa.array(texts)}, words=True)
    with monkeypatch.context() as patch:
        patch.setattr(update, "_finish", lambda *_: None)
        extend_index(reader, words)
    with pytest.raises(IndexMismatchError, match="finray extend"):
        open_extension(reader, words)
    assert extend_index(reader, words).added == 0
    assert open_extension(reader, words).search_text("revenue", None, 5).num_rows == 5


def encode_but(bad: str) -> Extension:
    """An encoder that fails on texts with the prefix of one filing."""

    def encode_others(texts: Sequence[str]) -> Mapping[str, pa.Array]:
        if texts[0].startswith(bad):
            SEEN.append(-1)
            raise RuntimeError("no token for this text")
        return encode(texts)

    return replace(PAGES, load=lambda: encode_others, prefix=lambda filing: f"{filing.filing_id} ")


def test_a_filing_that_the_model_fails_on_is_left_out_until_the_next_run(reader: IndexReader) -> None:
    bad = sorted(filing.filing_id for filing in reader.filings())[1]
    told: list[tuple[int, int]] = []
    summary = extend_index(reader, encode_but(bad), progress=lambda *state: told.append(state))
    filings = len(reader.filings())
    assert told == [(done, filings) for done in range(1, filings + 1)], "each as it is made, not as it is committed"
    assert [(one.filing_id, one.reason) for one in summary.failures] == [(bad, "model_error")]
    assert summary.failures[0].detail == "3 attempts failed: RuntimeError: no token for this text"
    assert SEEN.count(-1) == 3 and summary.added == len(reader.filings()) - 1
    table = open_extension(reader, encode_but(bad))
    assert table.rows([], [bad]).num_rows == 0 and table.rows([]).num_rows == summary.rows
    again = extend_index(reader, encode_but("nobody"))
    assert (again.added, again.failures) == (1, ())
    assert open_extension(reader, PAGES).rows([], [bad]).num_rows == reader.row_counts("pages")[bad]


def test_a_model_that_fails_on_every_filing_stops_the_run(reader: IndexReader) -> None:
    with pytest.raises(ModelUnavailableError, match=r"fails on every filing, last on .*RuntimeError: no token"):
        extend_index(reader, encode_but(""))
    with pytest.raises(IndexMismatchError, match="lack"):
        open_extension(reader, PAGES)


def test_a_filing_that_killed_its_process_three_times_is_set_aside() -> None:
    attempts = AttemptsHere()
    for _ in range(3):
        attempts.begin(["bad"])
    attempted = Attempted(lambda key: key[0], attempts)
    assert attempted(("good", "1")) == "good"
    failed = attempted(("bad", "1"))
    assert isinstance(failed, FailedFiling) and failed.reason == "crashed" and "died in 3 attempts" in failed.detail
