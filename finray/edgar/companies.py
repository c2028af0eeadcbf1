"""The CIKs that a run wants: list files read, tickers looked up at EDGAR and remembered beside the ledger.

EDGAR's list has the tickers of today. A ticker that a company gave up stays with the company that had it when it was
first looked up, so that a renamed company goes on being followed under a list that was written before.
"""

from __future__ import annotations

import json

from finray.core.errors import SourceError, UsageError
from finray.edgar.http import EdgarHttp
from finray.edgar.listing import company_tickers_url
from finray.edgar.selection import Companies, read_companies, read_company_tickers
from finray.edgar.store import RawStore
from finray.storage.locations import exists, join, read_bytes, write_bytes


def wanted_ciks(
    tickers: str | None, ciks: str | None, store: RawStore, http: EdgarHttp | None, *, dry_run: bool
) -> tuple[frozenset[str] | None, tuple[str, ...]]:
    """The CIKs of two list files (None: of every company), and tickers that nobody has.

    Raises SourceError, UsageError where a list is no list or none of its companies is known.
    """
    if tickers is None and ciks is None:
        return None, ()
    wanted = Companies()
    for uri, kind in ((tickers, "tickers"), (ciks, "ciks")):
        if uri is not None:
            wanted |= read_companies(uri, kind)
    if not wanted.tickers:
        return wanted.ciks, ()
    remembered = _remembered(store)
    found = {ticker: cik for ticker, cik in remembered.items() if ticker in wanted.tickers}
    if http is not None and len(found) < len(wanted.tickers):
        content = http.get(company_tickers_url()).content
        known = read_company_tickers(content or b"")
        found = {ticker: known[ticker] for ticker in wanted.tickers if ticker in known} | found
        if not dry_run and found.keys() - remembered.keys():
            write_bytes(_where(store), json.dumps(remembered | found, indent=1, sort_keys=True).encode())
    unknown = tuple(sorted(wanted.tickers - found.keys()))
    chosen = wanted.ciks | frozenset(found.values())
    if not chosen:
        raise UsageError(f"EDGAR knows none of the {len(unknown)} tickers of {tickers!r}, such as {unknown[0]!r}")
    return chosen, unknown


def _where(store: RawStore) -> str:
    return join(store.ledger_uri, "tickers.json")


def _remembered(store: RawStore) -> dict[str, str]:
    if not exists(_where(store)):
        return {}
    try:
        return {str(ticker): str(cik) for ticker, cik in json.loads(read_bytes(_where(store))).items()}
    except (ValueError, AttributeError) as error:
        raise SourceError(f"{_where(store)!r} cannot be read: {error}; delete it to look tickers up again") from error
