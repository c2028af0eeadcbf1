"""EDGAR full-submission text (``.txt``, ``.nc``): the facts of the SGML header, the main document and its exhibits.

Two header styles exist: EDGAR's disseminated ``.txt`` ("CONFORMED PERIOD OF REPORT: 20241220" lines, in the 1990s
inside a privacy-enhanced message) and the feed's ``.nc`` (``<PERIOD>20250110<ITEMS>2.01...`` without line ends). See
SEC, "EDGAR Public Dissemination Service technical specification", appendix A.

Why not edgartools: its ``edgar.sgml`` reads the same files, but importing it costs 2.6-3.3 s, 1,400 modules and 170 MB
in every process and creates ``.edgar`` in the home folder, and it rejects a header with blank lines between its fields
(measured with 5.62 on 2 cores). The header's grammar is two regular expressions.
"""

import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import dataclass

from finray.core.errors import FilingError
from finray.core.forms import ANNUAL_REPORT_TO_HOLDERS, EARNINGS_RELEASE
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
_NOT_TEXT = re.compile(
    r"(?:GRAPHIC|ZIP|EXCEL|JSON|XML|PDF)\b|EX-10[14]\b|.*\.(?:INS|SCH|CAL|DEF|LAB|PRE)\Z", re.IGNORECASE
)
"""Types of documents that are not for reading: pictures and the files of XBRL."""
_ENDS = (
    ("<SEC-DOCUMENT>", "</SEC-DOCUMENT>"),
    ("<IMS-DOCUMENT>", "</IMS-DOCUMENT>"),
    ("<SUBMISSION>", "</SUBMISSION>"),
)
_FORM_OF_EXHIBIT = (
    (re.compile(r"EX-99(?:\.0?1)?", re.IGNORECASE), EARNINGS_RELEASE),
    (re.compile(r"EX-13(?:\.\d{1,2})?", re.IGNORECASE), ANNUAL_REPORT_TO_HOLDERS),
)
"""The form of an exhibit that is a file of its own."""
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
class Document:
    """A document of a submission: its type ("EX-99.1") and its text."""

    kind: str
    body: str


@dataclass(frozen=True, slots=True)
class Submission:
    """The header's facts, the text of the main document, and the other documents that have text, in their order."""

    facts: Facts
    body: str
    others: tuple[Document, ...] = ()


def parse_submission(content: bytes) -> Submission:
    """Reads a full submission, or the block of one of its documents (``<DOCUMENT>``, ``<TYPE>``, ``<TEXT>``) without
    its header.

    Raises FilingError (stage "parse"): ``no_sgml_header``, ``no_documents``, ``truncated``.
    """
    text = decode(content)
    header, *parts = _DOCUMENT.split(text)
    facts = header_facts(header)
    documents = [document for part in parts if (document := _document(part)) is not None]
    if facts.form is None and facts.accession_number is None:
        if header.strip() or not documents:
            raise FilingError(
                "parse", "no_sgml_header", "neither an accession number nor a submission type in the SGML header"
            )
        facts = _facts_of_block(documents[0].kind)
    if not documents:
        problem = f"no document of the submission {facts.accession_number} has text; fetch the complete text"
        raise FilingError("parse", "no_documents", problem)
    if missing := _missing_end(header, parts):
        raise FilingError(
            "parse",
            "truncated",
            f"the file ends early, after {len(content):,} bytes: {missing} is missing; fetch it again",
        )
    main = _main_document(documents, facts.form or "")
    return Submission(facts, main.body, tuple(document for document in documents if document is not main))


def _document(part: str) -> Document | None:
    """The document that ``part``, the text behind <DOCUMENT>, begins with; None if it has no text to read."""
    head, *text = _TEXT.split(_DOCUMENT_END.split(part, maxsplit=1)[0], maxsplit=1)
    # The document may have the tag in its text, too.
    end = max((match.start() for match in _TEXT_END.finditer(text[0])), default=len(text[0])) if text else 0
    body = _WRAPPER.sub("", text[0][:end]) if text else ""
    kind = _TYPE.search(head)
    named = kind[1].strip().upper()[:MAX_FACT] if kind else ""
    if not body.strip() or _UUENCODED.match(body) or _NOT_TEXT.match(named):
        return None
    return Document(named, body)


def _missing_end(header: str, parts: Sequence[str]) -> str | None:
    """The closing tag that a file lacks of those that it opened, if it was cut."""
    last, *rest = _DOCUMENT_END.split(parts[-1], maxsplit=1)
    if _TEXT.search(last) and not _TEXT_END.search(last):
        return "</TEXT>"
    if not rest:
        return "</DOCUMENT>"
    opened = header.upper()
    return next((end for begin, end in _ENDS if begin in opened and end not in rest[0].upper()), None)


def _facts_of_block(kind: str) -> Facts:
    form = next((form for pattern, form in _FORM_OF_EXHIBIT if pattern.fullmatch(kind)), kind or None)
    return Facts(form=form, amendment=form.endswith("/A") if form else None)


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


def _main_document(documents: Sequence[Document], form: str) -> Document:
    """The document whose type is ``form``, else the first."""
    return next((document for document in documents if document.kind == form.upper()), documents[0])


def _date(text: str) -> dt.date | None:
    return to_date(int(text[:4]), int(text[4:6]), int(text[6:])) if re.fullmatch("[0-9]{8}", text) else None


def _tidy(name: str) -> str:
    """EDGAR's conformed name without its suffix ("/DE/", "/MD/", "/NEW/")."""
    return re.sub(r" ?/[A-Z]{0,8}/? ?$", "", " ".join(name.split()))
