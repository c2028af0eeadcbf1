"""Records: frozen dataclasses whose fields define their JSON, Arrow columns and documentation.

pydantic reads and writes them here; ``finray.storage.columns`` derives Arrow schemas from the same fields.
"""

from __future__ import annotations

import ast
import inspect
import json
import textwrap
from dataclasses import fields
from itertools import pairwise
from operator import not_
from typing import Annotated, Any, TypeVar

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from pydantic_core import from_json

T = TypeVar("T")
OmitNone = Annotated[T, Field(exclude_if=lambda value: value is None)]
"""A field that JSON omits if it is None; other fields are always present."""
OmitEmpty = Annotated[T, Field(exclude_if=not_)]
"""A field that JSON omits if it is empty or zero."""
_ADAPTERS: dict[type, TypeAdapter[Any]] = {}


def field_docs(record: type) -> dict[str, str]:
    """The docstring below each field in the source of a dataclass and its bases, on one line each."""
    docs: dict[str, str] = {}
    for kind in reversed(record.__mro__[:-1]):
        (body,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
        assert isinstance(body, ast.ClassDef)
        for field, below in pairwise(body.body):
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(below, ast.Expr):
                docs[field.target.id] = " ".join(ast.literal_eval(below.value).split())
    return docs


def _describe(schema: dict[str, Any], record: type) -> None:
    """Add descriptions of fields; drop titles that repeat their names, and null if None is omitted."""
    docs = field_docs(record)
    for name, field in schema["properties"].items():
        field.pop("title", None)
        if name in docs:
            field["description"] = docs[name]
        if name not in schema.get("required", ()) and "anyOf" in field:
            del field["default"]
            field |= field.pop("anyOf")[0]


class Record:
    """Base of stored or sent records. The JSON schema describes each field by the docstring below it in the source."""

    __slots__ = ()
    __pydantic_config__ = ConfigDict(json_schema_extra=_describe, json_schema_serialization_defaults_required=True)


def adapter(kind: type[T]) -> TypeAdapter[T]:
    """The adapter that reads and writes ``kind``, built on first use."""
    if kind not in _ADAPTERS:
        _ADAPTERS[kind] = TypeAdapter(kind)
    return _ADAPTERS[kind]


def to_object(record: object) -> dict[str, Any]:
    """The JSON object of ``record``."""
    value: dict[str, Any] = adapter(type(record)).dump_python(record, mode="json")
    return value


def to_json(record: object) -> bytes:
    """The JSON object of ``record`` on one line of UTF-8; half a surrogate pair becomes "?".

    Raises ValueError for NaN and infinity, which JSON cannot express.
    """
    return json.dumps(to_object(record), ensure_ascii=False, allow_nan=False).encode("utf-8", errors="replace")


def from_object(kind: type[T], value: object) -> T:
    """The record of a JSON object. Unknown fields are ignored.

    Raises ValueError with one line about the first invalid field.
    """
    try:
        return adapter(kind).validate_python(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ValueError(f"{where}: {first['msg']}" if where else first["msg"]) from error


def from_row(kind: type[T], value: object) -> T:
    """As ``from_object``, but null counts as absent: a Parquet row has every column."""
    return from_object(kind, _without_nulls(value))


def parse_json(content: bytes) -> object:
    """The value of a JSON text. Raises ValueError with one line about the problem."""
    try:
        return from_json(content)
    except ValueError as error:
        raise ValueError(f"not JSON: {error}") from error


def is_torn(kind: type[Any], content: bytes) -> bool:
    """Whether ``content`` is the beginning of a JSON object of a ``kind``, as a killed writer leaves it."""
    try:
        from_json(content)
    except ValueError:
        try:
            begun = from_json(content, allow_partial="trailing-strings")
        except ValueError:
            return False
        return isinstance(begun, dict) and begun.keys() <= {field.name for field in fields(kind)}
    return False


def _without_nulls(value: object) -> object:
    if isinstance(value, dict):
        return {name: _without_nulls(each) for name, each in value.items() if each is not None}
    return [_without_nulls(each) for each in value] if isinstance(value, list) else value
