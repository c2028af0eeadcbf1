"""The rows of an index in comparable form: two runs over the same filings must give the same contents."""

from __future__ import annotations

import hashlib
import os.path
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from finray.index import layout, schema

Contents = dict[str, Counter[str]]
"""Table -> number of each row in it. A row is its place (filing or file, page) and a digest of its values."""

_RUN_COLUMNS: Final = frozenset({"indexed_at", "at", "source_modified", "fingerprint", "digest"})
"""Times, the fingerprint of a file, which may include its time, and a digest over such values."""
_PLACES: Final = ("filing_id", "source_uri", "page")
_DIGITS: Final = 5


def read_contents(uri: str) -> Contents:
    """Every row of the index at ``uri``, without the times of the run and the common folder of its sources.

    Vectors are rounded to five decimals. Memory: the largest batch, and a hundred bytes a row. Raises
    IndexMissingError.
    """
    layout.read_record(uri)
    noted = layout.open_table(uri, schema.SOURCES).to_table(["source_uri"])["source_uri"].to_pylist()
    # Not commonpath, which turns s3:// into s3:/.
    root = os.path.commonprefix(noted).rpartition("/")[0]  # noqa: RUF071
    return {name: Counter(_rows(uri, name, root)) for name in schema.table_schemas(1)}


def differences(expected: Contents, found: Contents) -> list[str]:
    """One line for each row that only one of the two has."""
    lines = []
    for name in expected:
        lines += [f"{name}: lacks {row}" for row in sorted((expected[name] - found[name]).elements())]
        lines += [f"{name}: has besides {row}" for row in sorted((found[name] - expected[name]).elements())]
    return lines


def _rows(uri: str, name: str, root: str) -> Iterator[str]:
    table = layout.open_table(uri, name)
    columns = [column for column in table.schema.names if column not in _RUN_COLUMNS]
    for batch in table.to_batches(columns=columns):
        for row in batch.to_pylist():
            values = {column: _plain(value, root) for column, value in row.items()}
            if "revision" in values:
                values["revision"] = values["revision"].partition("-")[0]  # the rest identifies the run
            digest = hashlib.blake2b(repr(sorted(values.items())).encode(), digest_size=12).hexdigest()
            yield " ".join([*(str(values[place]) for place in _PLACES if place in values), digest])


def _plain(value: Any, root: str) -> Any:
    if isinstance(value, str):
        return value.replace(root, "") if root else value
    if isinstance(value, list):
        return [round(part, _DIGITS) + 0.0 if isinstance(part, float) else part for part in value]
    return value
