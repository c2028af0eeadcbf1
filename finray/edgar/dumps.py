"""Stores the wanted filings of EDGAR dumps: archives and files from elsewhere, and EDGAR's own feed."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial

from finray.core.errors import EdgarBlockedError, EdgarMissingError, EdgarUnavailableError, SourceError
from finray.edgar import feed, listing, schedule
from finray.edgar.download import downloaded, scratch_failed
from finray.edgar.fetch import done, raw_filing
from finray.edgar.http import EdgarHttp
from finray.edgar.ledger import SETTLED, Entry, relisted
from finray.edgar.listing import Listed
from finray.edgar.run import Problem, Run
from finray.edgar.store import RawFiling
from finray.edgar.submissions import Header, check_submission
from finray.edgar.unpack import Contents, Unpacked, UnpackedDump, Unpacker, UnpackJob

_ARCHIVE_BYTES = 64 * 1024**3


def read_dumps(run: Run, uri: str, unpacker: Unpacker | None) -> None:
    """Read every new or changed archive and submission file at ``uri``. Raises SourceError if there is none.

    ``unpacker`` unpacks them; None: this process does, one after the other.
    """
    dumps = feed.find_dumps(uri)

    def due() -> Iterator[feed.Dump]:
        for number, dump in enumerate(dumps):
            run.progress(number, len(dumps), dump.uri.rpartition("/")[2])
            if _is_due(run, f"dump {dump.uri}", dump.version):
                yield dump

    _take_all(run, unpacker, due())
    run.progress(len(dumps), len(dumps))


def read_edgar_feed(run: Run, http: EdgarHttp, unpacker: Unpacker | None) -> None:
    """Read EDGAR's own feed archives of the range, one request for all filings of a day.

    Raises EdgarBlockedError.
    """
    days = list(schedule.weekdays(run.selection.since, min(run.selection.until, run.now.date())))
    downloads: dict[str, ExitStack] = {}
    blocked: list[EdgarBlockedError] = []

    def archives() -> Iterator[feed.Dump]:
        for number, day in enumerate(days):
            run.progress(number, len(days), f"feed of {day}")
            url = listing.feed_url(day)
            if not _is_due(run, f"dump {url}", ""):
                continue
            download = unfinished.enter_context(ExitStack())
            try:
                archive = download.enter_context(downloaded(http, url, run.scratch(), _ARCHIVE_BYTES))
            except EdgarMissingError:
                run.note_missing(day)
            except EdgarBlockedError as error:
                blocked.append(error)  # raised below, after the archives that are already here
                return
            except EdgarUnavailableError as error:
                run.problem(url, error)
            except OSError as error:
                raise scratch_failed(run.scratch(), error) from error
            else:
                downloads[url] = download
                yield feed.Dump(str(archive), "", True, url)

    with ExitStack() as unfinished:  # after an error, downloads stay for the next run
        _take_all(run, unpacker, archives(), lambda dump: downloads.pop(dump.source).close())
    if blocked:
        raise blocked[0]
    run.progress(len(days), len(days))


def _take_all(
    run: Run,
    unpacker: Unpacker | None,
    dumps: Iterator[feed.Dump],
    taken: Callable[[feed.Dump], None] | None = None,
) -> None:
    """Take the wanted filings of all ``dumps``, calling ``taken`` after each; a damaged one is a problem of the run."""
    if unpacker is not None:
        job = UnpackJob.of(run)
        for found in unpacker.unpack(job, dumps):
            _take_unpacked(run, unpacker, job, found)
            if taken is not None:
                taken(found.dump)
        return
    for dump in dumps:
        try:
            wanted = [
                _take(run, delivered.header, delivered.source, partial(_store, run, delivered))
                for delivered in feed.read_dump(dump, run.settings.max_bytes)
            ]
        except EdgarUnavailableError as error:
            run.problem(dump.name, error)
        except SourceError as error:
            if dump.source:  # no reason to download more of them
                raise
            run.problem(dump.name, error)
        else:
            _note_read(run, dump, len(wanted), sum(wanted))
        if taken is not None:
            taken(dump)


def _take_unpacked(run: Run, unpacker: Unpacker, job: UnpackJob, found: UnpackedDump) -> None:
    """Take the submissions of a dump that a worker has unpacked, in their order."""
    contents = Contents(found, run.settings.max_bytes)

    def take(one: Unpacked) -> bool:
        accession = one.header.accession or ""
        displaced = one.owner > found.number and accession not in job.settled
        if displaced:
            unpacker.wait(one.owner)
            known = run.ledger.get(accession)
            if one.header.kind == "deletion" and known is not None:
                _displace(run, known)

        def store(entry: Entry, filing: Listed) -> None:
            if one.stored is not None:
                _count(run, entry, one.stored, adopted=one.adopted)
                run.ledger.note(done(entry, one.stored))
            else:
                _store(run, contents.of(one), entry, filing, displaced=displaced)

        return _take(run, one.header, one.source, store)

    try:
        wanted = [take(one) for one in found.submissions]
    except (EdgarUnavailableError, SourceError) as error:
        run.problem(found.dump.name, error)
        return
    if found.problem:
        run.problem(found.dump.name, found.problem)
    else:
        _note_read(run, found.dump, len(wanted) + found.unwanted, sum(wanted))


def _displace(run: Run, entry: Entry) -> None:
    """Remove what a worker has stored from a later dump, because this one comes first."""
    if not (run.dry_run or entry.sha256):
        run.store.forget(entry.listed.accession)


def _is_due(run: Run, unit: str, version: str) -> bool:
    known = run.ledger.index(unit, run.key)
    if run.recheck or known is None or known.validator.get("version") != version:
        return True
    return not known.spans(run.selection.since, run.selection.until)


def _note_read(run: Run, dump: feed.Dump, listed: int, wanted: int) -> None:
    """Record a dump that was read: it has ``listed`` submissions, of which ``wanted`` are wanted."""
    run.summary.archives_read += 1
    run.summary.listed += wanted
    # A range up to today or later covers whatever an archive can hold.
    until = dt.date.max if run.selection.until >= run.now.date() else run.selection.until
    run.note_read(f"dump {dump.name}", (run.selection.since, until), listed, wanted, {"version": dump.version})
    day = dump.day
    if day is not None and run.ledger.index(listing.day_unit(day), run.key) is None:
        run.note_read(listing.day_unit(day), (day, day), listed, wanted, {})


def _take(run: Run, header: Header, source: str, store: Callable[[Entry, Listed], None]) -> bool:
    """``store`` one submission if it is wanted and new; returns whether it is wanted."""
    known = run.ledger.get(header.accession or "")
    if header.kind == "deletion":
        if known is not None and known.state != "deleted":
            run.delete(known, f"deletion notice in {source}")
        return False
    filing = feed.listed(header)
    if filing is None:
        run.summary.skip("header without accession number, form, company or date")
        return False
    if not (run.selection.wants(filing) and run.selection.covers(filing.filed_at)):
        return False
    settled = known is not None and known.state in SETTLED and header.kind != "correction"
    if not run.dry_run and not settled:
        store(relisted(known, filing), filing)
    return True


def _store(run: Run, delivered: feed.Delivered, entry: Entry, filing: Listed, *, displaced: bool = False) -> None:
    """Store a filing and note the outcome. ``displaced``: a worker may have stored it from a later dump."""
    summary, content = run.summary, delivered.content
    if content is None:
        summary.skip("too_large")
        reason = f"too_large: {delivered.size:,} bytes are over edgar.max_bytes = {run.settings.max_bytes:,}"
        run.ledger.note(Entry(filing, "skipped", reason))
        return
    try:
        check_submission(content)
        raw = raw_filing(entry, content, delivered.source)
    except EdgarUnavailableError as error:
        summary.failed.append(Problem(delivered.source, str(error)))
        run.ledger.note(Entry(filing, "failed", str(error), entry.tries + 1))
        return
    if displaced:
        _displace(run, entry)
    kept = run.store.get(filing.accession)
    adopted = kept is not None and kept.sha256 == raw.sha256
    if not adopted:
        run.store.put(raw, content)
    _count(run, entry, raw, adopted=adopted)
    run.ledger.note(done(entry, raw))


def _count(run: Run, entry: Entry, raw: RawFiling, *, adopted: bool) -> None:
    summary = run.summary
    if adopted:
        summary.adopted += 1
    else:
        summary.fetched += 1
        summary.bytes_fetched += raw.size
        summary.corrected += bool(entry.sha256)
