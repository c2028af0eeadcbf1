"""Reads EDGAR's lists of filings: the daily index and the quarterly index.

SEC publishes the daily index the same night and rebuilds the quarterly one once a week, without filings that were
deleted since. edgartools reads both; it is imported on first use because it takes seconds and 170 MB.
"""

from __future__ import annotations

import datetime as dt
import importlib
import os
import re
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from finray.core.errors import EdgarUnavailableError
from finray.core.extras import extra
from finray.edgar.encoding import TooLongError, gunzip, index_too_long
from finray.filings.cover.facts import padded_cik
from finray.filings.cover.submission import ACCESSION_NUMBER

FIRST_QUARTER = dt.date(1993, 1, 1)
"""EDGAR's first filings."""
_USUAL_DATE = {"quarter": "%Y-%m-%d", "day": "%Y%m%d"}


@dataclass(frozen=True, slots=True, order=True)
class Quarter:
    year: int
    number: int

    @classmethod
    def of(cls, day: dt.date) -> Quarter:
        return cls(day.year, (day.month + 2) // 3)

    @property
    def first(self) -> dt.date:
        return dt.date(self.year, 3 * self.number - 2, 1)

    @property
    def last(self) -> dt.date:
        return self.next.first - dt.timedelta(days=1)

    @property
    def next(self) -> Quarter:
        return Quarter(self.year + 1, 1) if self.number == 4 else Quarter(self.year, self.number + 1)

    def __str__(self) -> str:
        return f"{self.year}Q{self.number}"


@dataclass(frozen=True, slots=True)
class Listed:
    """One filing of an index. ``day`` is that of the daily index, which for a late filing is not ``filed_at``;
    ``ciks`` are those of all companies that the index lists it under (joint filings have several)."""

    accession: str
    form: str
    company: str
    ciks: tuple[str, ...]
    filed_at: dt.date
    day: dt.date
    url: str


@dataclass(frozen=True, slots=True)
class Index:
    """The filings of one index by accession number, and the last day that it covers."""

    filings: Mapping[str, Listed]
    until: dt.date | None


def day_unit(day: dt.date) -> str:
    return f"day {day}"


def quarter_unit(quarter: Quarter) -> str:
    return f"quarter {quarter}"


def day_url(day: dt.date) -> str:
    quarter = Quarter.of(day)
    # EDGAR puts the index type before the date, edgartools does not.
    return str(edgartools("urls").build_daily_index_url(quarter.year, quarter.number, f"form.{day:%Y%m%d}", "idx"))


def quarter_url(quarter: Quarter) -> str:
    return str(edgartools("urls").build_full_index_url(quarter.year, quarter.number, "form", "gz"))


def filing_url(cik: str, accession: str) -> str:
    """The URL of the full submission text."""
    return str(edgartools("urls").build_archive_url(f"data/{int(cik)}/{accession}.txt"))


def feed_url(day: dt.date) -> str:
    quarter = Quarter.of(day)
    return f"{edgartools('urls').build_feed_url(quarter.year, quarter.number)}{day:%Y%m%d}.nc.tar.gz"


def company_tickers_url() -> str:
    return str(edgartools("urls").build_company_tickers_url())


def read_day(day: dt.date, content: bytes) -> Index:
    """Parse a daily form index. Raises EdgarUnavailableError if it cannot be one."""
    listed = _read(content, "day", day_url(day))
    return Index(_by_accession(replace(filing, day=day) for filing in listed), day)


def read_quarter(quarter: Quarter, content: bytes, max_bytes: int) -> Index:
    """Parse a quarterly form index, gzip or not, decompressed at most ``max_bytes`` long.

    Raises EdgarUnavailableError if it cannot be one, EdgarRefusedError if it is longer.
    """
    url = quarter_url(quarter)
    if content.startswith(b"\x1f\x8b"):
        try:
            content = gunzip(content, max_bytes, url)
        except TooLongError as error:
            raise index_too_long(url, max_bytes) from error
    listed = _by_accession(_read(content, "quarter", url))
    return Index(listed, max((filing.filed_at for filing in listed.values()), default=None))


def _read(content: bytes, kind: str, url: str) -> list[Listed]:
    import pyarrow as pa

    text = content.decode("latin-1")
    if not re.search(r"^-{20,}\s*$", text, re.MULTILINE):
        raise EdgarUnavailableError(f"{url}: not a complete form index; it starts with {text[:60]!r}")
    if not content.endswith(b"\n"):
        raise EdgarUnavailableError(f"{url}: the index ends in the middle of a line")
    try:
        table = edgartools("_filings").read_index_file(text, form_column=0, filing_date_format=_date_format(text, kind))
    except (ValueError, IndexError, pa.ArrowException) as error:
        raise EdgarUnavailableError(f"{url}: a line of the index cannot be read: {error}") from error
    listed = []
    for row in table.to_pylist():
        accession, cik = row["accession_number"], padded_cik(str(row["cik"]))
        if ACCESSION_NUMBER.fullmatch(accession) and cik:
            day = row["filing_date"]
            listed.append(Listed(accession, row["form"], row["company"], (cik,), day, day, filing_url(cik, accession)))
    return listed


def _date_format(text: str, kind: str) -> str:
    """The format of the dates; EDGAR has published both kinds of index with both formats."""
    last = text.rstrip().rpartition("\n")[2]
    if re.search(r"\s\d{4}-\d{2}-\d{2}\s", last):
        return "%Y-%m-%d"
    return "%Y%m%d" if "edgar/" in last else _USUAL_DATE[kind]


def _by_accession(listed: Iterable[Listed]) -> dict[str, Listed]:
    filings: dict[str, Listed] = {}
    for filing in listed:
        first = filings.get(filing.accession)
        if first is not None:
            filing = replace(first, ciks=tuple(sorted({*first.ciks, *filing.ciks})))
        filings[filing.accession] = filing
    return filings


def edgartools(module: str) -> Any:
    """A module of edgartools, which would otherwise create a folder in the home folder on import."""
    os.environ.setdefault("EDGAR_LOCAL_DATA_DIR", str(Path(tempfile.gettempdir()) / "finray-edgartools"))

    with extra("edgar", "reading EDGAR"):
        return importlib.import_module(f"edgar.{module}")
