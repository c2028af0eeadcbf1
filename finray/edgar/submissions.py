"""Checks that a full submission is complete, and reads its header."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass, replace

from finray.core.errors import EdgarUnavailableError, FilingError
from finray.filings.cover.submission import ACCESSION_NUMBER, header_facts
from finray.filings.sniff import decode, reject_error_page

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
    """``kind`` is "deletion" for a notice that withdraws the accession number, "correction" for a submission that
    replaces an earlier one with this number (SEC, EDGAR Public Dissemination Service, technical specification)."""

    accession: str | None
    form: str | None
    company: str | None
    ciks: tuple[str, ...]
    filed_at: dt.date | None
    period: dt.date | None
    kind: str = "submission"


def check_submission(content: bytes) -> None:
    """Raises EdgarUnavailableError if this is not a full submission or not all of it."""
    try:
        reject_error_page(content)
    except FilingError as error:
        raise EdgarUnavailableError(error.detail) from error
    if not _START.search(content[:_HEAD]):
        raise EdgarUnavailableError(f"not a full submission: it starts with {content[:40]!r}")
    if not _END.search(content[-_TAIL:]):
        raise EdgarUnavailableError(f"the submission ends early, after {len(content):,} bytes")


def read_header(content: bytes) -> Header:
    """Facts of the SGML header, with the CIKs of all companies in it."""
    first = _HEADER_END.search(content[:_HEADER_LIMIT])
    text = decode(content[: first.start() if first else _HEADER_LIMIT])
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
    """``header``, with the accession number from the file name if it has none itself."""
    if header.accession or not (found := ACCESSION_NUMBER.search(file_name)):
        return header
    return replace(header, accession=found[0])
