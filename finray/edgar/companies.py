"""The CIKs of a run's list files. Tickers are looked up at EDGAR once and remembered beside the ledger.

EDGAR's list has today's tickers. A ticker stays with the company that had it when it was first looked up, so an old
list still follows a company that was renamed.
"""

from __future__ import annotations

import json

from finray.core.errors import SourceError, UsageError
from finray.edgar.http import EdgarHttp
from finray.edgar.listing import company_tickers_url
from finray.edgar.selection import read_companies, read_company_tickers
from finray.edgar.store import RawStore
from finray.storage.locations import exists, join, read_bytes, write_bytes


def wanted_ciks(
    tickers: str | None, ciks: str | None, store: RawStore, http: EdgarHttp | None, *, dry_run: bool
) -> tuple[frozenset[str] | None, tuple[str, ...]]:
    """The CIKs of two list files (None: every company), and the tickers that EDGAR does not know.

    Raises SourceError, and UsageError if a list cannot be parsed or none of its companies is known.
    """
    if tickers is None and ciks is None:
        return None, ()
    lists = [read_companies(uri, kind) for uri, kind in ((tickers, "tickers"), (ciks, "ciks")) if uri is not None]
    known_ciks = frozenset[str]().union(*(companies.ciks for companies in lists))
    wanted = frozenset[str]().union(*(companies.tickers for companies in lists))
    if not wanted:
        return known_ciks, ()
    where = join(store.ledger_uri, "tickers.json")
    remembered = _remembered(where)
    found = {ticker: cik for ticker, cik in remembered.items() if ticker in wanted}
    if http is not None and len(found) < len(wanted):
        listed = read_company_tickers(http.get(company_tickers_url()).content or b"")
        found = {ticker: listed[ticker] for ticker in wanted if ticker in listed} | found
        if not dry_run and found.keys() - remembered.keys():
            write_bytes(where, json.dumps(remembered | found, indent=1, sort_keys=True).encode())
    unknown = tuple(sorted(wanted - found.keys()))
    chosen = known_ciks | frozenset(found.values())
    if not chosen:
        raise UsageError(f"EDGAR knows none of the {len(unknown)} tickers of {tickers!r}, such as {unknown[0]!r}")
    return chosen, unknown


def _remembered(where: str) -> dict[str, str]:
    if not exists(where):
        return {}
    try:
        return {str(ticker): str(cik) for ticker, cik in json.loads(read_bytes(where)).items()}
    except (ValueError, AttributeError) as error:
        raise SourceError(f"{where!r} cannot be read: {error}; delete it to look tickers up again") from error
