"""The companies of a run as CIKs. Tickers are looked up at EDGAR once and remembered beside the ledger.

EDGAR lists today's tickers. A ticker stays with the company that had it when it was first looked up, so an old list
still follows a company that was renamed.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from finray.core.errors import SourceError, UsageError
from finray.edgar.http import EdgarHttp
from finray.edgar.listing import company_tickers_url
from finray.edgar.selection import Companies, read_company_tickers
from finray.edgar.store import RawStore
from finray.storage.locations import exists, join, read_bytes, write_bytes

_SHOWN = 3
"""Unknown tickers that an error names."""


def wanted_ciks(
    lists: Sequence[Companies], store: RawStore, http: EdgarHttp | None, *, dry_run: bool
) -> tuple[frozenset[str] | None, tuple[str, ...]]:
    """The CIKs of ``lists`` (None: every company), and the tickers that EDGAR does not know.

    Raises SourceError, and UsageError if no company is known.
    """
    if not lists:
        return None, ()
    tickers = frozenset[str]().union(*(companies.tickers for companies in lists))
    found = _look_up(tickers, store, http, dry_run=dry_run) if tickers else {}
    ciks = frozenset(found.values()).union(*(companies.ciks for companies in lists))
    unknown = tuple(sorted(tickers - found.keys()))
    if not ciks:
        shown = ", ".join(map(repr, unknown[:_SHOWN])) + (" ..." if len(unknown) > _SHOWN else "")
        raise UsageError(f"EDGAR does not know {shown}; check the tickers, or give CIKs")
    return ciks, unknown


def _look_up(tickers: frozenset[str], store: RawStore, http: EdgarHttp | None, *, dry_run: bool) -> dict[str, str]:
    """Ticker -> CIK, without the tickers that EDGAR does not know. Writes new ones down unless this is a dry run."""
    where = join(store.ledger_uri, "tickers.json")
    remembered = _read_remembered(where)
    found = {ticker: cik for ticker, cik in remembered.items() if ticker in tickers}
    if http is not None and len(found) < len(tickers):
        listed = read_company_tickers(http.get(company_tickers_url()).content or b"")
        found = {ticker: listed[ticker] for ticker in tickers if ticker in listed} | found
        if not dry_run and found.keys() - remembered.keys():
            write_bytes(where, json.dumps(remembered | found, indent=1, sort_keys=True).encode())
    return found


def _read_remembered(where: str) -> dict[str, str]:
    if not exists(where):
        return {}
    try:
        return {str(ticker): str(cik) for ticker, cik in json.loads(read_bytes(where)).items()}
    except (ValueError, AttributeError) as error:
        raise SourceError(f"{where!r} cannot be read: {error}; delete it to look tickers up again") from error
