"""Arrow columns of records."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import pyarrow as pa

from finray.core.records import OmitEmpty, OmitNone
from finray.storage.columns import AS_JSON, arrow_schema


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
