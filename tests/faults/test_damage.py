"""Files of an index that are damaged as disks and people do it: never a traceback, and after the repair and a rerun
the rows of an undisturbed run."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import lance
import pytest

from finray.cli.check import check
from finray.core.errors import FinrayError, IndexDamagedError, IndexMismatchError
from finray.core.settings import Settings, load_settings
from finray.engine import open_engine
from finray.index import layout, schema
from finray.index.job.in_process import index_in_process
from finray.index.job.parser_process import ParserProcess
from finray.index.reading.reader import IndexReader
from finray.index.upkeep.check import Finding, check_index
from finray.lab.sample.generate import generate_sample
from tools.faults.contents import Contents, differences, read_contents
from tools.faults.damage import HOWS, How, Part, damage, pick, stored_files

TABLES = tuple(schema.table_schemas(1))
Reindex = Callable[[str], None]


@pytest.fixture(scope="module")
def filings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("damage")
    generate_sample(folder, companies=1, years=1, seed=4, questions=1, formats=("html",), workers=1)
    for path in sorted((folder / "filings").iterdir())[4:]:
        path.unlink()
    (folder / "filings" / "empty.htm").write_bytes(b"")
    return folder / "filings"


@pytest.fixture(scope="module")
def settings() -> Settings:
    return load_settings(overrides={"encoder.model": "hash"}, environment={})


@pytest.fixture(scope="module")
def reindex(filings: Path, settings: Settings) -> Iterator[Reindex]:
    parser = ParserProcess(settings.filings, settings.chunks)

    def run(uri: str) -> None:
        index_in_process([str(filings)], uri, settings, parser=parser)

    yield run
    parser.close()


@pytest.fixture(scope="module")
def sound(filings: Path, settings: Settings, reindex: Reindex, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of several fragments, one of them with deleted rows that no compaction has removed."""
    uri = tmp_path_factory.mktemp("sound") / "index"
    first = sorted(filings.iterdir())[1]
    index_in_process([str(first)], str(uri), settings)
    reindex(str(uri))
    for name in (schema.PAGES, schema.CHUNKS, schema.FACTS):
        table = layout.open_table(str(uri), name)
        surplus = table.to_table(limit=3)
        surplus = surplus.set_column(0, surplus.schema.field(0), [["nobody"] * surplus.num_rows])
        lance.write_dataset(surplus, layout.table_uri(str(uri), name), mode="append")
        layout.open_table(str(uri), name).delete("filing_id = 'nobody' AND page >= 0")
    return uri


@pytest.fixture(scope="module")
def expected(sound: Path) -> Contents:
    assert check_index(str(sound), deep=True) == []
    return read_contents(str(sound))


@pytest.fixture
def index(sound: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(sound, tmp_path / "index"))


def repair(uri: str) -> int:
    return check(uri, set_=["encoder.model=hash"], deep=True, repair=True)


def found(uri: str) -> list[Finding] | FinrayError:
    """What a deep check says; an error that finray raises on purpose is an answer too, a traceback is not."""
    try:
        return check_index(uri, deep=True)
    except FinrayError as error:
        return error


def used(uri: str, settings: Settings) -> None:
    """Whoever answers questions over the index is told in one line where it cannot be read."""
    try:
        open_engine(uri, settings)
        reader = IndexReader.open(uri)
        reader.line_items(None)
        reader.chunks(None)
        reader.pages(None)
        reader.search_chunks_text("revenue", None, 5)
        reader.search_chunks_text("revenue", [filing.filing_id for filing in reader.filings()][:1], 5)
    except FinrayError as error:
        assert "\n" not in str(error)
        assert "finray check" in str(error) or "finray index" in str(error)


CASES: list[tuple[Part, str]] = [
    *(("data", table) for table in TABLES),
    *(("manifest", table) for table in TABLES),
    *(("search_index", table) for table in (schema.PAGES, schema.CHUNKS, schema.FACTS)),
    ("hint", schema.FILINGS),
    ("record", ""),
]


def case(part: Part, table: str, how: How, index: Path, settings: Settings, seed: int) -> str:
    random = Random(f"{part} {table} {how} {seed}")
    hit = damage(pick(stored_files(index), random, part=part, table=table), how, random)
    used(str(index), settings)
    return str(hit)


@pytest.mark.slow
@pytest.mark.parametrize("how", [pytest.param(how, marks=[] if how == "flip" else [pytest.mark.long]) for how in HOWS])
def test_a_repair_and_a_rerun_restore_every_row_for_any_damaged_file(
    sound: Path, expected: Contents, tmp_path: Path, settings: Settings, reindex: Reindex, how: How
) -> None:
    for number, (part, table) in enumerate(CASES):
        index = Path(shutil.copytree(sound, tmp_path / str(number)))
        try:
            hit = case(part, table, how, index, settings, seed=1)
        except LookupError:  # this table has no such file
            continue
        before = found(str(index))
        unharmed = differences(expected, read_contents(str(index))) if before == [] else []
        assert unharmed == [] or table in (schema.SOURCES, schema.FAILURES), f"{hit}: not noticed: {unharmed}"
        repair(str(index))
        reindex(str(index))
        assert found(str(index)) == [], hit
        left = differences(expected, read_contents(str(index)))
        assert left == [] or before == [], f"{hit}: {left}"
        shutil.rmtree(index)


@pytest.mark.parametrize(
    "name",
    [
        schema.PAGES,
        *(pytest.param(name, marks=pytest.mark.slow) for name in (schema.CHUNKS, schema.FACTS, schema.FILINGS)),
    ],
)
def test_one_changed_byte_is_detected_if_it_changes_a_row(
    sound: Path, expected: Contents, tmp_path: Path, name: str
) -> None:
    """Lance decodes most of them without a word; what it still gives is compared with what was written."""
    unnoticed = Counter[str]()
    for seed in range(12):
        index = Path(shutil.copytree(sound, tmp_path / str(seed)))
        random = Random(seed)
        damage(pick(stored_files(index), random, part="data", table=name), "flip", random)
        if found(str(index)) == []:
            unnoticed["changed" if differences(expected, read_contents(str(index))) else "the same rows"] += 1
        shutil.rmtree(index)
    assert unnoticed["changed"] == 0


def test_an_index_written_before_there_were_digests_is_read_checked_and_continued(
    index: Path, settings: Settings, reindex: Reindex, expected: Contents
) -> None:
    uri = str(index)
    layout.open_table(uri, schema.FILINGS).drop_columns(["digest"])
    assert check_index(uri, deep=True) == []
    gone = IndexReader.open(uri).filings()[0]
    layout.open_table(uri, schema.FILINGS).delete(f"filing_id = '{gone.filing_id}'")
    reindex(uri)
    digests = layout.open_table(uri, schema.FILINGS).to_table(["filing_id", "digest"]).to_pylist()
    assert {row["filing_id"] for row in digests if row["digest"]} == {gone.filing_id}
    assert check_index(uri, deep=True) == []
    assert differences(expected, read_contents(uri)) == []


def test_a_lost_record_does_not_allow_mixed_settings(index: Path, settings: Settings, reindex: Reindex) -> None:
    layout_file = index / "index.json"
    content = layout_file.read_bytes()
    layout_file.unlink()
    other = settings.model_copy(update={"chunks": settings.chunks.model_copy(update={"size": 300})})
    with pytest.raises(IndexMismatchError, match=r"was built with.*--set chunks\.size="):
        index_in_process([str(index)], str(index), other)
    assert repair(str(index)) == 0
    assert layout_file.read_bytes() == content
    layout_file.write_bytes(content[:50])
    with pytest.raises(IndexMismatchError, match="restore it from the tables"):
        IndexReader.open(str(index))
    assert repair(str(index)) == 0
    assert layout_file.read_bytes() == content


def test_reading_a_damaged_table_raises_an_error_with_the_fix(
    index: Path, settings: Settings, reindex: Reindex
) -> None:
    uri, random = str(index), Random(1)
    damage(pick(stored_files(index), random, part="data", table=schema.FILINGS), "truncate", random)
    with pytest.raises(IndexDamagedError, match=f"finray check --index {uri} --deep --repair"):
        IndexReader.open(uri)
    with pytest.raises(IndexDamagedError, match="cannot be read"):
        reindex(uri)
