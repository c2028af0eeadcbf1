"""EDGAR full-submission text (``.txt``, ``.nc``): the facts of the SGML header, and the main document.

Two header styles exist: EDGAR's disseminated ``.txt`` ("CONFORMED PERIOD OF REPORT: 20241220" lines, in the 1990s
inside a privacy-enhanced message) and the feed's ``.nc`` (``<PERIOD>20250110<ITEMS>2.01...`` without line ends). See
SEC, "EDGAR Public Dissemination Service technical specification", appendix A.

Why not edgartools: its ``edgar.sgml`` reads the same files, but importing it costs 2.6-3.3 s, 1,400 modules and 170 MB
in every process, creates ``.edgar`` in the home folder, and it rejects a header with blank lines between its fields
(measured with 5.62 on 2 cores). The header's grammar is two regular expressions.
"""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass

from finray.core.errors import FilingError
from finray.filings.dates import month_day
from finray.filings.facts import MAX_FACT, Facts, file_number, padded_cik
from finray.filings.sniff import decode

ACCESSION_NUMBER = re.compile(r"\b\d{10}-\d{2}-\d{6}\b")

_DOCUMENT = re.compile(r"<DOCUMENT>", re.IGNORECASE)
_DOCUMENT_END = re.compile(r"</DOCUMENT>", re.IGNORECASE)
_BODY = re.compile(r"<TEXT>", re.IGNORECASE)
_BODY_END = re.compile(r"</TEXT>", re.IGNORECASE)
_WRAPPER = re.compile(r"</?(?:XBRL|XML|PDF)>", re.IGNORECASE)
_TAG = re.compile(r"<(/?)([A-Z][A-Z0-9-]{1,60})>([^<\r\n]*)")
_FIELD = re.compile(r"^[ \t]*([A-Z][A-Z0-9 .&/()-]{1,60}):[ \t]*([^\r\n]*)$", re.MULTILINE)
_UUENCODED = re.compile(r"\A\s*begin \d{3} \S")
_HEADER_LIMIT = 2_000_000
"""Headers of submissions with thousands of series reach hundreds of kilobytes."""

# The header's names for the same thing, line style and tag style.
_COMMON = {
    "ACCESSION NUMBER": "accession",
    "ACCESSION-NUMBER": "accession",
    "CONFORMED SUBMISSION TYPE": "form",
    "TYPE": "form",
    "CONFORMED PERIOD OF REPORT": "period",
    "PERIOD": "period",
    "FILED AS OF DATE": "filed",
    "FILING-DATE": "filed",
}
_PARTY = {
    "COMPANY CONFORMED NAME": "name",
    "CONFORMED-NAME": "name",
    "CENTRAL INDEX KEY": "cik",
    "CIK": "cik",
    "SEC FILE NUMBER": "file_number",
    "FISCAL YEAR END": "year_end",
    "FISCAL-YEAR-END": "year_end",
    "FORMER CONFORMED NAME": "former",
    "FORMER-CONFORMED-NAME": "former",
}
_ROLES = (
    "FILER", "ISSUER", "SUBJECT COMPANY", "SUBJECT-COMPANY", "DEPOSITOR", "FILED BY", "FILED-BY", "REPORTING-OWNER",
    "REPORTING OWNER", "SECURITIZER", "FILED-FOR", "SERIAL COMPANY", "SERIAL-COMPANY",
)  # fmt: skip
_NOT_THE_COMPANY = frozenset(("REPORTING-OWNER", "REPORTING OWNER", "FILED BY", "FILED-BY", "SECURITIZER"))


@dataclass(frozen=True, slots=True)
class Submission:
    """The header's facts, and the main document's form type, file name and text."""

    facts: Facts
    document_type: str
    filename: str
    body: str


def parse_submission(content: bytes) -> Submission:
    """Reads a full submission. Raises FilingError (stage "parse"): ``no_sgml_header``, ``no_documents``."""
    text = decode(content)
    first = _DOCUMENT.search(text)
    facts = header_facts(text[: first.start() if first else None])
    if facts.form is None and facts.accession_number is None:
        raise FilingError(
            "parse", "no_sgml_header", "neither an accession number nor a submission type in the SGML header"
        )
    documents = _documents(text, first.start() if first else len(text))
    if not documents:
        raise FilingError(
            "parse",
            "no_documents",
            f"the submission {facts.accession_number} has a header but no document; fetch the complete text",
        )
    kind, filename, body = _main(documents, facts.form)
    return Submission(facts, kind, filename, body)


def header_facts(header: str) -> Facts:
    """Facts of the SGML header; among several parties, the first filer, issuer or subject company counts."""
    header = header[:_HEADER_LIMIT].replace("\r\n", "\n").replace("\r", "\n")
    common: dict[str, str] = {}
    parties: list[tuple[str, dict[str, list[str]]]] = []
    for name, value in _fields(header):
        if name in _ROLES and not value:
            parties.append((name, {}))
        elif name in _COMMON:
            common.setdefault(_COMMON[name], value)
        elif name in _PARTY and value:
            if not parties:
                parties.append(("FILER", {}))
            parties[-1][1].setdefault(_PARTY[name], []).append(value)
    company = next(
        (party for role, party in parties if role not in _NOT_THE_COMPANY and "name" in party),
        next((party for _, party in parties if "name" in party), {}),
    )
    form = common.get("form") or None
    accession = ACCESSION_NUMBER.search(common.get("accession", ""))
    return Facts(
        company=_tidy(company["name"][0]) if "name" in company else None,
        form=form,
        cik=padded_cik(company["cik"][0]) if "cik" in company else None,
        commission_file_number=file_number(company["file_number"][0]) if "file_number" in company else None,
        amendment=form.upper().endswith("/A") if form else None,
        filed_at=_date(common.get("filed", "")),
        period_end=_date(common.get("period", "")),
        fiscal_year_end=month_day(company["year_end"][0]) if "year_end" in company else None,
        accession_number=accession[0] if accession else None,
        aliases=tuple(_tidy(name) for name in company.get("former", ())),
    )


def _fields(header: str) -> list[tuple[str, str]]:
    """(name, value) of both header styles, in order."""
    found = [(match.start(), match[2], match[3].strip()[:MAX_FACT]) for match in _TAG.finditer(header) if not match[1]]
    found += [(match.start(), match[1].strip(), match[2].strip()[:MAX_FACT]) for match in _FIELD.finditer(header)]
    return [(name, value) for _, name, value in sorted(found)]


def _documents(text: str, start: int) -> list[tuple[str, str, str]]:
    """(type, file name, body) of each <DOCUMENT>, in order."""
    marks = [match.end() for match in _DOCUMENT.finditer(text, start)]
    documents = []
    for mark, following in zip(marks, [*marks, len(text)][1:], strict=True):
        closing = _DOCUMENT_END.search(text, mark, following)
        end = closing.start() if closing else following
        body_start = _BODY.search(text, mark, end)
        if body_start is None:
            continue
        body_end = _BODY_END.search(text, body_start.end(), end)
        described = {match[2]: match[3].strip() for match in _TAG.finditer(text, mark, body_start.start())}
        body = text[body_start.end() : body_end.start() if body_end else end]
        documents.append((described.get("TYPE", ""), described.get("FILENAME", ""), body))
    return documents


def _main(documents: list[tuple[str, str, str]], form: str | None) -> tuple[str, str, str]:
    """The document whose type is the submission's form, else the first that is text."""
    readable = []
    for kind, filename, body in documents:
        body = _WRAPPER.sub("", body[:2000]) + body[2000:]
        tail = body[-200:]
        body = body[:-200] + _WRAPPER.sub("", tail) if len(body) > 200 else body
        if not _UUENCODED.match(body[:200]) and body.strip():
            readable.append((kind, filename, body))
    if not readable:
        raise FilingError("parse", "no_documents", "every document of the submission is empty or binary")
    same = [document for document in readable if form and document[0].upper() == form.upper()]
    return (same or readable)[0]


def _date(text: str) -> dt.date | None:
    text = text.strip()
    if len(text) != 8 or not (text.isascii() and text.isdecimal()):
        return None
    try:
        return dt.date(int(text[:4]), int(text[4:6]), int(text[6:]))
    except ValueError:
        return None


def _tidy(name: str) -> str:
    """EDGAR's conformed name without its state suffix ("/DE/", "/MD/", "/NEW/")."""
    return re.sub(r" ?/[A-Z]{0,8}/? ?$", "", " ".join(name.split()))
