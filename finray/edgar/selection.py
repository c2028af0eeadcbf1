"""Selects filings by form, company and date, and reads files that list companies.

A list of companies is plain text, one ticker or CIK per line, or a CSV file with a header, like lists of the S&P 500:
a column ``Symbol`` or ``Ticker``, and perhaps one ``CIK``, which takes precedence. ``#`` starts a comment.
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
from finray.filings.cover.facts import padded_cik
from finray.storage.locations import read_bytes

_TICKER_COLUMNS = ("symbol", "ticker")
_CIK_COLUMNS = ("cik", "central index key")


@dataclass(frozen=True, slots=True)
class Selection:
    """``forms`` include their amendments ("10-K" also selects 10-K/A); ``ciks`` None selects every company.
    ``since`` and ``until`` are filing dates, both included."""

    since: dt.date
    until: dt.date
    forms: frozenset[str]
    ciks: frozenset[str] | None = None

    def wants(self, filing: Listed) -> bool:
        """Whether form and companies fit; :meth:`covers` checks the date."""
        form = filing.form.upper()
        fits = form in self.forms or form.removesuffix("/A") in self.forms
        return fits and (self.ciks is None or not self.ciks.isdisjoint(filing.ciks))

    def covers(self, day: dt.date) -> bool:
        return self.since <= day <= self.until

    def key(self) -> str:
        """12 hex digits of forms and companies: for others, an index must be read again."""
        payload = [sorted(self.forms), sorted(self.ciks) if self.ciks is not None else None]
        return hashlib.sha256(json.dumps(payload).encode()).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class Companies:
    """CIKs, and tickers that must be looked up."""

    ciks: frozenset[str]
    tickers: frozenset[str]


def parse_forms(text: str) -> frozenset[str]:
    """ "10-K, 10-q" as {"10-K", "10-Q"}. Raises UsageError if there is none."""
    forms = frozenset(form.strip().upper() for form in text.split(",") if form.strip())
    if not forms:
        raise UsageError(f"--forms {text!r} names no form; write for example 10-K,10-Q,8-K")
    return forms


def read_companies(uri: str, kind: str) -> Companies:
    """The companies of a list file, local or s3://. ``kind`` is what a plain line holds: "tickers" or "ciks".

    Raises SourceError if it cannot be read, UsageError if a line is neither or there is none.
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
        if not is_cik:
            tickers.add(ticker_key(value))
        elif (cik := padded_cik(value)) is not None:
            ciks.add(cik)
        else:
            raise UsageError(f"{uri!r}, entry {number}: {value!r} is no CIK; a CIK is a number of up to ten digits")
    if not ciks and not tickers:
        raise UsageError(f"{uri!r} lists no company")
    return Companies(frozenset(ciks), frozenset(tickers))


def named_companies(names: Sequence[str]) -> Companies:
    """Companies named one by one: CIKs if they are numbers, else tickers. Raises UsageError for an empty name."""
    if not all(name.strip() for name in names):
        raise UsageError("a company is empty; write its ticker or its CIK")
    ciks = {name: cik for name in names if (cik := padded_cik(name.strip())) is not None}
    return Companies(frozenset(ciks.values()), frozenset(ticker_key(name) for name in names if name not in ciks))


def _company(row: Sequence[str], columns: Mapping[str, int], kind: str) -> tuple[str, bool]:
    """The company's CIK or ticker in a row, and whether it is a CIK."""
    if not columns:
        return row[0].partition("#")[0].strip(), kind == "ciks"
    for name in (*_CIK_COLUMNS, *_TICKER_COLUMNS):
        if name in columns and columns[name] < len(row) and row[columns[name]].strip():
            return row[columns[name]].strip(), name in _CIK_COLUMNS
    return "", False


def ticker_key(ticker: str) -> str:
    """SEC's spelling: BRK-B for the class of shares that other lists write BRK.B or BRK/B."""
    return ticker.strip().upper().replace(".", "-").replace("/", "-")


def read_company_tickers(content: bytes) -> dict[str, str]:
    """Ticker -> CIK of EDGAR's company_tickers.json. Raises EdgarUnavailableError if it cannot be parsed."""
    try:
        rows = json.loads(content).values()
        found = {ticker_key(str(row["ticker"])): padded_cik(str(row["cik_str"])) for row in rows}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise EdgarUnavailableError(f"EDGAR's company_tickers.json cannot be read: {error}") from error
    return {ticker: cik for ticker, cik in found.items() if cik is not None}
