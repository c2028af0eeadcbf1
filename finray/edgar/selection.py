"""Which filings are wanted: forms, companies, dates; and the files that list companies.

A list of companies is plain text, one ticker or CIK a line, or a CSV file with a header, as lists of the S&P 500 come:
a column ``Symbol`` or ``Ticker``, and perhaps one ``CIK``, which then counts. ``#`` starts a comment. A company that
is renamed or changes its ticker keeps its CIK; tickers are looked up once and remembered.
"""

from __future__ import annotations

import csv
import datetime as dt
import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from finray.core.errors import EdgarUnavailableError, UsageError
from finray.edgar.listing import Listed
from finray.filings.facts import padded_cik
from finray.storage.locations import read_bytes

DEFAULT_FORMS = ("10-K", "10-Q", "8-K")
_TICKER_COLUMNS = ("symbol", "ticker")
_CIK_COLUMNS = ("cik", "central index key")


@dataclass(frozen=True, slots=True)
class Selection:
    """``forms`` stand for their amendments too ("10-K" also wants 10-K/A); ``ciks`` None means every company.
    ``since`` and ``until`` are filing dates, both included."""

    since: dt.date
    until: dt.date
    forms: frozenset[str]
    ciks: frozenset[str] | None = None

    def wants(self, filing: Listed) -> bool:
        """Whether form and companies fit; dates are a matter of which indexes are read."""
        return self.wants_form(filing.form) and (self.ciks is None or not self.ciks.isdisjoint(filing.ciks))

    def wants_form(self, form: str) -> bool:
        form = form.upper()
        return form in self.forms or form.removesuffix("/A") in self.forms

    def covers(self, day: dt.date) -> bool:
        return self.since <= day <= self.until

    def key(self) -> str:
        """12 hex digits over forms and companies: an index that was read for others must be read again."""
        payload = [sorted(self.forms), sorted(self.ciks) if self.ciks is not None else None]
        return hashlib.sha256(json.dumps(payload).encode()).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class Companies:
    """A list of companies as its file gives it: CIKs, and tickers that are still to be looked up."""

    ciks: frozenset[str] = frozenset()
    tickers: frozenset[str] = frozenset()

    def __or__(self, other: Companies) -> Companies:
        return Companies(self.ciks | other.ciks, self.tickers | other.tickers)


def parse_forms(text: str) -> frozenset[str]:
    """ "10-K, 10-q" as {"10-K", "10-Q"}. Raises UsageError where there is none."""
    forms = frozenset(form.strip().upper() for form in text.split(",") if form.strip())
    if not forms:
        raise UsageError(f"--forms {text!r} names no form; write for example 10-K,10-Q,8-K")
    return forms


def read_companies(uri: str, kind: str) -> Companies:
    """The companies of a list file, local or s3://. ``kind`` is "tickers" or "ciks": what a plain line is.

    Raises SourceError where it cannot be read, UsageError where a line is neither or there is none.
    """
    text = read_bytes(uri).decode("utf-8-sig", "replace")
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    rows = list(csv.reader(io.StringIO("\n".join(lines))))
    if not rows:
        raise UsageError(f"{uri!r} lists no company")
    header = [cell.strip().lower() for cell in rows[0]]
    columns = {name: header.index(name) for name in (*_TICKER_COLUMNS, *_CIK_COLUMNS) if name in header}
    ciks, tickers = set(), set()
    for number, row in enumerate(rows[1:] if columns else rows, start=2 if columns else 1):
        value, is_cik = _company(row, columns, kind)
        if not value:
            raise UsageError(f"{uri!r}, entry {number}: no company in {','.join(row)!r}")
        cik = padded_cik(value) if is_cik else None
        if is_cik and cik is None:
            raise UsageError(f"{uri!r}, entry {number}: {value!r} is no CIK; a CIK is a number of up to ten digits")
        if cik is not None:
            ciks.add(cik)
        else:
            tickers.add(ticker_key(value))
    if not ciks and not tickers:
        raise UsageError(f"{uri!r} lists no company")
    return Companies(frozenset(ciks), frozenset(tickers))


def _company(row: Sequence[str], columns: Mapping[str, int], kind: str) -> tuple[str, bool]:
    """The company's CIK or ticker in a row, and whether it is a CIK."""
    if not columns:
        return row[0].partition("#")[0].strip(), kind == "ciks"
    for name in (*_CIK_COLUMNS, *_TICKER_COLUMNS):
        if name in columns and columns[name] < len(row) and row[columns[name]].strip():
            return row[columns[name]].strip(), name in _CIK_COLUMNS
    return "", False


def ticker_key(ticker: str) -> str:
    """Lists write a class of shares as BRK.B, SEC as BRK-B."""
    return ticker.strip().upper().replace(".", "-").replace("/", "-")


def read_company_tickers(content: bytes) -> dict[str, str]:
    """Ticker -> CIK of EDGAR's company_tickers.json. Raises EdgarUnavailableError where it is not that."""
    try:
        found = {
            ticker_key(str(row["ticker"])): padded_cik(str(row["cik_str"])) for row in json.loads(content).values()
        }
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise EdgarUnavailableError(f"company_tickers.json of EDGAR cannot be read: {error}") from error
    return {ticker: cik for ticker, cik in found.items() if cik is not None}
