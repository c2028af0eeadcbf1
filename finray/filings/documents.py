"""Contracts, policies and other documents that are not SEC filings: no cover facts, pages are sections by headings.

The sections of a text file, joined, are its text. So the offset of a passage in the file is the length of the sections
before its own plus its offset in that section.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from finray.core.errors import FilingError
from finray.core.filing import PLAIN_DOCUMENT, UNIDENTIFIED, Filing, Page, ParsedFiling
from finray.core.settings import FilingSettings
from finray.filings.html.pages import check_length, parse_html, split_pages
from finray.filings.pages.headings import is_heading, page_headings
from finray.filings.pdf.tessdata import Ocr
from finray.filings.pdf.text import open_pdf, pdf_text
from finray.filings.read import doc_name
from finray.filings.sniff import CONTROL, sniff

MIN_SECTION = 800
"""Characters; a shorter section continues past the next heading."""
MAX_SECTION = 4_000
"""Characters; a longer section is cut between paragraphs, lines, sentences or words."""
_NO_LIMIT = 10**9
_SEPARATORS = ("\n\n", "\n", ". ", " ")
_HTML = re.compile(
    rb"\s{0,64}(?:<!--.{0,400}?-->\s{0,64})?<(?:!doctype\s+html|html|\?xml)\b", re.IGNORECASE | re.DOTALL
)
_NUMBERED = re.compile(
    r"(?:article|section|schedule|exhibit|annex|appendix|clause|part)\s{1,3}(?:\d|[ivxlc]{1,6}\b|[a-z]\b)"
    r"|\d{1,2}(?:\.\d{1,2}){0,3}\.?\)?\s{1,8}[“\"A-Z]|#{1,6}\s",
    re.IGNORECASE,
)


def parse_document(content: bytes, source_uri: str, settings: FilingSettings, ocr: Ocr | None = None) -> ParsedFiling:
    """Read one PDF, HTML or text file as a document without company, form or period.

    The pages of a PDF are its own; those of HTML and text are sections. Raises FilingError as ``parse_filing`` does.
    """
    kind = sniff(content, settings)
    if kind == "pdf":
        with open_pdf(content, settings) as document:
            texts = pdf_text(document, settings, ocr).texts
    elif _HTML.match(content[:1024]):
        unpaged = settings.model_copy(update={"max_unpaged_characters": _NO_LIMIT, "max_page_characters": _NO_LIMIT})
        texts = [text for page in split_pages(parse_html(content), unpaged) for text in sections(page.text)]
    else:
        texts = sections(read_text(content))
        if not any(text.strip() for text in texts):
            raise FilingError("parse", "no_text", "the file has no text")
    check_length(texts, settings)
    if len(texts) > settings.max_pages:
        raise FilingError(
            "parse", "too_many_pages", f"{len(texts):,} sections exceed filings.max_pages = {settings.max_pages:,}"
        )
    digest = hashlib.sha256(content).hexdigest()
    filing = Filing(document_id(content), doc_name(source_uri), source_uri, digest, UNIDENTIFIED, PLAIN_DOCUMENT)
    headings = page_headings(texts)
    pages = (Page(number, text, headings=head) for number, (text, head) in enumerate(zip(texts, headings, strict=True)))
    return ParsedFiling(filing, tuple(pages))


def document_id(content: bytes) -> str:
    """The ``filing_id`` of a document: equal files are one document."""
    return hashlib.sha256(content).hexdigest()[:20]


def read_text(content: bytes) -> str:
    """The text of a file, with line feeds as line ends. Control characters become spaces, so that offsets are those of
    a file that Python opens as text."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        text = content.decode("cp1252", "replace")
    return CONTROL.sub(" ", text.replace("\r\n", "\n").replace("\r", "\n")).replace("\ufeff", " ")


def sections(text: str) -> list[str]:
    """``text`` cut into sections of at most 4,000 characters; one that has at least 800 ends before the next heading.
    Joined, they are ``text``."""
    starts = [0]
    for at in (*_heading_offsets(text), len(text)):
        while at - starts[-1] > MAX_SECTION:
            starts.append(_cut(text, starts[-1]))
        if at - starts[-1] >= MIN_SECTION:
            starts.append(at)
    return [text[start:end] for start, end in pairwise([*starts, len(text)]) if end > start]


def _heading_offsets(text: str) -> Iterator[int]:
    at = 0
    for line in text.splitlines(keepends=True):
        bare = line.strip()
        if bare and (_NUMBERED.match(bare) or is_heading(bare)):
            yield at
        at += len(line)


def _cut(text: str, start: int) -> int:
    """The end of a long section that begins at ``start``: after the last separator in the second half of its maximum
    length."""
    limit = start + MAX_SECTION
    for separator in _SEPARATORS:
        at = text.rfind(separator, start + MAX_SECTION // 2, limit)
        if at >= 0:
            return at + len(separator)
    return limit


def spans_of(texts: Sequence[str], start: int, end: int) -> Iterator[tuple[int, int, int]]:
    """(section, start, end) of each section's share of the characters ``start`` to ``end`` of the whole text."""
    at = 0
    for number, text in enumerate(texts):
        first, last = max(start - at, 0), min(end - at, len(text))
        if first < last:
            yield number, first, last
        at += len(text)
