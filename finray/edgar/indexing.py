"""What the index lacks of the raw store, and what it must drop.

The index itself is asked, not a note about it: whatever was interrupted, and whoever indexed, the answer is right.
"""

from __future__ import annotations

from dataclasses import dataclass

from finray.edgar.ledger import Ledger
from finray.edgar.store import RawStore
from finray.errors import IndexMissingError
from finray.index import layout, schema

WHOLE_STORE_AFTER = 1000
"""Past this many new filings one listing of the store is cheaper than asking for each."""


@dataclass(frozen=True, slots=True)
class Backlog:
    """URIs of raw filings that the index has not, or has with other content; and of deleted ones that it still has."""

    new: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()


def index_backlog(ledger: Ledger, store: RawStore, index_uri: str) -> Backlog:
    """Raises IndexMismatchError where the index is of another version of finray."""
    known = _known_content(index_uri)
    new, deleted = [], []
    for entry in ledger.entries():
        uri = store.filing_uri(entry.listed.accession)
        if entry.state == "deleted" and uri in known:
            deleted.append(uri)
        elif entry.state == "done" and entry.sha256 not in known.get(uri, ()):
            new.append(uri)
    return Backlog(tuple(sorted(new)), tuple(sorted(deleted)))


def sources_of(backlog: Backlog, store: RawStore) -> list[str]:
    """What to give the index job."""
    return [store.filings_uri] if len(backlog.new) > WHOLE_STORE_AFTER else list(backlog.new)


def _known_content(index_uri: str) -> dict[str, set[str]]:
    """By source URI, the SHA-256 of what the index holds of it or could not use."""
    try:
        layout.read_record(index_uri)
    except IndexMissingError:
        return {}
    known: dict[str, set[str]] = {}
    for name in (schema.SOURCES, schema.FILINGS):
        rows = layout.open_table(index_uri, name).to_table(columns=["source_uri", "content_sha256"])
        for uri, sha256 in zip(*(rows[column].to_pylist() for column in rows.column_names), strict=True):
            known.setdefault(uri, set()).add(sha256)
    return known
