"""The CIKs of a run's companies. Tickers are looked up at EDGAR once and remembered beside the ledger.

EDGAR's list has today's tickers. A ticker stays with the company that had it when it was first looked up, so an old
list still follows a company that was renamed.
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

_NAMED = 3
"""Unknown tickers that an error names."""


def wanted_ciks(
    lists: Sequence[Companies], store: RawStore, http: EdgarHttp | None, *, dry_run: bool
) -> tuple[frozenset[str] | None, tuple[str, ...]]:
    """The CIKs of ``lists`` (None: every company), and the tickers that EDGAR does not know.

    Raises SourceError, and UsageError if no company is known.
    """
    if not lists:
        return None, ()
    known_ciks = frozenset[str]().union(*(companies.ciks for companies in lists))
    wanted = frozenset[str]().union(*(companies.tickers for companies in lists))
    if not wanted:
        return known_ciks, ()
    where = join(store.ledger_uri, "tickers.json")
    remembered: dict[str, str] = {}
    if exists(where):
        try:
            remembered = {str(ticker): str(cik) for ticker, cik in json.loads(read_bytes(where)).items()}
        except (ValueError, AttributeError) as error:
            raise SourceError(f"{where!r} cannot be read: {error}; delete it to look tickers up again") from error
    found = {ticker: cik for ticker, cik in remembered.items() if ticker in wanted}
    if http is not None and len(found) < len(wanted):
        listed = read_company_tickers(http.get(company_tickers_url()).content or b"")
        found = {ticker: listed[ticker] for ticker in wanted if ticker in listed} | found
        if not dry_run and found.keys() - remembered.keys():
            write_bytes(where, json.dumps(remembered | found, indent=1, sort_keys=True).encode())
    unknown = tuple(sorted(wanted - found.keys()))
    chosen = known_ciks | frozenset(found.values())
    if not chosen:
        more = " ..." if len(unknown) > _NAMED else ""
        named = ", ".join(map(repr, unknown[:_NAMED]))
        raise UsageError(f"EDGAR does not know {named}{more}; check the tickers, or give CIKs")
    return chosen, unknown
