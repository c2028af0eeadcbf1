"""The Arrow schema of a record, derived from the annotations of its dataclass, and records as rows of it."""

from __future__ import annotations

import dataclasses
import datetime as dt
import types
from collections.abc import Mapping, Sequence
from itertools import accumulate, chain
from typing import Annotated, Any, Final, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import pyarrow as pa

T = TypeVar("T")
Scalars = dict[type, pa.DataType]
AS_JSON: Final[Scalars] = {
    str: pa.string(), bool: pa.bool_(), int: pa.int64(), float: pa.float64(), dt.date: pa.string()
}  # fmt: skip
"""For rows that are JSON objects: dates are ISO 8601 text."""


def arrow_schema(record: type, scalars: Scalars = AS_JSON, given: Mapping[str, pa.DataType] | None = None) -> pa.Schema:
    """One column for each field of ``record``, nullable if the field may be None or JSON omits it when empty.

    ``scalars`` has the column type of each scalar; ``given`` has those of fields that are stored differently.
    """
    hints = get_type_hints(record, include_extras=True)
    return pa.schema(
        pa.field(
            field.name,
            (given or {}).get(field.name) or _arrow_type(hints[field.name], scalars),
            nullable=_may_be_absent(hints[field.name]),
        )
        for field in dataclasses.fields(record)
    )


def _arrow_type(annotation: Any, scalars: Scalars) -> pa.DataType:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _arrow_type(arguments[0], scalars)
    if origin in (Union, types.UnionType):
        (inner,) = (argument for argument in arguments if argument is not types.NoneType)
        return _arrow_type(inner, scalars)
    if origin is Literal:
        return scalars[str]
    if origin is tuple:
        return pa.list_(_arrow_type(arguments[0], scalars))
    if origin is Mapping:
        return pa.map_(*(_arrow_type(argument, scalars) for argument in arguments))
    if dataclasses.is_dataclass(annotation):
        hints = get_type_hints(annotation, include_extras=True)
        return pa.struct([(f.name, _arrow_type(hints[f.name], scalars)) for f in dataclasses.fields(annotation)])
    return scalars[annotation]


def _may_be_absent(annotation: Any) -> bool:
    origin, arguments = get_origin(annotation), get_args(annotation)
    return origin is Annotated or (origin in (Union, types.UnionType) and types.NoneType in arguments)


def arrow_rows(records: Sequence[Any], schema: pa.Schema) -> pa.Table:
    """``records`` as rows of ``schema``, an :func:`arrow_schema`. Built column by column, nested records too, because a
    long filing has 100,000 cells."""
    columns = [_array([getattr(record, field.name) for record in records], field.type) for field in schema]
    return pa.Table.from_arrays(columns, schema=schema)


def _array(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    if not (pa.types.is_list(kind) and pa.types.is_struct(kind.value_type)):
        return pa.array(values, kind)
    offsets = pa.array(accumulate(map(len, values), initial=0), pa.int32())
    flat = list(chain.from_iterable(values))
    fields = [kind.value_type.field(number) for number in range(kind.value_type.num_fields)]
    parts = [_array([getattr(value, field.name) for value in flat], field.type) for field in fields]
    return pa.ListArray.from_arrays(offsets, pa.StructArray.from_arrays(parts, fields=fields))


def records_from(table: pa.Table, record: type[T]) -> list[T]:
    """The records that :func:`arrow_rows` wrote; ``table`` may have further columns."""
    hints = get_type_hints(record, include_extras=True)
    columns = (
        _values(table[field.name].combine_chunks(), hints[field.name])
        for field in dataclasses.fields(record)  # type: ignore[arg-type]
    )
    return [record(*values) for values in zip(*columns, strict=True)]


def _values(array: pa.Array, annotation: Any) -> list[Any]:
    if not pa.types.is_list(array.type):
        values: list[Any] = array.to_pylist()
        return values
    (inner, *_) = get_args(_without_none(annotation))
    if dataclasses.is_dataclass(inner):
        hints = get_type_hints(inner, include_extras=True)
        structs = array.flatten()
        columns = [
            _values(part, hints[field.name])
            for part, field in zip(structs.flatten(), dataclasses.fields(inner), strict=True)
        ]
        flat = [inner(*values) for values in zip(*columns, strict=True)]  # type: ignore[operator]
        lengths = array.value_lengths().to_pylist()
        starts = accumulate(lengths, initial=0)
        return [tuple(flat[start : start + length]) for start, length in zip(starts, lengths, strict=False)]
    return [None if value is None else tuple(value) for value in array.to_pylist()]


def _without_none(annotation: Any) -> Any:
    if get_origin(annotation) in (Union, types.UnionType):
        (annotation,) = (each for each in get_args(annotation) if each is not types.NoneType)
    return annotation
