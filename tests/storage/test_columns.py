"""Arrow columns of records."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from finray.core.records import OmitEmpty, OmitNone
from finray.core.tables import Cell, Column, Row, Table
from finray.storage.columns import AS_JSON, arrow_rows, arrow_schema, records_from


@dataclass
class Part:
    name: str
    size: OmitNone[int | None] = None


@dataclass
class Whole:
    kind: Literal["a", "b"]
    day: dt.date
    score: float | None
    good: bool
    box: tuple[float, float] | None
    parts: tuple[Part, ...]
    rows: OmitEmpty[tuple[tuple[int, ...], ...]]
    by_name: Mapping[str, Part]


PART = pa.struct([("name", pa.string()), ("size", pa.int64())])


def test_a_schema_follows_the_annotations() -> None:
    assert arrow_schema(Whole) == pa.schema(
        [
            pa.field("kind", pa.string(), nullable=False),
            pa.field("day", pa.string(), nullable=False),
            pa.field("score", pa.float64()),
            pa.field("good", pa.bool_(), nullable=False),
            pa.field("box", pa.list_(pa.float64())),
            pa.field("parts", pa.list_(PART), nullable=False),
            pa.field("rows", pa.list_(pa.list_(pa.int64()))),
            pa.field("by_name", pa.map_(pa.string(), PART), nullable=False),
        ]
    )


def test_types_can_be_given() -> None:
    schema = arrow_schema(Whole, AS_JSON | {int: pa.int32(), dt.date: pa.date32()}, {"box": pa.list_(pa.float64(), 2)})
    assert schema.field("day").type == pa.date32()
    assert schema.field("rows").type == pa.list_(pa.list_(pa.int32()))
    assert schema.field("box") == pa.field("box", pa.list_(pa.float64(), 2))


STORED = AS_JSON | {dt.date: pa.date32()}
WORDS = st.text(max_size=5)
WHOLE = st.integers(0, 2**31)
BOX = st.tuples(*[st.floats(allow_nan=False)] * 4)
CELLS = st.builds(
    Cell,
    WHOLE,
    WORDS,
    st.none() | st.sampled_from(("dash", "nil", "n/a", "words")),
    st.none() | st.floats(allow_nan=False),
    st.none() | WORDS,
    st.none() | WHOLE,
    st.none() | st.dates(),
    st.none() | WHOLE,
    st.none() | BOX,
    st.none() | WORDS,
    st.none() | WORDS,
)


def _tuples(of: st.SearchStrategy[Cell] | st.SearchStrategy[Row] | st.SearchStrategy[Column]) -> st.SearchStrategy:
    return st.lists(of, max_size=3).map(tuple)


ROWS = st.builds(Row, WHOLE, WHOLE, WORDS, _tuples(CELLS), st.none() | WORDS, WHOLE, WHOLE, WHOLE)
COLUMNS = st.builds(Column, WHOLE, st.lists(WORDS, max_size=3).map(tuple), st.none() | WORDS)
TABLES = st.builds(
    Table,
    WHOLE,
    WHOLE,
    WHOLE,
    WORDS,
    WORDS,
    st.none() | st.sampled_from(("income", "balance")),
    st.none() | WORDS,
    WORDS,
    WHOLE,
    _tuples(COLUMNS),
    _tuples(ROWS),
)


@given(st.lists(TABLES, max_size=4), st.integers(0, 4), st.integers(0, 4))
def test_nested_records_are_read_as_written(tables: list[Table], start: int, length: int) -> None:
    """Slices too: a filter or a limit gives views into longer arrays."""
    rows = arrow_rows(tables, arrow_schema(Table, STORED))
    assert records_from(rows, Table) == tables
    assert records_from(rows.slice(start, length), Table) == tables[start : start + length]
    assert records_from(pa.concat_tables([rows, rows.slice(start)]), Table) == [*tables, *tables[start:]]


def test_further_columns_are_ignored() -> None:
    columns = [Column(1, ("2022",)), Column(2)]
    rows = arrow_rows(columns, arrow_schema(Column)).append_column("filing_id", pa.array(["a", "b"]))
    assert records_from(rows, Column) == columns


def test_lists_of_scalars_are_tuples_and_none_stays() -> None:
    cells = [Cell(1, "5", box=(0.0, 1.0, 2.0, 3.0)), Cell(2, "7")]
    assert records_from(arrow_rows(cells, arrow_schema(Cell, STORED)), Cell) == cells
