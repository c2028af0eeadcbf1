"""Whether the search indexes of a table are those that were written: a byte that has changed in one can lose hits
without a word.

Their files never change, so a checksum of each is noted in the table's configuration when an index run ends, by the
index segment that it belongs to. Rows are not checked like that: see ``finray.index.digest``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from functools import partial
from typing import Any, Final

from finray.core.errors import SourceError
from finray.index import layout
from finray.storage.locations import join, list_objects, open_stream

_NOTE: Final = "finray.checksums."


def note_checksums(uri: str, name: str) -> None:
    """Note the checksums of segments that have none yet, and forget those of segments that are gone."""
    table = layout.open_table(uri, name)
    noted = {key.removeprefix(_NOTE) for key in table.config() if key.startswith(_NOTE)}
    segments = {segment for found in _segments(table).values() for segment in found}
    new = {_NOTE + segment: json.dumps(_checksums(uri, name, segment)) for segment in sorted(segments - noted)}
    gone = [_NOTE + segment for segment in sorted(noted - segments)]
    if new:
        layout.write_table(uri, name, partial(_update, new))
    if gone:
        layout.write_table(uri, name, partial(_delete, gone))


def damaged(uri: str, name: str, *, deep: bool) -> Iterator[tuple[str, str]]:
    """(search index, what is wrong with it) of one table: files that are missing or have another length; with ``deep``
    those that hold something else. An index that was written by an older finray has no checksums, and is opened."""
    table = layout.open_table(uri, name)
    config = table.config()
    for index, segments in _segments(table).items():
        for segment in segments:
            noted = config.get(_NOTE + segment)
            wrong = _difference(uri, name, segment, json.loads(noted), deep=deep) if noted else _opened(table, index)
            if wrong:
                yield index, wrong
                break


def drop(uri: str, name: str, indexes: list[str]) -> None:
    """Drop search indexes, which ``finray.index.maintenance.tidy`` builds anew."""
    for index in indexes:
        layout.write_table(uri, name, partial(_drop, index))


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


def _difference(uri: str, name: str, segment: str, noted: dict[str, list[Any]], *, deep: bool) -> str:
    sizes = {file.uri.rpartition("/")[2]: file.size for file in list_objects(_folder(uri, name, segment))}
    for file, (size, checksum) in noted.items():
        if file not in sizes:
            return f"{file} is missing"
        if sizes[file] != size:
            return f"{file} has {sizes[file]:,} bytes instead of {size:,}"
        if deep and _checksum(join(_folder(uri, name, segment), file)) != checksum:
            return f"{file} is not what was written"
    return ""


def _opened(table: Any, index: str) -> str:
    try:
        table.stats.index_stats(index)
    except layout.UNREADABLE as error:
        return f"it cannot be opened: {str(error).splitlines()[0][:200]}"
    return ""


def _update(new: dict[str, str], table: Any) -> None:
    table.update_config(new)


def _delete(keys: list[str], table: Any) -> None:
    table.delete_config_keys(keys)


def _drop(index: str, table: Any) -> None:
    table.drop_index(index)
