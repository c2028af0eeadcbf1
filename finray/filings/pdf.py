"""PDF filings through PyMuPDF, which is not thread-safe: use processes, never threads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pymupdf

from finray.core.errors import FilingError
from finray.core.settings import FilingSettings

# MuPDF reports each flaw of a file on standard error; what matters becomes a FilingError.
pymupdf.TOOLS.mupdf_display_errors(False)  # type: ignore[no-untyped-call]
pymupdf.TOOLS.mupdf_display_warnings(False)  # type: ignore[no-untyped-call]

# What PyMuPDF raises on broken input: FileDataError and mupdf errors derive from RuntimeError or Exception's
# own standard subclasses, by version and by place.
_BROKEN = (RuntimeError, ValueError, TypeError, IndexError, KeyError, pymupdf.mupdf.FzErrorBase)

_NO_MEMORY = re.compile(r"\b(?:m|c|re)alloc\b.{0,80}\bfailed")
_TRAILER_BYTES = 4096


@contextmanager
def open_pdf(content: bytes, settings: FilingSettings) -> Iterator[pymupdf.Document]:
    """The open document, closed afterwards.

    Raises FilingError (stage "parse") with reason ``corrupt_pdf``, ``encrypted``, ``no_pages`` or
    ``too_many_pages``.
    """
    try:
        document = pymupdf.open(stream=content, filetype="pdf")  # type: ignore[no-untyped-call]
    except _BROKEN as error:
        _check_memory(error)
        raise FilingError("parse", "corrupt_pdf", f"not a readable PDF ({_one_line(error)}); fetch it again") from error
    with document:
        if document.needs_pass:
            raise FilingError(
                "parse", "encrypted", "the PDF asks for a password; decrypt it first (for example with qpdf)"
            )
        if document.is_repaired and b"%%EOF" not in content[-_TRAILER_BYTES:]:
            # MuPDF pieces a cut file together, and the pages that were lost come out blank.
            raise FilingError("parse", "corrupt_pdf", "the PDF has lost its end: it is truncated; fetch it again")
        try:
            n_pages = document.page_count
        except _BROKEN as error:
            _check_memory(error)
            raise FilingError(
                "parse", "corrupt_pdf", f"its pages cannot be counted ({_one_line(error)}); fetch it again"
            ) from error
        if n_pages == 0:
            raise FilingError("parse", "no_pages", "the PDF has no pages; it may be truncated")
        if n_pages > settings.max_pages:
            raise FilingError(
                "parse",
                "too_many_pages",
                f"{n_pages:,} pages are over filings.max_pages = {settings.max_pages:,}",
            )
        yield document


def page_texts(document: pymupdf.Document, settings: FilingSettings) -> list[str]:
    """Plain text of each page, as ``page.get_text()`` gives it.

    Raises FilingError with reason ``corrupt_pdf`` (a page cannot be read) or ``image_only`` (hardly any
    text)."""
    try:
        texts = [_storable(document[number].get_text()) for number in range(document.page_count)]  # type: ignore[no-untyped-call]
    except _BROKEN as error:
        _check_memory(error)
        raise FilingError(
            "parse", "corrupt_pdf", f"a page cannot be read ({_one_line(error)}); fetch it again"
        ) from error
    printed = sum(len(text.strip()) for text in texts)
    if printed < settings.min_characters_per_page * len(texts) or not printed:
        found = f"{len(texts)} pages with {printed} characters of text"
        if document.is_repaired and not _has_images(document):
            raise FilingError("parse", "corrupt_pdf", f"{found} after repair: it is truncated; fetch it again")
        raise FilingError("parse", "image_only", f"{found}: scanned images; run OCR first")
    return texts


def _has_images(document: pymupdf.Document) -> bool:
    return any(document[number].get_images() for number in range(document.page_count))  # type: ignore[no-untyped-call]


def _storable(text: str) -> str:
    """The same text without what UTF-8 and Arrow cannot carry: NULs and lone surrogates."""
    if "\0" in text:
        text = text.replace("\0", "")
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode("utf-8")
    return text


def _check_memory(error: BaseException) -> None:
    """MuPDF reports memory that ran out as an error of the system, in words. Raises MemoryError."""
    if _NO_MEMORY.search(str(error)):
        raise MemoryError from error


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200]
