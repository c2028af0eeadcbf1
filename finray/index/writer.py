"""The one committer of an index: batches of whole filings, atomic for readers, resumable after a kill.

The order of a commit: rows of ``pages``, ``chunks`` and ``facts``; the ``filings`` rows, which make them count; the
deletion of the rows that they replace; ``sources`` and ``failures``. A run killed in between leaves uncommitted rows,
which the next writer sweeps, or finished work, which the next plan recognizes by its content.

The revision of a row identifies its content and its writer, so that leftovers of an overtaken writer never pass for
rows of the one that took over.
"""

from __future__ import annotations

import datetime as dt
import time
import uuid
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import methodcaller
from types import TracebackType
from typing import Any

import lance
import pyarrow as pa

from finray.core.errors import CommitConflictError, FilingError, IndexMissingError, UsageError
from finray.core.settings import Settings
from finray.index import digest, layout, maintenance, schema
from finray.index.bundle import FilingBundle
from finray.index.plan import CommittedFiling, KnownSource, Outcome, Plan, PlannedFile, make_plan
from finray.storage.locations import SourceFile

_COMMIT_SECONDS = 60.0
"""Longest time between commits, so that a kill costs little work."""


@dataclass(frozen=True, slots=True)
class _Pending:
    planned: PlannedFile
    bundle: FilingBundle
    committed: CommittedFiling
    with_children: bool


class IndexWriter:
    """Opens the index at ``uri`` for writing, and creates it if there is none.

    One writer at a time: a second one takes over, and the first stops at its next commit with UsageError.
    Raises IndexMismatchError if the index was built with other ``settings`` or another ``dimension``.
    """

    def __init__(self, uri: str, settings: Settings, dimension: int) -> None:
        self._uri = uri
        self._settings = settings
        self._dimension = dimension
        self._schemas = schema.table_schemas(dimension)
        wanted = layout.IndexRecord.of(settings, dimension)
        try:
            layout.check_record(uri, layout.read_record(uri), wanted)
        except IndexMissingError:
            # Tables that have lost their record may have been built with other settings.
            layout.check_record(uri, layout.noted_record(uri) or wanted, wanted)
            layout.create(uri, wanted)
        try:
            self._token = claim(uri)
            layout.note_record(uri, wanted)
            if digest.COLUMN not in layout.open_table(uri, schema.FILINGS).schema.names:
                field = self._schemas[schema.FILINGS].field(digest.COLUMN)
                layout.write_table(uri, schema.FILINGS, methodcaller("add_columns", field))
        except CommitConflictError as error:
            raise _overtaken(uri) from error
        maintenance.sweep(uri)
        self._filings = _committed_filings(uri)
        self._known = _known_sources(uri)
        self._failed = {row["source_uri"] for row in _rows(uri, schema.FAILURES, ["source_uri"])}
        self._plan = Plan(())
        self._clear()

    def __enter__(self) -> IndexWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.finish()

    def plan(self, files: Sequence[SourceFile], *, retry_failed: bool = False) -> Plan:
        """The new and changed files of ``files``. New names of indexed content are recorded with the next commit."""
        self._plan = make_plan(files, self._known, self._filings, retry_failed=retry_failed)
        for file, known in self._plan.copies:
            self._sources[file.uri] = known
        return self._plan

    def add(self, planned: PlannedFile, bundle: FilingBundle) -> Outcome:
        """Add one encoded filing to the next commit. Returns its outcome."""
        uri, filing = planned.file.uri, bundle.filing
        rank = (planned.file.modified.timestamp(), uri)
        new = CommittedFiling(maintenance.revision_by(bundle.revision, self._token), filing.content_sha256, uri, rank)
        pending = self._pending.get(filing.filing_id)
        current = pending.committed if pending else self._filings.get(filing.filing_id)
        outcome = self._outcome(filing.filing_id, current, new)
        if outcome == "indexed":
            stored = self._filings.get(filing.filing_id)
            children = stored is None or stored.content_sha256 != new.content_sha256
            if stored is not None and not children:
                new = replace(new, revision=stored.revision)
            self._pending[filing.filing_id] = _Pending(planned, bundle, new, children)
        self._note(planned, new.content_sha256, filing.filing_id, outcome)
        self._flush_when_due()
        return outcome

    def fail(self, planned: PlannedFile, content_sha256: str | None, error: FilingError) -> None:
        """Record that a file and its copies cannot be used. Unreadable files (no digest) are always tried again."""
        for file in (planned.file, *planned.copies):
            self._failures[file.uri] = {
                "source_uri": file.uri,
                "content_sha256": content_sha256,
                "stage": error.stage,
                "reason": error.reason,
                "detail": error.detail,
                "at": dt.datetime.now(dt.UTC),
            }
        if content_sha256 is not None:
            self._note(planned, content_sha256, None, "failed")
        self._flush_when_due()

    def flush(self) -> None:
        """Commit what was added so far."""
        if pending := list(self._pending.values()):
            self._check_claim()
            self._write_children([p for p in pending if p.with_children])
            self._commit_filings(pending)
        self._write_outcomes()
        self._clear()

    def finish(self) -> None:
        """Commit the rest; update search indexes, compact and clean up changed tables."""
        self.flush()
        maintenance.sweep(self._uri)  # last rows of a writer that this one overtook
        maintenance.tidy(self._uri, self._settings.index)

    def withdraw(self, source_uris: Collection[str]) -> int:
        """Remove the filings that were read from these files, and the records of the files; returns the number.

        A filing that another file holds too comes back when that file is indexed again. Can be repeated after a kill:
        the filing's row goes first, and rows without a filing do not count.
        """
        self.flush()
        wanted = set(source_uris)
        gone = sorted(i for i, filing in self._filings.items() if filing.source_uri in wanted)
        if gone:
            self._check_claim()
            maintenance.remove_filings(self._uri, gone)
            for filing_id in gone:
                del self._filings[filing_id]
        for name in (schema.SOURCES, schema.FAILURES):
            maintenance.remove_sources(self._uri, name, sorted(wanted))
        self._known = {uri: known for uri, known in self._known.items() if uri not in wanted}
        self._failed -= wanted
        return len(gone)

    def _outcome(self, filing_id: str, current: CommittedFiling | None, new: CommittedFiling) -> Outcome:
        if current is None or current.source_uri == new.source_uri:
            return "indexed"
        if current.content_sha256 != new.content_sha256:
            return "indexed" if new.rank > current.rank else "superseded"
        # One content under two names: the first name in URI order counts, or the one that still has this content.
        displaced = filing_id in self._plan.displaced and filing_id not in self._pending
        first = current.source_uri in self._plan.listed and new.source_uri < current.source_uri
        return "indexed" if displaced or first else "duplicate"

    def _note(self, planned: PlannedFile, content_sha256: str, filing_id: str | None, outcome: Outcome) -> None:
        fingerprint = planned.fingerprint
        self._sources[planned.file.uri] = KnownSource(fingerprint, content_sha256, filing_id, outcome)
        copied: Outcome = "duplicate" if outcome == "indexed" else outcome
        for file in planned.copies:
            self._sources[file.uri] = KnownSource(fingerprint, content_sha256, filing_id, copied)

    def _flush_when_due(self) -> None:
        rows = sum(p.bundle.chunks.num_rows for p in self._pending.values())
        if rows >= self._settings.index.write_rows or time.monotonic() - self._since > _COMMIT_SECONDS:
            self.flush()

    def _clear(self) -> None:
        self._pending: dict[str, _Pending] = {}
        self._sources: dict[str, KnownSource] = {}
        self._failures: dict[str, dict[str, Any]] = {}
        self._since = time.monotonic()

    def _write_children(self, pending: Sequence[_Pending]) -> None:
        for name in schema.CHILDREN:
            tables = [_with_revision(getattr(p.bundle, name), p.committed.revision) for p in pending]
            rows = [table.cast(self._schemas[name]) for table in tables if table.num_rows]
            if rows:
                keys = [(p.bundle.filing.filing_id, p.committed.revision) for p in pending]
                undo = partial(maintenance.remove_rows, self._uri, name, keys)
                append = partial(lance.write_dataset, pa.concat_tables(rows), mode="append")
                layout.write_table(self._uri, name, append, undo=undo)

    def _commit_filings(self, pending: Sequence[_Pending]) -> None:
        uris = {p.committed.source_uri for p in pending}
        ids = {p.bundle.filing.filing_id for p in pending}
        gone = [i for i, f in self._filings.items() if f.source_uri in uris and i not in ids]
        # Checked again after the commit: a writer that takes over just before it may sweep these rows.
        self._check_claim(undo=pending)
        rows = pa.concat_tables([self._filing_row(p) for p in pending])
        layout.write_table(self._uri, schema.FILINGS, partial(_commit, rows, gone))
        self._check_claim(undo=pending)
        replaced = [
            (filing_id, p.committed.revision)
            for p in pending
            if (filing_id := p.bundle.filing.filing_id) in self._filings
            and self._filings[filing_id].revision != p.committed.revision
        ]
        maintenance.delete_children(self._uri, gone, replaced)
        for filing_id in gone:
            del self._filings[filing_id]
        self._filings |= {p.bundle.filing.filing_id: p.committed for p in pending}

    def _check_claim(self, undo: Sequence[_Pending] = ()) -> None:
        """Raise UsageError if another writer has taken over, after deleting this writer's child rows of ``undo``."""
        if layout.open_table(self._uri, schema.FILINGS).config().get(maintenance.CLAIM) != self._token:
            own = [(p.bundle.filing.filing_id, p.committed.revision) for p in undo if p.with_children]
            maintenance.remove_revisions(self._uri, own)
            raise _overtaken(self._uri)

    def _filing_row(self, pending: _Pending) -> pa.Table:
        """The row of a filing as a table. The digest covers this bundle's rows: null if older rows of the same content
        stay."""
        bundle = pending.bundle
        values = {
            **schema.filing_row(bundle.filing),
            "revision": pending.committed.revision,
            "source_modified": pending.planned.file.modified,
            "n_pages": bundle.pages.num_rows,
            "n_chunks": bundle.chunks.num_rows,
            "n_facts": bundle.facts.num_rows,
            "status": " ".join(bundle.filing.marks) or "indexed",
            "indexed_at": dt.datetime.now(dt.UTC),
            "summary": bundle.summary,
            "vector": bundle.vector,
            digest.COLUMN: None,
        }
        row = pa.Table.from_pylist([values], self._schemas[schema.FILINGS])
        if not pending.with_children:
            return row
        children = {name: getattr(bundle, name).cast(self._schemas[name]) for name in schema.CHILDREN}
        found = pa.array([digest.filing_digest(row, children)], pa.string())
        return row.set_column(row.schema.get_field_index(digest.COLUMN), row.schema.field(digest.COLUMN), found)

    def _write_outcomes(self) -> None:
        now = dt.datetime.now(dt.UTC)
        rows = [
            {
                "source_uri": uri,
                "fingerprint": known.fingerprint,
                "content_sha256": known.content_sha256,
                "filing_id": known.filing_id,
                "outcome": known.outcome,
                "at": now,
            }
            for uri, known in self._sources.items()
        ]
        self._upsert(schema.SOURCES, rows)
        self._upsert(schema.FAILURES, list(self._failures.values()))
        fixed = self._failed & {uri for uri, known in self._sources.items() if known.outcome != "failed"}
        if fixed:
            maintenance.remove_sources(self._uri, schema.FAILURES, sorted(fixed))
        self._failed = (self._failed | self._failures.keys()) - fixed
        self._known |= self._sources

    def _upsert(self, name: str, rows: Sequence[dict[str, Any]]) -> None:
        if rows:
            layout.write_table(self._uri, name, partial(_upsert, pa.Table.from_pylist(list(rows), self._schemas[name])))


def _overtaken(uri: str) -> UsageError:
    return UsageError(
        f"another index job has taken over the index at {uri!r}, so this one stops. Run one index job at a time on an "
        "index"
    )


def _commit(rows: pa.Table, gone: Sequence[str], table: Any) -> None:
    merge = table.merge_insert("filing_id").when_matched_update_all().when_not_matched_insert_all()
    if gone:
        merge = merge.when_not_matched_by_source_delete(f"filing_id IN ({schema.literals(gone)})")
    merge.execute(rows)


def _upsert(rows: pa.Table, table: Any) -> None:
    table.merge_insert("source_uri").when_matched_update_all().when_not_matched_insert_all().execute(rows)


def _with_revision(table: pa.Table, revision: str) -> pa.Table:
    place = table.schema.get_field_index("revision")
    return table.set_column(place, "revision", pa.repeat(pa.scalar(revision), table.num_rows))


def claim(uri: str) -> str:
    """Take over the index for writing: its current writer stops at its next commit. Returns the new claim."""
    token = uuid.uuid4().hex
    layout.write_table(uri, schema.FILINGS, methodcaller("update_config", {maintenance.CLAIM: token}))
    return token


def _committed_filings(uri: str) -> dict[str, CommittedFiling]:
    columns = ["filing_id", "revision", "content_sha256", "source_uri", "source_modified"]
    return {
        row.pop("filing_id"): CommittedFiling(rank=(row.pop("source_modified").timestamp(), row["source_uri"]), **row)
        for row in _rows(uri, schema.FILINGS, columns)
    }


def _known_sources(uri: str) -> dict[str, KnownSource]:
    columns = ["source_uri", "fingerprint", "content_sha256", "filing_id", "outcome"]
    return {row.pop("source_uri"): KnownSource(**row) for row in _rows(uri, schema.SOURCES, columns)}


def _rows(uri: str, name: str, columns: Sequence[str]) -> Iterable[dict[str, Any]]:
    table = layout.open_table(uri, name)
    with layout.reading(uri, name):
        rows: list[dict[str, Any]] = table.to_table(columns=list(columns)).to_pylist()
    return rows
