"""Citations of pages, and links to look at them: at the HTTP service, or the filing's index on EDGAR."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

from finray.core.errors import UsageError
from finray.core.filing import Filing

_ACCESSION = re.compile(r"(\d{10})-(\d{2})-(\d{6})")
Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class PageLinks:
    """Links to pages of ``filings``, by id.

    ``service`` is the URL of a running service, which draws pages of PDFs with a cell marked and shows the text of
    others. Without it, only filings with accession number and CIK have a link, to EDGAR.

    Raises UsageError if ``service`` is not an HTTP URL.
    """

    filings: Mapping[str, Filing]
    service: str | None = None

    def __post_init__(self) -> None:
        if self.service is not None and urlsplit(self.service).scheme not in ("http", "https"):
            raise UsageError(f"{self.service!r} is no URL of a service; write it as https://host:port")

    def page(self, filing_id: str, page: int, box: Box | None = None) -> str | None:
        """The link to the 0-based ``page`` with ``box`` marked, None if there is none."""
        filing = self.filings.get(filing_id)
        if filing is None:
            return None
        if self.service is None:
            return edgar_index(filing)
        address = f"{self.service.rstrip('/')}/v1/filings/{quote(filing_id, safe='')}/pages/{page}"
        if not filing.source_uri.lower().endswith(".pdf"):
            return address
        marked = "?box=" + ",".join(f"{point:g}" for point in box) if box is not None else ""
        return f"{address}/image{marked}"


def cited(filing: Filing, page: int) -> str:
    """A citation for a person: ``Acme Corp., 10-K for FY 2022 (ACME_2022_10K), p. 12``. ``page`` counts from 0."""
    return f"{named(filing)}, p. {page + 1}"


def named(filing: Filing) -> str:
    """A filing as a person cites it: ``Acme Corp., 10-K for FY 2022 (ACME_2022_10K)``."""
    period = f" for {filing.fiscal_period} {filing.fiscal_year}" if filing.fiscal_year and filing.fiscal_period else ""
    return f"{filing.company}, {filing.form}{period} ({filing.doc_name})"


def edgar_index(filing: Filing) -> str | None:
    """The URL of the filing's index page on EDGAR, None if it has no accession number or CIK."""
    if filing.cik is None or not filing.cik.isdecimal() or _ACCESSION.fullmatch(filing.filing_id) is None:
        return None
    folder = f"https://www.sec.gov/Archives/edgar/data/{int(filing.cik)}/{filing.filing_id.replace('-', '')}"
    return f"{folder}/{filing.filing_id}-index.htm"
