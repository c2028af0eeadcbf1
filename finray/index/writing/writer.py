"""The one committer of an index: batches of whole filings, atomic for readers, resumable after a kill.

Workers have written the rows into data files (``fragments.py``); a commit only changes metadata. Its order: the files
become part of ``pages``, ``chunks`` and ``facts``; the ``filings`` rows make their rows count; the rows that they
replace are deleted; ``failures`` and ``sources``. A run killed in between leaves files or rows that do not count,
which ``maintain`` or the next writer sweeps, or finished work, which the next plan recognizes by its content.

The revision of a row identifies its content, its writer and the write, so that leftovers never pass for rows of the
one that took over.
"""

from __future__ import annotations

import datetime as dt
import time
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from operator import methodcaller
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from lance.fragment import FragmentMetadata

from finray.core.errors import CommitConflictError, FilingError, IndexMissingError, SourceError, UsageError
from finray.core.settings import Settings
from finray.index import layout, schema
from finray.index.tables import digest, maintenance
from finray.index.writing.fragments import Key, WriteTarget, WrittenFilings, replaced
from finray.index.writing.plan import CommittedFiling, KnownSource, Outcome, Plan, PlannedFile, make_plan
from finray.storage.lance_commit import append, upsert
from finray.storage.locations import SourceFile

RunUpkeep = Callable[[Callable[[], object]], None]
"""Runs the upkeep, possibly on another machine. Raises what it raises."""
_COMMIT_SECONDS = 60.0
"""Longest time between commits, so that a kill costs little work."""
_FRAGMENTS_SHARE: Final = 32
"""A commit rewrites the list of a table's fragments. If each adds at least 1 / 32 of them (or a minute has passed), the
lists of all commits together are at most 33 times as long as the last."""
_KEYS: Final = ("filing_id", "revision", "content_sha256", "source_uri", "source_modified")


@dataclass(frozen=True, slots=True)
class _Pending:
    """``row`` is that of ``filings``; without ``with_children``, the child rows that the index has stay."""

    row: pa.Table
    committed: CommittedFiling
    with_children: bool

    @property
    def key(self) -> Key:
        return self.row["filing_id"][0].as_py(), self.committed.revision


def here(upkeep: Callable[[], object]) -> None:
    """Run the upkeep in this process."""
    upkeep()


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
        self._filings = dict(_committed(layout.read_table(uri, schema.FILINGS, columns=list(_KEYS))))
        self._fragments = len(layout.open_table(uri, schema.CHUNKS).get_fragments())
        columns = ["source_uri", "fingerprint", "content_sha256", "filing_id", "outcome"]
        sources = layout.read_table(uri, schema.SOURCES, columns=columns).to_pylist()
        self._known = {row.pop("source_uri"): KnownSource(**row) for row in sources}
        failures = layout.read_table(uri, schema.FAILURES, columns=["source_uri", "content_sha256"]).to_pylist()
        self._failed = {row["source_uri"] for row in failures}
        # A run that was killed left these after it had recorded that the file can be read by now.
        self._outdated = {
            row["source_uri"]
            for row in failures
            if row["content_sha256"] is not None
            and (known := self._known.get(row["source_uri"])) is not None
            and known.outcome != "failed"
        }
        self._plan = Plan(())
        self._clear()

    def plan(self, files: Sequence[SourceFile], *, retry_failed: bool = False) -> Plan:
        """The new and changed files of ``files``. New names of indexed content are recorded with the next commit."""
        self._plan = make_plan(files, self._known, self._filings, retry_failed=retry_failed)
        for file, known in self._plan.copies:
            self._sources[file.uri] = known
        return self._plan

    @property
    def target(self) -> WriteTarget:
        """Where workers write the filings that ``add`` takes."""
        return WriteTarget(self._uri, self._token)

    def add(self, planned: Mapping[str, PlannedFile], written: WrittenFilings) -> list[Outcome]:
        """Add filings to the next commit; ``planned`` is by source URI. Returns the outcome of each."""
        self._written.append(written)
        found = _committed(written.filings.select(list(_KEYS)))
        outcomes = [
            self._add(planned[new.source_uri], filing_id, new, written.filings.slice(row, 1))
            for row, (filing_id, new) in enumerate(found)
        ]
        self._flush_when_due()
        return outcomes

    def _add(self, planned: PlannedFile, filing_id: str, new: CommittedFiling, row: pa.Table) -> Outcome:
        pending = self._pending.get(filing_id)
        current = pending.committed if pending else self._filings.get(filing_id)
        outcome = self._outcome(filing_id, current, new)
        if outcome == "indexed":
            stored = self._filings.get(filing_id)
            children = stored is None or stored.content_sha256 != new.content_sha256
            if stored is not None and not children:
                new = replace(new, revision=stored.revision)
                # The digest of this row covers other child rows.
                row = replaced(replaced(row, "revision", stored.revision), digest.COLUMN, None)
            self._pending[filing_id] = _Pending(row, new, children)
        self._note(planned, new.content_sha256, filing_id, outcome)
        return outcome

    def fail(self, planned: PlannedFile, content_sha256: str | None, error: FilingError) -> None:
        """Record that a file and its copies cannot be used. Unreadable files (no digest) are always tried again."""
        for file in (planned.file, *planned.copies):
            self._failures[file.uri] = {
                "content_sha256": content_sha256,
                "stage": error.stage,
                "reason": error.reason,
                "detail": error.detail,
            }
        if content_sha256 is not None:
            self._note(planned, content_sha256, None, "failed")
        self._flush_when_due()

    def flush(self) -> None:
        """Commit what was added so far."""
        if pending := list(self._pending.values()):
            self._check_claim()
            counted = {p.key for p in pending if p.with_children}
            # Files in which no row will count never become part of a table.
            written = [some for some in self._written if not counted.isdisjoint(some.keys)]
            keys = {key for some in written for key in some.keys}
            self._write_children(written, keys)
            self._commit_filings(pending, keys, keys - counted)
        self._write_outcomes()
        self._clear()

    def finish(self, run: RunUpkeep = here) -> None:
        """Commit the rest; update search indexes, compact and clean up changed tables. ``run`` runs that upkeep."""
        self.flush()
        maintenance.sweep(self._uri)  # last rows of a writer that this one overtook
        run(partial(maintenance.tidy, self._uri, self._settings.index))

    def withdraw(self, source_uris: Collection[str]) -> int:
        """Remove the filings that were read from these files, and the records of the files. Returns their number.

        A filing that another file holds too comes back when that file is indexed again. Can be repeated after a kill:
        the row in ``filings`` goes first, and rows without it do not count.
        """
        self.flush()
        wanted = set(source_uris)
        gone = sorted(i for i, filing in self._filings.items() if filing.source_uri in wanted)
        if gone:
            self._check_claim()
            maintenance.remove(self._uri, schema.BY_FILING, [schema.is_filing(filing_id) for filing_id in gone])
            for filing_id in gone:
                del self._filings[filing_id]
        files = [schema.is_source(source_uri) for source_uri in sorted(wanted)]
        maintenance.remove(self._uri, (schema.SOURCES, schema.FAILURES), files)
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
        rows = sum(pc.sum(some.filings["n_chunks"]).as_py() or 0 for some in self._written)
        fragments = sum(len(some.fragments.get(schema.CHUNKS, ())) for some in self._written)
        full = rows >= self._settings.index.write_rows and fragments * _FRAGMENTS_SHARE >= self._fragments
        if full or time.monotonic() - self._since > _COMMIT_SECONDS:
            self.flush()

    def _clear(self) -> None:
        self._written: list[WrittenFilings] = []
        self._pending: dict[str, _Pending] = {}
        self._sources: dict[str, KnownSource] = {}
        self._failures: dict[str, dict[str, Any]] = {}
        self._since = time.monotonic()

    def _write_children(self, written: Sequence[WrittenFilings], keys: Collection[Key]) -> None:
        for name in schema.CHILDREN:
            fragments = [fragment for some in written for fragment in some.fragments.get(name, ())]
            if fragments:
                self._append(name, fragments, keys)
            if name == schema.CHUNKS:
                self._fragments += len(fragments)

    def _append(self, name: str, fragments: Sequence[FragmentMetadata], keys: Collection[Key]) -> None:
        """Make data files part of a child table. If another writer has taken over, the rows of ``keys`` go again."""
        add = append(fragments)

        def step(table: Any) -> None:
            # Checked after the table is opened: ``maintain`` removes files of a writer that it overtakes, and makes
            # sure that no commit to a version opened before succeeds (maintenance.sweep_files).
            self._check_claim(undo=keys)
            add(table)

        try:
            layout.write_dataset(self._uri, name, step)
        except SourceError:  # a conflict, or the files are gone
            self._check_claim(undo=keys)
            raise

    def _commit_filings(self, pending: Sequence[_Pending], written: Collection[Key], unused: Collection[Key]) -> None:
        """Commit the rows of ``filings``, then delete the child rows that no longer count.

        ``written`` are the keys of the child rows that are in the tables by now; ``unused`` those of them that will not
        count.
        """
        uris = {p.committed.source_uri for p in pending}
        ids = {p.key[0] for p in pending}
        gone = [i for i, f in self._filings.items() if f.source_uri in uris and i not in ids]
        # Checked again after the commit: a writer that takes over just before it may sweep these rows.
        self._check_claim(undo=written)
        rows = pa.concat_tables([p.row for p in pending])
        lost = f"filing_id IN ({schema.literals(gone)})" if gone else None
        layout.write_table(self._uri, schema.FILINGS, partial(upsert, key="filing_id", rows=rows, lost=lost))
        self._check_claim(undo=written)
        outdated = [schema.is_filing(filing_id) for filing_id in gone]
        outdated += [schema.is_revision(*key) for key in sorted(unused)]
        for filing_id, revision in (p.key for p in pending):
            if filing_id in self._filings and self._filings[filing_id].revision != revision:
                outdated.append(f"({schema.is_filing(filing_id)} AND revision != {schema.literals([revision])})")
        maintenance.remove(self._uri, schema.CHILDREN, outdated)
        for filing_id in gone:
            del self._filings[filing_id]
        self._filings |= {p.key[0]: p.committed for p in pending}

    def _check_claim(self, undo: Collection[Key] = ()) -> None:
        """Raise UsageError if another writer has taken over, after deleting this writer's rows of ``undo``."""
        if maintenance.current_claim(self._uri) != self._token:
            maintenance.remove(self._uri, schema.BY_FILING, [schema.is_revision(*key) for key in sorted(undo)])
            raise _overtaken(self._uri)

    def _write_outcomes(self) -> None:
        sources = [{"source_uri": uri, **asdict(known)} for uri, known in self._sources.items()]
        failures = [{"source_uri": uri, **failure} for uri, failure in self._failures.items()]
        # The failures first: a file that is noted as failed is not read again, so its reason must be there.
        for name, rows in ((schema.FAILURES, failures), (schema.SOURCES, sources)):
            if rows:
                at = dt.datetime.now(dt.UTC)
                table = pa.Table.from_pylist([row | {"at": at} for row in rows], self._schemas[name])
                layout.write_table(self._uri, name, partial(upsert, key="source_uri", rows=table))
        fixed = {uri for uri, known in self._sources.items() if known.outcome != "failed"} | self._outdated
        fixed = self._failed & (fixed - self._failures.keys())
        maintenance.remove(self._uri, [schema.FAILURES], [schema.is_source(uri) for uri in sorted(fixed)])
        self._failed = (self._failed | self._failures.keys()) - fixed
        self._outdated = set()
        self._known |= self._sources


def _overtaken(uri: str) -> UsageError:
    return UsageError(
        f"another index job has taken over the index at {uri!r}, so this one stops. Run one index job at a time on an "
        "index"
    )


def _committed(filings: pa.Table) -> list[tuple[str, CommittedFiling]]:
    """(filing id, filing) for each row, which has the columns ``_KEYS``."""
    return [
        (
            row.pop("filing_id"),
            CommittedFiling(rank=(row.pop("source_modified").timestamp(), row["source_uri"]), **row),
        )
        for row in filings.to_pylist()
    ]


def claim(uri: str) -> str:
    """Take over the index for writing: its current writer stops at its next commit. Returns the new claim."""
    token = uuid.uuid4().hex
    layout.note(uri, schema.FILINGS, {maintenance.CLAIM: token})
    return token
