"""Search indexes of the tables, and their checksums.

Every column by which rows are upserted, deleted or looked up has a B-tree; without one, each of these scans the column.
LanceDB builds them and adds new rows (``optimize``).

A changed byte in an index can silently lose hits, as Lance has no checksums of its own. Files of an index never change,
so an index run ends by noting their lengths and checksums in the table's configuration. Rows have a digest instead
(``finray.index.tables.digest``).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from functools import partial
from typing import Any, Final

from finray.core.errors import SourceError
from finray.index import layout, schema
from finray.storage.locations import SourceFile, join, list_objects, open_stream

WORDS: Final = "text_idx"
"""Name of a full-text index."""
_SEARCHED: Final = (schema.PAGES, schema.CHUNKS)
_STOP_WORDS: Final = (
    "a about after again against all am an and are as at be been being below between both but by can did do doing down "
    "each few for from further had has have having he her here herself him himself his how i if in into is it its "
    "itself just me more most my myself now of off on or other our out over own re same she should so some such than "
    "that the their theirs them then there these they this those through to too under until up was we were what when "
    "where which while who whom will with you your yourself"
)
"""Those of Lance 14. Named because Lance 13, which is in lancedb 0.40, leaves out "no", "not" and "d" too: rows that it
indexes would not be found by them (findings/lance-stop-words-by-version.sh)."""
_CHECKSUMS: Final = "finray.index_files"
"""Key in a table's configuration."""
_Files = dict[str, tuple[int, str]]
"""Length and checksum of each file of the search indexes."""


def build_missing(name: str, table: Any) -> None:
    """Build the search indexes that a table, open for writing, lacks."""
    from lancedb.index import BTree

    if not table.count_rows():
        return
    key = schema.KEYS[name]
    if f"{key}_idx" not in {index.name for index in table.list_indices()}:
        table.create_index(key, config=BTree(), name=f"{key}_idx")
    if name in _SEARCHED:
        build_words(table)


def build_words(table: Any) -> None:
    """Build the full-text index of the column ``text`` of a table that is open for writing, unless it has one with
    these stop words."""
    from lancedb.index import FTS

    stop_words = _STOP_WORDS.split()
    details = {index.name: index.index_details for index in table.list_indices()}
    if WORDS not in details or set(details[WORDS].get("custom_stop_words") or ()) != set(stop_words):
        config = FTS(with_position=False, custom_stop_words=stop_words)
        table.create_index("text", config=config, name=WORDS, replace=True)


def note_checksums(uri: str, name: str) -> None:
    """Note the files of new search indexes, and forget those of indexes that are gone."""
    table = layout.open_table(uri, name)
    noted = _noted(table) or {}
    old, folders = {_folder(file) for file in noted}, _folders(table)
    if old != folders:
        made = {file: known for file, known in noted.items() if _folder(file) in folders}
        files = {file: found for file, found in _files(uri, name, table).items() if _folder(file) not in old}
        made |= {file: (found.size, _checksum(found.uri)) for file, found in files.items()}
        layout.note(uri, name, {_CHECKSUMS: json.dumps(made)})


def damaged(uri: str, name: str, *, deep: bool) -> Iterator[tuple[str, str]]:
    """(search index, problem) for each damaged search index of one table: a file is missing or has another length; with
    ``deep``, its content differs. Indexes without checksums (from an older finray) are only opened."""
    table = layout.open_table(uri, name)
    noted, files = _noted(table), _files(uri, name, table)
    for index in table.describe_indices():
        folders = {str(segment.uuid) for segment in index.segments}
        own = {file: how for file, how in (noted or {}).items() if _folder(file) in folders}
        if noted is None:
            problem = "its checksums cannot be read"
        elif not own:
            problem = _opening_problem(table, index.name)
        else:
            problem = next(filter(None, (_difference(file, how, files, deep=deep) for file, how in own.items())), "")
        if problem:
            yield index.name, problem


def _difference(file: str, noted: tuple[int, str], files: dict[str, SourceFile], *, deep: bool) -> str:
    name, (size, checksum) = file.rpartition("/")[2], noted
    if file not in files:
        return f"{name} is missing"
    if files[file].size != size:
        return f"{name} has {files[file].size:,} bytes instead of {size:,}"
    return f"{name} is not what was written" if deep and _checksum(files[file].uri) != checksum else ""


def _files(uri: str, name: str, table: Any) -> dict[str, SourceFile]:
    """The files of the search indexes of a version, by their path under ``_indices``."""
    folder = join(layout.table_uri(uri, name), "_indices")
    listed = (file for segment in sorted(_folders(table)) for file in list_objects(join(folder, segment)))
    return {"/".join(file.uri.split("/")[-2:]): file for file in listed}


def _folders(table: Any) -> set[str]:
    """The folders of the search indexes of a version."""
    return {str(segment.uuid) for index in table.describe_indices() for segment in index.segments}


def _folder(file: str) -> str:
    return file.partition("/")[0]


def _noted(table: Any) -> _Files | None:
    """What ``note_checksums`` wrote, empty if nothing; None if it is damaged."""
    try:
        noted = json.loads(table.config().get(_CHECKSUMS, "{}"))
        return {file: (int(size), str(checksum)) for file, (size, checksum) in noted.items()}
    except (ValueError, TypeError, AttributeError):
        return None


def _checksum(uri: str) -> str:
    try:
        with open_stream(uri) as stream:
            return hashlib.file_digest(stream, partial(hashlib.blake2b, digest_size=12)).hexdigest()  # type: ignore[arg-type]
    except OSError as error:
        raise SourceError(f"cannot read {uri!r}: {error}") from error


def _opening_problem(table: Any, index: str) -> str:
    try:
        table.stats.index_stats(index)
    except layout.UNREADABLE as error:
        return f"it cannot be opened: {str(error).splitlines()[0][:200]}"
    return ""
