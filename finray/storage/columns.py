"""The Arrow schema of a record, derived from the annotations of its dataclass."""

from __future__ import annotations

import dataclasses
import datetime as dt
import types
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin, get_type_hints

import pyarrow as pa

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
