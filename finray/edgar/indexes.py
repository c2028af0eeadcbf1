"""Reads EDGAR's daily and quarterly indexes into the ledger: new, corrected and deleted filings."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from finray.core.errors import EdgarMissingError, EdgarUnavailableError
from finray.edgar import listing, schedule
from finray.edgar.http import EdgarHttp, Reply
from finray.edgar.ledger import Entry, Ledger, relisted
from finray.edgar.listing import Index, Listed, Quarter
from finray.edgar.run import Run, Span

_PLAUSIBLE_SHARE: Final = 0.1
_PLAUSIBLE_COUNT: Final = 3
"""If a quarterly index lacks more filings than both, it is more likely incomplete than that they were deleted."""


def read_indexes(run: Run, http: EdgarHttp) -> None:
    """Read every index that is due. One that cannot be read is a problem of this run and due again in the next.

    Raises EdgarBlockedError.
    """
    units = schedule.due(run.selection, run.ledger, run.now, run.settings.recheck_days, everything=run.recheck)
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


def note_listed(filings: Iterable[Listed], run: Run, *, restore: bool = False) -> int:
    """Note the wanted filings in ledger and summary. Returns their number.

    ``restore`` brings deleted filings back. Only a quarterly index proves that they are back: a daily index goes on
    listing a filing that was deleted later.
    """
    wanted = [filing for filing in filings if run.selection.wants(filing) and run.selection.covers(filing.day)]
    for filing in wanted:
        known = run.ledger.get(filing.accession)
        if known is None or restore or known.state != "deleted":
            run.ledger.note(relisted(known, filing))
    run.summary.listed += len(wanted)
    return len(wanted)


def _read_day(run: Run, http: EdgarHttp, day: dt.date) -> None:
    unit = listing.day_unit(day)
    try:
        reply = _get(run, http, unit, listing.day_url(day), (day, day))
    except EdgarMissingError:
        run.note_missing(day)
        return
    if reply.content is not None:
        index = listing.read_day(day, reply.content)
        run.summary.indexes_read += 1
        wanted = note_listed(index.filings.values(), run)
        run.note_read(unit, (day, day), len(index.filings), wanted, reply.validator)


def _read_quarter(run: Run, http: EdgarHttp, quarter: Quarter) -> None:
    unit, (first, last) = listing.quarter_unit(quarter), schedule.span(run.selection, quarter)
    settled = schedule.is_settled(quarter, run.now, run.settings.recheck_days)
    try:
        reply = _get(run, http, unit, listing.quarter_url(quarter), (first, last))
    except EdgarMissingError as error:
        if settled:
            run.problem(f"index of {quarter}", error)
        return  # a new quarter has no index of its own in its first days
    if reply.content is None:
        return
    index = listing.read_quarter(quarter, reply.content, run.settings.max_index_bytes)
    run.summary.indexes_read += 1
    wanted = note_listed(index.filings.values(), run, restore=True)
    known = _covered(quarter, index, run.ledger)
    absent = [entry for entry in known if entry.listed.accession not in index.filings]
    if len(absent) > max(_PLAUSIBLE_COUNT, _PLAUSIBLE_SHARE * len(known)):
        run.problem(
            f"index of {quarter}",
            f"{len(absent)} filings of the ledger are not in it, such as {absent[0].listed.accession}: too many to "
            "believe that all were deleted. The next run reads it again",
        )
        return
    for entry in absent:
        run.delete(entry, f"no longer in EDGAR's index of {quarter}")
    if not settled:
        last = min(last, index.until or first)
    run.note_read(unit, (first, last), len(index.filings), wanted, reply.validator)


def _covered(quarter: Quarter, index: Index, ledger: Ledger) -> list[Entry]:
    """Entries of any form and company that were filed on the days that ``index`` covers, except deleted ones."""
    until = index.until or dt.date.min
    present = (entry for entry in ledger.entries() if entry.state != "deleted")
    return [entry for entry in present if quarter.first <= entry.listed.filed_at <= until]


def _get(run: Run, http: EdgarHttp, unit: str, url: str, span: Span) -> Reply:
    """The index at ``url``; without content if it has not changed since all of ``span`` was read from it."""
    known = run.ledger.index(unit, run.key)
    if known is None or run.recheck or not known.spans(*span):
        return http.get(url)
    reply = http.get(url, dict(known.validator))
    if reply.content is None:
        run.summary.indexes_unchanged += 1
        run.ledger.note_index(replace(known, at=run.now))
    return reply
