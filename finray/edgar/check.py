"""Compares the raw store, its ledger and the index, and repairs what disagrees.

A repair never invents content: the next sync fetches a damaged raw filing again, a filing that the ledger lost is
noted again, and the index job adds what the index lacks.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from finray.core.errors import SourceError
from finray.core.settings import Settings
from finray.edgar.fetch import done, raw_filing
from finray.edgar.indexing import IndexNew, bring_up_to_date, index_backlog
from finray.edgar.ledger import SETTLED, Entry, Ledger
from finray.edgar.listing import Listed
from finray.edgar.store import RawFiling, RawStore
from finray.index import layout
from finray.index.upkeep.check import Finding, check_index, repair_index, roll_back
from finray.index.writing.writer import claim
from finray.storage.locations import list_objects, read_bytes


def check_all(index: str, raw: str | None, *, deep: bool = False) -> list[Finding]:
    """Problems of the index, and of the raw store ``raw`` behind it. Raises IndexMissingError, SourceError."""
    findings = check_index(index, deep=deep)
    if raw is not None:
        store = RawStore(raw)
        ledger = Ledger(store.ledger_uri, read_only=True)
        findings += check_raw(store, ledger, deep=deep)
        if not any(finding.kind == "unreadable" for finding in findings):
            findings += check_indexed(store, ledger, index)
    return findings


def repair_all(index: str, raw: str | None, settings: Settings, found: Sequence[Finding], index_new: IndexNew) -> None:
    """Repair what ``check_all`` found: the index first, then the raw store, then index what it lacks of the store.

    Raises IndexMismatchError if the index was built with other settings.
    """
    record = layout.read_record(index)
    layout.check_record(index, record, layout.IndexRecord.of(settings, record.dimension))
    roll_back(index)
    claim(index)
    repair_index(index)
    if raw is not None:
        store = RawStore(raw)
        ledger = Ledger(store.ledger_uri)
        repair_raw(store, ledger, [finding for finding in found if finding.kind.startswith("raw_")])
        ledger.tidy()
        bring_up_to_date(ledger, store, index, settings, index_new)


def check_raw(store: RawStore, ledger: Ledger, *, deep: bool = False) -> Iterator[Finding]:
    """Problems of a raw store; ``deep`` reads every filing and compares its SHA-256. Raises SourceError.

    Kinds: ``raw_missing``, ``raw_size``, ``raw_content``, ``raw_mark``, ``raw_unmarked``, ``raw_unknown``,
    ``raw_not_deleted``.
    """
    objects = {file.uri: file.size for file in list_objects(store.filings_uri)}
    filings = {PurePosixPath(uri).stem: uri for uri in objects if uri.endswith(".txt")}
    marks = {PurePosixPath(uri).stem for uri in objects if uri.endswith(".json")}
    for entry in ledger.entries():
        accession = entry.listed.accession
        where = store.filing_uri(accession)
        if entry.state == "deleted" and accession in filings:
            yield Finding("raw_not_deleted", where, f"deleted according to the ledger: {entry.reason}")
        elif entry.state == "done" and (accession not in filings or accession not in marks):
            yield Finding("raw_missing", where, "stored according to the ledger")
        elif entry.state == "done" and objects[filings[accession]] != entry.size:
            yield Finding("raw_size", where, f"{objects[filings[accession]]:,} bytes, {entry.size:,} in the ledger")
        elif entry.state == "done" and deep:
            yield from _content_findings(store, entry)
    for accession, uri in filings.items():
        known = ledger.get(accession)
        if known is not None and known.state in SETTLED:
            continue
        if accession not in marks:
            yield Finding("raw_unmarked", uri, "left by a run that was killed; the next sync fetches it")
        else:
            yield Finding("raw_unknown", uri, "complete, but not in the ledger")


def check_indexed(store: RawStore, ledger: Ledger, index_uri: str) -> list[Finding]:
    """Raw filings that the index lacks (``not_indexed``) and deleted ones that it still holds (``not_withdrawn``)."""
    backlog = index_backlog(ledger, store, index_uri)
    return [
        *(Finding("not_indexed", uri, "the index does not hold this content") for uri in backlog.new),
        *(Finding("not_withdrawn", uri, "deleted by EDGAR, still in the index") for uri in backlog.deleted),
    ]


def repair_raw(store: RawStore, ledger: Ledger, findings: Iterable[Finding]) -> None:
    """Make the next sync fetch damaged filings, and note those that the ledger does not know.

    Raises SourceError if the record of such a filing has no filing date.
    """
    for finding in list(findings):
        accession = PurePosixPath(finding.where).stem
        entry = ledger.get(accession)
        match finding.kind:
            case "raw_unmarked":
                store.forget(accession)
            case "raw_missing" | "raw_size" | "raw_content" | "raw_mark":
                store.forget(accession)
                if entry is not None:
                    ledger.note(replace(entry, state="pending", reason=f"repaired: {finding.kind}", sha256="", size=0))
            case "raw_unknown":
                if (kept := store.get(accession)) is not None:
                    ledger.note(_entry_of(accession, kept))
            case "raw_not_deleted" if entry is not None:
                store.retire(accession, entry.reason)
    ledger.commit()


def _entry_of(accession: str, kept: RawFiling) -> Entry:
    """The ledger entry of a stored filing. Raises SourceError."""
    if (day := kept.filed_at) is None:
        raise SourceError(f"the raw filing {accession} has no filing date; delete its .json to fetch it again")
    listed = Listed(accession, kept.form, kept.company, kept.ciks, day, day, kept.url)
    return done(Entry(listed, "pending"), kept)


def _content_findings(store: RawStore, entry: Entry) -> Iterator[Finding]:
    """Problems of a filing's bytes, or else of its record."""
    where = store.filing_uri(entry.listed.accession)
    content = read_bytes(where)
    if hashlib.sha256(content).hexdigest() != entry.sha256:
        yield Finding("raw_content", where, "its SHA-256 differs from the ledger's")
    elif problem := _mark_problem(store, entry, content):
        yield Finding("raw_mark", where, problem)


def _mark_problem(store: RawStore, entry: Entry, content: bytes) -> str:
    """What is wrong with the ``.json`` of a filing whose content is right, or ""."""
    try:
        kept = store.get(entry.listed.accession)
    except SourceError as error:
        return str(error)
    if kept is None:
        return "its .json is missing"
    expected = raw_filing(entry, content, kept.source)
    names = ("accession", "form", "company", "filed_at", "period", "sha256", "size")
    wrong = [name for name in names if getattr(kept, name) != getattr(expected, name)]
    if not {*kept.ciks} <= {*expected.ciks}:  # EDGAR's indexes may have named more filers since
        wrong.append("ciks")
    return f"its .json disagrees with the filing: {', '.join(wrong)}" if wrong else ""
