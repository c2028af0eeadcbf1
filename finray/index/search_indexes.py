"""Checksums of a table's search indexes: a changed byte in one can silently lose hits.

Index files never change, so the end of an index run records a checksum of each in the table's configuration, by index
segment. Rows have a digest instead: see ``finray.index.digest``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from functools import partial
from operator import methodcaller
from typing import Any, Final

from finray.core.errors import SourceError
from finray.index import layout
from finray.storage.locations import join, list_objects, open_stream

_PREFIX: Final = "finray.checksums."
"""Of keys in a table's configuration."""


def note_checksums(uri: str, name: str) -> None:
    """Record checksums of new segments, and drop those of segments that are gone."""
    table = layout.open_table(uri, name)
    recorded = {key for key in table.config() if key.startswith(_PREFIX)}
    segments = {_PREFIX + segment: segment for found in _segments(table).values() for segment in found}
    new = {key: json.dumps(_checksums(uri, name, segments[key])) for key in sorted(segments.keys() - recorded)}
    if new:
        layout.write_table(uri, name, methodcaller("update_config", new))
    if gone := sorted(recorded - segments.keys()):
        layout.write_table(uri, name, methodcaller("delete_config_keys", gone))


def damaged(uri: str, name: str, *, deep: bool) -> Iterator[tuple[str, str]]:
    """(search index, problem) for each damaged search index of one table: a file is missing or has another length; with
    ``deep``, its content differs. An index without checksums (from an older finray) is only opened."""
    table = layout.open_table(uri, name)
    config = table.config()
    for index, segments in _segments(table).items():
        for segment in segments:
            recorded = config.get(_PREFIX + segment)
            if recorded:
                problem = _difference(uri, name, segment, json.loads(recorded), deep=deep)
            else:
                problem = _opening_problem(table, index)
            if problem:
                yield index, problem
                break


def drop(uri: str, name: str, indexes: list[str]) -> None:
    """Drop search indexes; ``finray.index.maintenance`` rebuilds them."""
    for index in indexes:
        layout.write_table(uri, name, methodcaller("drop_index", index))


def _segments(table: Any) -> dict[str, list[str]]:
    return {index.name: [str(segment.uuid) for segment in index.segments] for index in table.describe_indices()}


def _folder(uri: str, name: str, segment: str) -> str:
    return join(layout.table_uri(uri, name), "_indices", segment)


def _checksums(uri: str, name: str, segment: str) -> dict[str, list[Any]]:
    """File name -> [length, checksum]."""
    files = list_objects(_folder(uri, name, segment))
    return {file.uri.rpartition("/")[2]: [file.size, _checksum(file.uri)] for file in files}


def _checksum(uri: str) -> str:
    try:
        with open_stream(uri) as stream:
            return hashlib.file_digest(stream, partial(hashlib.blake2b, digest_size=12)).hexdigest()  # type: ignore[arg-type]
    except OSError as error:
        raise SourceError(f"cannot read {uri!r}: {error}") from error


def _difference(uri: str, name: str, segment: str, recorded: dict[str, list[Any]], *, deep: bool) -> str:
    sizes = {file.uri.rpartition("/")[2]: file.size for file in list_objects(_folder(uri, name, segment))}
    for file, (size, checksum) in recorded.items():
        if file not in sizes:
            return f"{file} is missing"
        if sizes[file] != size:
            return f"{file} has {sizes[file]:,} bytes instead of {size:,}"
        if deep and _checksum(join(_folder(uri, name, segment), file)) != checksum:
            return f"{file} is not what was written"
    return ""


def _opening_problem(table: Any, index: str) -> str:
    try:
        table.stats.index_stats(index)
    except layout.UNREADABLE as error:
        return f"it cannot be opened: {str(error).splitlines()[0][:200]}"
    return ""
