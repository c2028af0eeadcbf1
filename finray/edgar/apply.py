"""What an index that was read means for the ledger: new, corrected and deleted filings."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass

from finray.edgar.ledger import Entry, Ledger, relisted
from finray.edgar.listing import Index, Listed, Quarter
from finray.edgar.selection import Selection

_BELIEVABLE_SHARE = 0.1
_BELIEVABLE_COUNT = 3


def note_listed(filings: Iterable[Listed], selection: Selection, ledger: Ledger, *, restore: bool) -> int:
    """Note the filings that are wanted; returns how many. ``restore`` brings back what was deleted: only the quarterly
    index knows, the daily one goes on listing a filing that was deleted later."""
    wanted = 0
    for filing in filings:
        if not (selection.wants(filing) and selection.covers(filing.day)):
            continue
        wanted += 1
        known = ledger.get(filing.accession)
        if known is None or restore or known.state != "deleted":
            ledger.note(relisted(known, filing))
    return wanted


@dataclass(frozen=True, slots=True)
class Gone:
    """Entries that a quarterly index does not have any more. ``believable`` is False where they are so many that the
    index is more likely to be incomplete than right."""

    entries: tuple[Entry, ...]
    believable: bool


def gone(quarter: Quarter, index: Index, ledger: Ledger) -> Gone:
    """What the ledger has of the days that ``index`` covers, and ``index`` has not, whatever its form or company."""
    covered = [entry for entry in ledger.entries() if entry.state != "deleted" and _covers(quarter, index, entry)]
    missing = tuple(entry for entry in covered if entry.listed.accession not in index.filings)
    limit = max(_BELIEVABLE_COUNT, _BELIEVABLE_SHARE * len(covered))
    return Gone(missing, believable=len(missing) <= limit)


def _covers(quarter: Quarter, index: Index, entry: Entry) -> bool:
    filed: dt.date | None = entry.listed.filed_at
    return filed is not None and index.until is not None and quarter.first <= filed <= index.until
