"""EDGAR full-submission text (``.txt``, ``.nc``): the facts of the SGML header, and the main document.

Two header styles exist: EDGAR's disseminated ``.txt`` ("CONFORMED PERIOD OF REPORT: 20241220" lines, in the 1990s
inside a privacy-enhanced message) and the feed's ``.nc`` (``<PERIOD>20250110<ITEMS>2.01...`` without line ends). See
SEC, "EDGAR Public Dissemination Service technical specification", appendix A.

Why not edgartools: its ``edgar.sgml`` reads the same files, but importing it costs 2.6-3.3 s, 1,400 modules and 170 MB
in every process and creates ``.edgar`` in the home folder, and it rejects a header with blank lines between its fields
(measured with 5.62 on 2 cores). The header's grammar is two regular expressions.
"""

import datetime as dt
import re
from collections.abc import Iterable
from dataclasses import dataclass

from finray.core.errors import FilingError
from finray.filings.cover.facts import MAX_FACT, Facts, file_number, padded_cik
from finray.filings.dates import month_day, to_date
from finray.filings.sniff import decode

ACCESSION_NUMBER = re.compile(r"\b\d{10}-\d{2}-\d{6}\b")

_DOCUMENT = re.compile("<DOCUMENT>", re.IGNORECASE)
_DOCUMENT_END = re.compile("</DOCUMENT>", re.IGNORECASE)
_TEXT = re.compile("<TEXT>", re.IGNORECASE)
_TEXT_END = re.compile("</TEXT>", re.IGNORECASE)
_TYPE = re.compile(r"<TYPE>([^<\r\n]*)")
_WRAPPER = re.compile(r"\A\s*<(?:XBRL|XML|PDF)>|</(?:XBRL|XML|PDF)>\s*\Z", re.IGNORECASE)
_TAG = re.compile(r"<([A-Z][A-Z0-9-]{1,60})>([^<\r\n]*)")
_FIELD = re.compile(r"^[ \t]*([A-Z][A-Z0-9 .&/()-]{1,60}):[ \t]*([^\r\n]*)$", re.MULTILINE)
_UUENCODED = re.compile(r"\A\s*begin \d{3} \S")
_HEADER_LIMIT = 2_000_000
"""Headers of submissions with thousands of series reach hundreds of kilobytes."""

_COMMON = {
    "ACCESSION NUMBER": "accession",
    "CONFORMED SUBMISSION TYPE": "form",
    "TYPE": "form",
    "CONFORMED PERIOD OF REPORT": "period",
    "PERIOD": "period",
    "FILED AS OF DATE": "filed",
    "FILING DATE": "filed",
}
"""The meaning of the fields of both styles; their hyphens are spaces here."""
_PARTY = {
    "COMPANY CONFORMED NAME": "name",
    "CONFORMED NAME": "name",
    "CENTRAL INDEX KEY": "cik",
    "CIK": "cik",
    "SEC FILE NUMBER": "file_number",
    "FISCAL YEAR END": "year_end",
    "FORMER CONFORMED NAME": "former",
}
_NOT_THE_COMPANY = frozenset(("REPORTING OWNER", "FILED BY", "SECURITIZER"))
_ROLES = _NOT_THE_COMPANY | {"FILER", "ISSUER", "SUBJECT COMPANY", "DEPOSITOR", "FILED FOR", "SERIAL COMPANY"}


@dataclass(frozen=True, slots=True)
class Submission:
    """The header's facts, and the text of the main document."""

    facts: Facts
    body: str


def parse_submission(content: bytes) -> Submission:
    """Reads a full submission. Raises FilingError (stage "parse"): ``no_sgml_header``, ``no_documents``."""
    header, *documents = _DOCUMENT.split(decode(content))
    facts = header_facts(header)
    if facts.form is None and facts.accession_number is None:
        raise FilingError(
            "parse", "no_sgml_header", "neither an accession number nor a submission type in the SGML header"
        )
    body = _main_document(documents, facts.form or "")
    if body is None:
        problem = f"no document of the submission {facts.accession_number} has text; fetch the complete text"
        raise FilingError("parse", "no_documents", problem)
    return Submission(facts, body)


def header_facts(header: str) -> Facts:
    """The facts of the SGML header. Of several parties, the first filer, issuer or subject company counts."""
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
    first = {name: values[0] for name, values in company.items()}
    form = common.get("form") or None
    accession = ACCESSION_NUMBER.search(common.get("accession", ""))
    return Facts(
        company=_tidy(first["name"]) if "name" in first else None,
        form=form,
        cik=padded_cik(first.get("cik", "")),
        commission_file_number=file_number(first.get("file_number", "")),
        amendment=form.upper().endswith("/A") if form else None,
        filed_at=_date(common.get("filed", "")),
        period_end=_date(common.get("period", "")),
        fiscal_year_end=month_day(first.get("year_end", "")),
        accession_number=accession[0] if accession else None,
        aliases=tuple(_tidy(name) for name in company.get("former", ())),
    )


def _fields(header: str) -> list[tuple[str, str]]:
    """(name, value) of both header styles, in order."""
    matches = sorted((*_TAG.finditer(header), *_FIELD.finditer(header)), key=re.Match.start)
    return [(match[1].strip().replace("-", " "), match[2].strip()[:MAX_FACT]) for match in matches]


def _main_document(documents: Iterable[str], form: str) -> str | None:
    """The text of the document whose type is ``form``, else of the first that has text; None if none has."""
    first = None
    for document in documents:
        head, *text = _TEXT.split(_DOCUMENT_END.split(document, maxsplit=1)[0], maxsplit=1)
        body = _WRAPPER.sub("", _TEXT_END.split(text[0], maxsplit=1)[0]) if text else ""
        if not body.strip() or _UUENCODED.match(body):
            continue
        kind = _TYPE.search(head)
        if kind and kind[1].strip().upper() == form.upper():
            return body
        first = first or body
    return first


def _date(text: str) -> dt.date | None:
    return to_date(int(text[:4]), int(text[4:6]), int(text[6:])) if re.fullmatch("[0-9]{8}", text) else None


def _tidy(name: str) -> str:
    """EDGAR's conformed name without its suffix ("/DE/", "/MD/", "/NEW/")."""
    return re.sub(r" ?/[A-Z]{0,8}/? ?$", "", " ".join(name.split()))
