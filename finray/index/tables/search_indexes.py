"""Search indexes of the tables, and their checksums.

Every column by which rows are upserted, deleted or looked up has a B-tree; without one, each of these scans the column.

An index consists of segments, each over some fragments: tasks build them, one commit adds them. A search reads all
segments and ranks by statistics of the whole table, so their number does not change a score.

A changed byte in an index can silently lose hits. Files of an index never change, so an index run ends by recording
their checksums in the table's configuration, by segment. Rows have a digest instead (``finray.index.tables.digest``).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import methodcaller
from typing import Any, Final

from finray.core.errors import SourceError
from finray.index import layout, schema
from finray.index.tasks import Run, in_turn
from finray.storage.locations import SourceFile, join, list_objects, open_stream

_PREFIX: Final = "finray.checksums."
"""Prefix of the keys in a table's configuration."""
_SEGMENT_ROWS: Final = 2**20
"""New rows get segments of their own from this number on; fewer are merged into the last segment."""


@dataclass(frozen=True, slots=True)
class SearchIndex:
    """``options`` are those of Lance's ``create_index_uncommitted``."""

    name: str
    column: str
    kind: str
    options: Mapping[str, Any]


_KEY: Final = SearchIndex("filing_id_idx", "filing_id", "BTREE", {})
_WORDS: Final = SearchIndex("text_idx", "text", "INVERTED", {"with_position": False})
_SOURCE: Final = SearchIndex("source_uri_idx", "source_uri", "BTREE", {})
_INDEXES: Final = {
    schema.FILINGS: (_KEY,),
    schema.PAGES: (_KEY, _WORDS),
    schema.CHUNKS: (_KEY, _WORDS),
    schema.TABLES: (_KEY,),
    schema.FACTS: (_KEY,),
    schema.SOURCES: (_SOURCE,),
    schema.FAILURES: (_SOURCE,),
}


def update(uri: str, name: str, table: Any, run: Run = in_turn) -> None:
    """Bring the search indexes of an open table up to date: build missing ones, add new rows to all."""
    if not table.count_rows():
        return
    found = {index.name: index for index in table.describe_indices()}
    for index in _INDEXES[name]:
        segments = found[index.name].segments if index.name in found else []
        covered = {fragment for segment in segments for fragment in segment.fragment_ids}
        new = [fragment for fragment in table.get_fragments() if fragment.fragment_id not in covered]
        if not segments and len(_groups(new)) == 1:
            run([partial(_create, uri, name, index)])
        elif not segments or sum(fragment.count_rows() for fragment in new) >= _SEGMENT_ROWS:
            build(uri, name, table, index, new, run)
        else:
            continue
        table = layout.open_table(uri, name)
    with layout.reading(uri, name):
        behind = any(table.stats.index_stats(index)["num_unindexed_rows"] for index in found)
    if behind:
        run([partial(_optimize, uri, name)])


def build(uri: str, name: str, table: Any, index: SearchIndex, fragments: Sequence[Any], run: Run) -> None:
    """Add segments over some fragments of an open table to an index; they replace those over the same fragments."""
    build_one = partial(_segment, uri, name, table.version, index)
    segments = run([partial(build_one, group) for group in _groups(fragments)])
    table.commit_existing_index_segments(index.name, index.column, segments)


def _create(uri: str, name: str, index: SearchIndex) -> None:
    """Build a small index as a whole, which works on an eventually consistent S3, unlike segments of a text index."""
    table = layout.open_table(uri, name)
    table.create_scalar_index(index.column, index.kind, name=index.name, **index.options)


def _groups(fragments: Sequence[Any]) -> list[list[int]]:
    """Ids of fragments, in groups of at least ``_SEGMENT_ROWS`` rows except for the last."""
    groups: list[list[int]] = [[]]
    rows = 0
    for fragment in fragments:
        if rows >= _SEGMENT_ROWS:
            groups.append([])
            rows = 0
        groups[-1].append(fragment.fragment_id)
        rows += fragment.count_rows()
    return groups


def _segment(uri: str, name: str, version: int, index: SearchIndex, fragments: list[int]) -> Any:
    """Build the index of some fragments; it belongs to no version until it is committed."""
    table = layout.open_table(uri, name, version)
    return table.create_index_uncommitted(
        index.column, index.kind, name=index.name, replace=True, fragment_ids=fragments, **index.options
    )


def _optimize(uri: str, name: str) -> None:
    """Merge new rows into the last segment of each index."""
    layout.open_table(uri, name).optimize.optimize_indices()


def note_checksums(uri: str, name: str, run: Run = in_turn) -> None:
    """Record checksums of new segments, and drop those of segments that are gone."""
    table = layout.open_table(uri, name)
    recorded = {key for key in table.config() if key.startswith(_PREFIX)}
    segments = {_PREFIX + segment: segment for found in _segments(table).values() for segment in found}
    if new := sorted(segments.keys() - recorded):
        checksums = run([partial(_checksums, uri, name, segments[key]) for key in new])
        layout.write_table(uri, name, methodcaller("update_config", dict(zip(new, checksums, strict=True))))
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
            if not recorded:
                problem = _opening_problem(table, index)
            elif (checksums := _read_checksums(recorded)) is None:
                problem = "its checksums cannot be read"
            else:
                problem = _difference(uri, name, segment, checksums, deep=deep)
            if problem:
                yield index, problem
                break


def _segments(table: Any) -> dict[str, list[str]]:
    return {index.name: [str(segment.uuid) for segment in index.segments] for index in table.describe_indices()}


def _files(uri: str, name: str, segment: str) -> dict[str, SourceFile]:
    """The files of a segment by name."""
    folder = join(layout.table_uri(uri, name), "_indices", segment)
    return {file.uri.rpartition("/")[2]: file for file in list_objects(folder)}


def _checksums(uri: str, name: str, segment: str) -> str:
    """Length and checksum of each file of a segment by name, as JSON."""
    files = _files(uri, name, segment)
    return json.dumps({file: [found.size, _checksum(found.uri)] for file, found in files.items()})


def _read_checksums(recorded: str) -> dict[str, tuple[int, str]] | None:
    """What :func:`_checksums` wrote; None if it is damaged."""
    try:
        return {file: (int(size), str(checksum)) for file, (size, checksum) in json.loads(recorded).items()}
    except (ValueError, TypeError, AttributeError):
        return None


def _checksum(uri: str) -> str:
    try:
        with open_stream(uri) as stream:
            return hashlib.file_digest(stream, partial(hashlib.blake2b, digest_size=12)).hexdigest()  # type: ignore[arg-type]
    except OSError as error:
        raise SourceError(f"cannot read {uri!r}: {error}") from error


def _difference(uri: str, name: str, segment: str, recorded: dict[str, tuple[int, str]], *, deep: bool) -> str:
    """What is wrong with the files of a segment; "" if nothing is."""
    files = _files(uri, name, segment)
    for file, (size, checksum) in recorded.items():
        if file not in files:
            return f"{file} is missing"
        if files[file].size != size:
            return f"{file} has {files[file].size:,} bytes instead of {size:,}"
        if deep and _checksum(files[file].uri) != checksum:
            return f"{file} is not what was written"
    return ""


def _opening_problem(table: Any, index: str) -> str:
    try:
        table.stats.index_stats(index)
    except layout.UNREADABLE as error:
        return f"it cannot be opened: {str(error).splitlines()[0][:200]}"
    return ""
