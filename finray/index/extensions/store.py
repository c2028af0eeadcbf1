"""Where an extension is stored beside the index, and which rows it has and should have.

``URI/extensions/<name>.lance`` has one row for each chunk, page or filing, keyed by (filing_id, revision) like the
index's own; ``URI/extensions/<name>.json`` records the model.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from finray.core.errors import IndexMismatchError
from finray.index.extensions.extension import AnyExtension, FilingExtension
from finray.index.extensions.set_aside import Key
from finray.index.reading.reader import IndexReader
from finray.index.tables.maintenance import rows_by_revision
from finray.storage.lance_commit import open_if_any
from finray.storage.locations import exists, join, normalize, read_bytes

_FORMAT_VERSION = 1


def stored_rows(reader: IndexReader, extension: AnyExtension) -> tuple[Any, Counter[Key], dict[Key, int]]:
    """The table, None if there is none yet, and the numbers of rows that it has and should have."""
    table = open_if_any(location_of(reader.uri, f"{extension.name}.lance"))
    counts = dict.fromkeys(reader.revisions, 1) if extension.rows == "filings" else reader.row_counts(extension.rows)
    expected = {(filing_id, revision): counts[filing_id] for filing_id, revision in reader.revisions.items()}
    return table, Counter() if table is None else rows_by_revision(table), expected


def record_of(extension: AnyExtension) -> dict[str, Any]:
    """The JSON object that records how the rows were made."""
    return {"format_version": _FORMAT_VERSION, "rows": extension.rows, "model": dict(extension.model)}


def is_recorded(uri: str, extension: AnyExtension) -> bool:
    """Whether the index has the extension. Raises IndexMismatchError if it was made with another model."""
    location = location_of(uri, f"{extension.name}.json")
    if not exists(location):
        return False
    try:
        found: dict[str, Any] = json.loads(read_bytes(location))
    except ValueError as error:
        raise IndexMismatchError(f"{location!r} is not the record of an extension: {error}; remove it") from error
    if found != record_of(extension):
        raise IndexMismatchError(
            f"the {extension.name!r} {extension.things} of the index at {uri!r} were made with {found.get('model')}, "
            f"the present settings are {dict(extension.model)}; use the settings they were made with, or rebuild them "
            f"with: finray extend --index {uri} --with {extension.made_for} --rebuild"
        )
    return True


def location_of(uri: str, file: str) -> str:
    return join(normalize(uri), "extensions", file)


def failed_location(uri: str, extension: AnyExtension) -> str:
    return location_of(uri, f"{extension.name}.failures.json")


def file_location(uri: str, extension: FilingExtension, file: str) -> str:
    return location_of(uri, f"{extension.name}.{file}")
