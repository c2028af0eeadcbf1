"""Read EDGAR's daily and quarterly indexes, and note what they list."""

from __future__ import annotations

import dataclasses
import datetime as dt

from finray.core.errors import EdgarMissingError, EdgarUnavailableError
from finray.edgar import listing, schedule
from finray.edgar.apply import gone, note_listed
from finray.edgar.http import EdgarHttp, Reply
from finray.edgar.listing import Quarter
from finray.edgar.run import Run


def read_indexes(run: Run, http: EdgarHttp) -> None:
    """Read every index that is due. One that cannot be read is a problem of the run, and due again in the next.

    Raises EdgarBlockedError.
    """
    due = schedule.due(run.selection, run.ledger, run.now, run.settings.recheck_days, everything=run.recheck)
    units: list[Quarter | dt.date] = [*due.quarters, *due.days]
    for number, unit in enumerate(units):
        run.progress(number, len(units), f"index of {unit}")
        try:
            if isinstance(unit, Quarter):
                _read_quarter(run, http, unit)
            else:
                _read_day(run, http, unit)
        except EdgarUnavailableError as error:
            run.problem(f"index of {unit}", error)
    run.ledger.commit()
    run.progress(len(units), len(units))


def _read_day(run: Run, http: EdgarHttp, day: dt.date) -> None:
    unit = listing.day_unit(day)
    try:
        reply = _ask(run, http, unit, listing.day_url(day), (day, day))
    except EdgarMissingError:
        if schedule.is_holiday(day, run.now):
            run.note_read(unit, day, day, listed=0, wanted=0, validator={}, missing=True)
        return
    if reply.content is not None:
        index = listing.read_day(day, reply.content)
        wanted = note_listed(index.filings.values(), run.selection, run.ledger, restore=False)
        run.tally.indexes_read += 1
        run.tally.listed += wanted
        run.note_read(unit, day, day, listed=len(index.filings), wanted=wanted, validator=reply.validator)


def _read_quarter(run: Run, http: EdgarHttp, quarter: Quarter) -> None:
    unit, (first, last) = listing.quarter_unit(quarter), schedule.span(run.selection, quarter)
    settled = schedule.is_settled(quarter, run.now, run.settings.recheck_days)
    try:
        reply = _ask(run, http, unit, listing.quarter_url(quarter), (first, last))
    except EdgarMissingError as error:
        if settled:
            run.problem(f"index of {quarter}", error)
        return  # a new quarter has no index of its own in its first days
    if reply.content is None:
        return
    index = listing.read_quarter(quarter, reply.content, run.settings.max_index_bytes)
    wanted = note_listed(index.filings.values(), run.selection, run.ledger, restore=True)
    run.tally.indexes_read += 1
    run.tally.listed += wanted
    deleted = gone(quarter, index, run.ledger)
    if not deleted.believable:
        run.problem(
            f"index of {quarter}",
            f"{len(deleted.entries)} filings of the ledger are not in it, too many to believe that all were deleted, "
            f"such as {deleted.entries[0].listed.accession}: it is read again in the next run",
        )
        return
    for entry in deleted.entries:
        run.delete(entry, f"not in EDGAR's index of {quarter} any more")
    if not settled:
        last = min(last, index.until or first)
    run.note_read(unit, first, last, listed=len(index.filings), wanted=wanted, validator=reply.validator)


def _ask(run: Run, http: EdgarHttp, unit: str, url: str, span: tuple[dt.date, dt.date]) -> Reply:
    """The index at ``url``; without content where it has not changed since all of ``span`` was taken from it."""
    known = run.ledger.index(unit, run.key)
    spanned = known is not None and known.spans(*span)
    reply = http.get(url, dict(known.validator) if known is not None and spanned and not run.recheck else None)
    if reply.content is None and known is not None:
        run.tally.indexes_unchanged += 1
        run.ledger.note_index(dataclasses.replace(known, at=run.now))
    return reply
