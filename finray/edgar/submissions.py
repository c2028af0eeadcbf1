"""Is this a full submission, and all of it? What its header says."""

from __future__ import annotations

import dataclasses
import datetime as dt
import re
from dataclasses import dataclass

from finray.core.errors import EdgarUnavailableError, FilingError
from finray.filings.sniff import decode, reject_error_page
from finray.filings.submission import ACCESSION_NUMBER, header_facts

_START = re.compile(
    rb"<(?:SEC-DOCUMENT|SEC-HEADER|IMS-DOCUMENT|IMS-HEADER|SUBMISSION)>|-----BEGIN PRIVACY-ENHANCED MESSAGE-----"
)
_END = re.compile(rb"</(?:SEC-DOCUMENT|IMS-DOCUMENT|SUBMISSION)>|-----END PRIVACY-ENHANCED MESSAGE-----")
_NOTICE = re.compile(rb"^\s*<SUBMISSION>\s*<(DELETION|CORRECTION)>", re.IGNORECASE)
_HEADER_END = re.compile(rb"<DOCUMENT>", re.IGNORECASE)
_HEAD = 4096
_TAIL = 1024
_HEADER_LIMIT = 4_000_000


@dataclass(frozen=True, slots=True)
class Header:
    """``kind`` is "deletion" for a notice that the accession number is withdrawn, "correction" for a submission that
    replaces an earlier one of the same number (SEC, EDGAR Public Dissemination Service, technical specification)."""

    accession: str | None
    form: str | None
    company: str | None
    ciks: tuple[str, ...]
    filed_at: dt.date | None
    period: dt.date | None
    kind: str = "submission"


def check_submission(content: bytes) -> None:
    """Raises EdgarUnavailableError where this is no full submission or not all of it."""
    try:
        reject_error_page(content)
    except FilingError as error:
        raise EdgarUnavailableError(error.detail) from error
    if not _START.search(content[:_HEAD]):
        raise EdgarUnavailableError(f"this is no full submission: it starts with {content[:40]!r}")
    if not _END.search(content[-_TAIL:]):
        raise EdgarUnavailableError(f"the submission breaks off after {len(content):,} bytes")


def read_header(content: bytes) -> Header:
    """Facts of the SGML header, of every company in it."""
    first = _HEADER_END.search(content[:_HEADER_LIMIT])
    head = content[: first.start() if first else min(len(content), _HEADER_LIMIT)]
    text = decode(head)
    facts = header_facts(text)
    notice = _NOTICE.match(content[:_HEAD])
    ciks = {cik.zfill(10) for cik in re.findall(r"(?:CENTRAL INDEX KEY:|<CIK>)\s*(\d{1,10})\b", text)}
    return Header(
        accession=facts.accession_number,
        form=facts.form,
        company=facts.company,
        ciks=tuple(sorted(ciks)),
        filed_at=facts.filed_at,
        period=facts.period_end,
        kind=notice[1].decode().lower() if notice else "submission",
    )


def named(header: Header, file_name: str) -> Header:
    """``header`` with the accession number of its file's name where it has none itself."""
    found = ACCESSION_NUMBER.search(file_name)
    return header if header.accession or not found else dataclasses.replace(header, accession=found[0])
