"""Finds what the index lacks of the raw store and what must be withdrawn from it, and brings it up to date.

The comparison reads the index itself, not a note about it, so it is right after interruptions and other index jobs too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from finray.core.errors import IndexMissingError
from finray.core.settings import Settings
from finray.edgar.ledger import Ledger
from finray.edgar.store import RawStore
from finray.index import layout, schema
from finray.index.job.summary import IndexSummary
from finray.index.writing.writer import IndexWriter, RunUpkeep, here
from finray.models.encoder_loading import encoder_dimension

WHOLE_STORE_AFTER = 1000
"""Above this many new filings, listing the whole store is cheaper than a request for each."""


IndexNew = Callable[[Sequence[str]], IndexSummary]
"""The index job, on Ray or not, over these sources."""


@dataclass(frozen=True, slots=True)
class IndexOutcome:
    """The number of ``withdrawn`` filings, which EDGAR has deleted, and the summary of the index job if one ran."""

    withdrawn: int = 0
    summary: IndexSummary | None = None


@dataclass(frozen=True, slots=True)
class Backlog:
    """URIs of raw filings that the index lacks or holds with other content, and of deleted ones that it still holds."""

    new: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()


def index_backlog(ledger: Ledger, store: RawStore, index_uri: str) -> Backlog:
    """Compare the ledger with the index.

    Raises IndexMismatchError if another version of finray wrote the index, IndexDamagedError if it is unreadable.
    """
    known, mentioned = _known_content(index_uri)
    new, deleted = [], []
    for entry in ledger.entries():
        uri = store.filing_uri(entry.listed.accession)
        if entry.state == "deleted" and uri in mentioned:
            deleted.append(uri)
        elif entry.state == "done" and (uri, entry.sha256) not in known:
            new.append(uri)
    return Backlog(tuple(sorted(new)), tuple(sorted(deleted)))


def bring_up_to_date(
    ledger: Ledger,
    store: RawStore,
    index_uri: str,
    settings: Settings,
    index_new: IndexNew,
    upkeep: RunUpkeep = here,
) -> IndexOutcome:
    """Withdraw what EDGAR has deleted, then run the index job on what is new.

    ``upkeep`` runs what rewrites tables and search indexes after a deletion.
    """
    backlog, withdrawn, summary = index_backlog(ledger, store, index_uri), 0, None
    if backlog.deleted:
        writer = IndexWriter(index_uri, settings, encoder_dimension(settings.encoder))
        withdrawn = writer.withdraw(backlog.deleted)
        writer.finish(upkeep)
    if backlog.new:
        summary = index_new(sources_of(backlog, store))
    return IndexOutcome(withdrawn, summary)


def sources_of(backlog: Backlog, store: RawStore) -> list[str]:
    """What the index job has to read: the new filings, or the whole store if they are many."""
    return [store.filings_uri] if len(backlog.new) > WHOLE_STORE_AFTER else list(backlog.new)


def _known_content(index_uri: str) -> tuple[set[tuple[str, str]], set[str]]:
    """(source URI, SHA-256) of everything that the index holds or rejected, and every URI that it mentions."""
    try:
        layout.read_record(index_uri)
    except IndexMissingError:
        return set(), set()
    columns = ["source_uri", "content_sha256", "filing_id"]
    filings, sources = (
        layout.read_table(index_uri, name, columns=columns).to_pylist() for name in (schema.FILINGS, schema.SOURCES)
    )
    present = {row["filing_id"] for row in filings}
    # As in the index job, a source whose filing is missing does not count, nor does a filing without a source row: the
    # index job adds that row.
    valid = [row for row in sources if row["filing_id"] is None or row["filing_id"] in present]
    known = {(row["source_uri"], row["content_sha256"]) for row in valid}
    return known, {row["source_uri"] for row in (*filings, *sources)}
