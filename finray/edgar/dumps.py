"""Store the wanted filings of EDGAR dumps: archives and files from elsewhere, and EDGAR's own feed."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from pathlib import Path

from finray.core.errors import EdgarMissingError, EdgarUnavailableError, SourceError
from finray.edgar import feed, listing, schedule
from finray.edgar.download import downloaded, scratch_failed
from finray.edgar.fetch import done, raw_filing
from finray.edgar.http import EdgarHttp
from finray.edgar.ledger import Entry, relisted
from finray.edgar.listing import Listed
from finray.edgar.run import Problem, Run
from finray.edgar.submissions import check_submission

_ARCHIVE_BYTES = 64 * 1024**3


def read_dumps(run: Run, uri: str) -> None:
    """Read every new or changed archive and submission file at ``uri``. Raises SourceError if there is none."""
    dumps = feed.find_dumps(uri)
    for number, dump in enumerate(dumps):
        run.progress(number, len(dumps), dump.uri.rpartition("/")[2])
        if _is_due(run, f"dump {dump.uri}", dump.version):
            try:
                taken = [_take(run, delivered) for delivered in feed.read_dump(dump, run.settings.max_bytes)]
            except (EdgarUnavailableError, SourceError) as error:
                run.problem(dump.uri, error)
            else:
                _note(run, dump.uri, dump.version, dump.day, taken)
    run.progress(len(dumps), len(dumps))


def read_edgar_feed(run: Run, http: EdgarHttp) -> None:
    """Read EDGAR's own feed archives for the days of the range: one request for all filings of a day.

    Raises EdgarBlockedError.
    """
    days = list(schedule.weekdays(run.selection.since, min(run.selection.until, run.now.date())))
    for number, day in enumerate(days):
        run.progress(number, len(days), f"feed of {day}")
        url = listing.feed_url(day)
        if not _is_due(run, f"dump {url}", ""):
            continue
        try:
            with downloaded(http, url, run.scratch(), _ARCHIVE_BYTES) as archive:
                _take_archive(run, url, day, archive)
        except EdgarMissingError:
            run.note_missing(day)
        except EdgarUnavailableError as error:
            run.problem(url, error)
        except OSError as error:
            raise scratch_failed(run.scratch(), error) from error
    run.progress(len(days), len(days))


def _take_archive(run: Run, url: str, day: dt.date, archive: Path) -> None:
    """Take the wanted filings of a downloaded feed archive; a damaged one is a problem of the run."""
    try:
        with archive.open("rb") as stream:
            taken = [_take(run, delivered) for delivered in feed.read_archive(stream, url, run.settings.max_bytes)]
    except EdgarUnavailableError as error:
        run.problem(url, error)
    else:
        _note(run, url, "", day, taken)


def _is_due(run: Run, unit: str, version: str) -> bool:
    known = run.ledger.index(unit, run.key)
    if run.recheck or known is None or known.validator.get("version") != version:
        return True
    return not known.spans(run.selection.since, run.selection.until)


def _note(run: Run, uri: str, version: str, day: dt.date | None, taken: Sequence[bool]) -> None:
    """Record a dump that was read; ``taken`` is whether each of its submissions is wanted."""
    listed, wanted = len(taken), sum(taken)
    run.summary.archives_read += 1
    run.summary.listed += wanted
    # A range up to today or later covers whatever an archive can hold.
    until = dt.date.max if run.selection.until >= run.now.date() else run.selection.until
    run.note_read(f"dump {uri}", (run.selection.since, until), listed, wanted, {"version": version})
    if day is not None and run.ledger.index(listing.day_unit(day), run.key) is None:
        run.note_read(listing.day_unit(day), (day, day), listed, wanted, {})


def _take(run: Run, delivered: feed.Delivered) -> bool:
    """Store one submission if it is wanted and new; returns whether it is wanted."""
    header = delivered.header
    known = run.ledger.get(header.accession) if header.accession else None
    if header.kind == "deletion":
        if known is not None and known.state != "deleted":
            run.delete(known, f"deletion notice in {delivered.source}")
        return False
    filing = feed.listed(header)
    if filing is None:
        run.summary.skip("header without accession number, form, company or date")
        return False
    if not (run.selection.wants(filing) and run.selection.covers(filing.filed_at)):
        return False
    stored = known is not None and known.state in ("done", "deleted") and header.kind != "correction"
    if not run.dry_run and not stored:
        _store(run, relisted(known, filing), filing, delivered)
    return True


def _store(run: Run, entry: Entry, filing: Listed, delivered: feed.Delivered) -> None:
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
    kept = run.store.get(filing.accession)
    if kept is not None and kept.sha256 == raw.sha256:
        summary.adopted += 1
    else:
        run.store.put(raw, content)
        summary.fetched += 1
        summary.bytes_fetched += raw.size
        summary.corrected += bool(entry.sha256)
    run.ledger.note(done(entry, raw))
