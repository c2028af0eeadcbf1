"""A digest of all stored values of a filing, recorded when they are written.

Lance itself notices a changed byte only if it can no longer decode the file. The digest covers values, not bytes of
files, because compaction writes the same rows into other files.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from finray.index import schema

COLUMN: Final = "digest"
_NOT_COVERED: Final = frozenset({"filing_id", "revision", COLUMN})
"""Keys of the rows, and the digest itself."""


def filing_digest(cover: pa.Table, children: Mapping[str, pa.Table]) -> str:
    """24 hex digits over a row of ``filings`` and its rows in each child table, in order."""
    digest = hashlib.blake2b(digest_size=12)
    for name, table in ((schema.FILINGS, cover), *((name, children[name]) for name in schema.CHILDREN)):
        for column in sorted(set(table.column_names) - _NOT_COVERED):
            digest.update(f"{name}.{column} {table.num_rows}\n".encode())
            _add(digest, table[column].combine_chunks())
    return digest.hexdigest()


def _add(digest: Any, values: pa.Array) -> None:
    """Hash the values, not their Arrow layout (slices, empty masks), which differs from read to read."""
    if values.null_count:
        missing = values.is_null()
        digest.update(missing.to_numpy(zero_copy_only=False).tobytes())
        values = values.filter(pc.invert(missing))
    else:  # the same bytes, faster
        digest.update(bytes(len(values)))
    kind = values.type
    if pa.types.is_string(kind):
        digest.update(pc.binary_length(values).to_numpy(zero_copy_only=False).tobytes())
        for text in values.to_pylist():
            digest.update(text.encode())
    elif pa.types.is_fixed_size_list(kind):
        _add(digest, values.flatten())
    elif pa.types.is_list(kind):
        _add(digest, pc.list_value_length(values))
        _add(digest, values.flatten())
    elif pa.types.is_struct(kind):
        for part in values.flatten():
            _add(digest, part)
    elif pa.types.is_boolean(kind):
        digest.update(values.to_numpy(zero_copy_only=False).tobytes())
    else:
        whole = {pa.date32(): pa.int32()}.get(kind, pa.int64() if pa.types.is_timestamp(kind) else kind)
        digest.update(values.cast(whole).to_numpy(zero_copy_only=False).tobytes())
