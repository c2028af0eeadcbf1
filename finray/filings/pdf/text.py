"""Text of PDF filings by PyMuPDF, which is not thread-safe: use processes, not threads."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import pymupdf

from finray.core.errors import FilingError
from finray.core.settings import FilingSettings
from finray.filings.pdf.lines import PositionedWord
from finray.filings.pdf.marks import cleaned, runs_across, turned
from finray.filings.pdf.ocr import common_words, image_pages, read_page, unreadable_pages
from finray.filings.pdf.tessdata import ADVICE, Ocr

# MuPDF prints each flaw of a file on standard error; serious ones become a FilingError.
pymupdf.TOOLS.mupdf_display_errors(False)  # type: ignore[no-untyped-call]
pymupdf.TOOLS.mupdf_display_warnings(False)  # type: ignore[no-untyped-call]

# What PyMuPDF raises on broken input, depending on version and place.
_BROKEN = (RuntimeError, ValueError, TypeError, IndexError, KeyError, pymupdf.mupdf.FzErrorBase)

_NO_MEMORY = re.compile(r"\b(?:m|c|re)alloc\b.{0,80}\bfailed")
_OBJECT = re.compile(rb"(\d{1,10})\s{1,8}\d{1,5}\s{1,8}obj\b")
_REFERENCE = re.compile(r"\b(\d{1,10}) \d{1,5} R\b")


@dataclass(frozen=True, slots=True)
class PdfText:
    """The text of each page. ``words`` has the positioned words of the pages that OCR read, ``again`` those of a second
    reading of these pages, ``printed`` those of other pages that seem to have a table, all as on upright pages. The
    fonts of ``unread`` pages do not map to Unicode; their text is left out."""

    texts: list[str]
    words: Mapping[int, Sequence[PositionedWord]] = field(default_factory=dict)
    unread: tuple[int, ...] = ()
    printed: Mapping[int, Sequence[PositionedWord]] = field(default_factory=dict)
    again: Mapping[int, Sequence[PositionedWord]] = field(default_factory=dict)


@contextmanager
def open_pdf(content: bytes, settings: FilingSettings) -> Iterator[pymupdf.Document]:
    """The open document, closed afterwards.

    Raises FilingError (stage "parse") with reason ``corrupt_pdf``, ``encrypted``, ``no_pages`` or
    ``too_many_pages``.
    """
    try:
        document = pymupdf.open(stream=content, filetype="pdf")  # type: ignore[no-untyped-call]
    except _BROKEN as error:
        raise _corrupt("not a readable PDF", error) from error
    with document:
        if document.needs_pass:
            raise FilingError(
                "parse", "encrypted", "the PDF needs a password; decrypt it first (for example with qpdf)"
            )
        try:
            n_pages = document.page_count
        except _BROKEN as error:
            raise _corrupt("its pages cannot be counted", error) from error
        if n_pages == 0:
            raise FilingError("parse", "no_pages", "the PDF has no pages; it may be truncated")
        if n_pages > settings.max_pages:
            raise FilingError(
                "parse", "too_many_pages", f"{n_pages:,} pages exceed filings.max_pages = {settings.max_pages:,}"
            )
        _check_repair(document)
        yield document


def pdf_text(
    document: pymupdf.Document,
    settings: FilingSettings,
    ocr: Ocr | None = None,
    *,
    tabular: Callable[[str], bool] = lambda _: False,
) -> PdfText:
    """The text of each page, as from ``page.get_text()``; ``ocr`` reads pages without text or with unreadable text.

    Pages whose text is ``tabular`` also keep their words: the layout of a page takes most of the time of reading it, so
    it is computed once for both.

    Raises FilingError with reason ``corrupt_pdf`` (a page cannot be read), ``image_only`` or ``no_unicode`` (hardly any
    readable text), or ``needs_ocr``.
    """
    try:
        texts: list[str] = []
        printed: dict[int, Sequence[PositionedWord]] = {}
        for number in range(document.page_count):
            page = document[number]
            layout = page.get_textpage(flags=pymupdf.TEXTFLAGS_TEXT)
            text = layout.extractText()
            found = layout.extractWORDS() if tabular(text) else None  # type: ignore[no-untyped-call]
            text, found = cleaned(layout, text, found)
            texts.append(_storable(text))
            if found is not None:
                printed[number] = upright(page, found)
        _check_repair(document)  # reading the pages may reveal more damage
        read = _read(document, texts, settings, ocr)
        replaced = {*read.words, *read.unread}
        return replace(read, printed={page: words for page, words in printed.items() if page not in replaced})
    except _BROKEN as error:
        raise _corrupt("a page cannot be read", error) from error


def upright(page: pymupdf.Page, words: Sequence[tuple[Any, ...]]) -> list[PositionedWord]:
    """``words``, as from ``TextPage.extractWORDS``, as they stand on a page that is turned upright. If most lines run
    up or down the page, the words of these lines are turned, and the others left out."""
    found = words
    if page.rotation:
        boxes = [pymupdf.Rect(*word[:4]) * page.rotation_matrix for word in words]  # type: ignore[no-untyped-call]
        found = [(*box, *word[4:]) for box, word in zip(boxes, words, strict=True)]
    turn = turned(found, page.rect.width, page.rect.height, rotated=bool(page.rotation))
    if turn is None:
        return [word[:5] for word in found]
    placed = ((turn(word), word[4]) for word in found)
    return [(*box, text) for box, text in placed if runs_across(box, text)]


def _read(document: pymupdf.Document, texts: list[str], settings: FilingSettings, ocr: Ocr | None) -> PdfText:
    unreadable = unreadable_pages(document, texts)
    readable = list(texts)
    for number in unreadable:
        readable[number] = ""
    scarce = _is_scarce(readable, settings)
    for_ocr = sorted({*unreadable, *(image_pages(document, texts, any_size=scarce) if ocr else ())})
    if ocr is None or not for_ocr:
        if scarce:
            raise _no_text(document, texts, unreadable)
        return PdfText(readable, unread=tuple(unreadable))
    if not ocr.allowed:
        raise FilingError("parse", "needs_ocr", f"{len(for_ocr)} of {len(texts)} pages need OCR")
    words: dict[int, Sequence[PositionedWord]] = {}
    again: dict[int, Sequence[PositionedWord]] = {}
    for number in for_ocr:
        page = document[number]
        text, placed = read_page(page, ocr)
        if common_words(text) >= common_words(texts[number]):
            texts[number], words[number] = _storable(text), upright(page, placed)
            again[number] = upright(page, read_page(page, ocr, again=True)[1])
    if _is_scarce(texts, settings):
        raise FilingError("parse", "image_only", f"{len(texts)} pages, on which OCR found hardly any text")
    return PdfText(texts, words, again=again)


def _is_scarce(texts: Sequence[str], settings: FilingSettings) -> bool:
    printed = sum(len(text.strip()) for text in texts)
    return printed < settings.min_characters_per_page * len(texts) or not printed


def _no_text(document: pymupdf.Document, texts: Sequence[str], unreadable: Sequence[int]) -> FilingError:
    if unreadable:
        return FilingError(
            "parse",
            "no_unicode",
            f"the fonts of {len(unreadable)} of {len(texts)} pages do not map to Unicode: only OCR can read them; "
            f"{ADVICE}",
        )
    found = f"{len(texts)} pages with {sum(len(text.strip()) for text in texts)} characters of text"
    if document.is_repaired and not _has_images(document):
        return FilingError("parse", "corrupt_pdf", f"{found} after repair; the file is truncated, fetch it again")
    return FilingError("parse", "image_only", f"{found}: only OCR can read scanned images; {ADVICE}")


def _check_repair(document: pymupdf.Document) -> None:
    """Raises FilingError ``corrupt_pdf`` if repair did not recover all pages."""
    if document.is_repaired and (lost := _lost_pages(document, document.stream)):
        raise FilingError(
            "parse",
            "corrupt_pdf",
            f"the PDF is truncated or damaged: after repair {len(lost)} of its {document.page_count} pages are lost, "
            f"such as p. {lost[0] + 1}; fetch it again",
        )


def _lost_pages(document: pymupdf.Document, content: bytes) -> list[int]:
    """Pages of a repaired document whose content is missing or cut off at the end of the file."""
    rest = content[content.rfind(b"endobj") + 1 :]
    cut = {int(match[1]) for match in _OBJECT.finditer(rest)}
    return [number for number in range(document.page_count) if not _is_whole(document, number, cut)]


def _is_whole(document: pymupdf.Document, number: int, cut: set[int]) -> bool:
    try:
        kind, value = document.xref_get_key(document.page_xref(number), "Contents")  # type: ignore[no-untyped-call]
        parts = [int(reference) for reference in _REFERENCE.findall(value)] if kind in ("xref", "array") else []
        return all(part not in cut and document.xref_is_stream(part) for part in parts)  # type: ignore[no-untyped-call]
    except _BROKEN as error:
        _check_memory(error)
        return False


def _has_images(document: pymupdf.Document) -> bool:
    return any(document[number].get_images() for number in range(document.page_count))  # type: ignore[no-untyped-call]


def _storable(text: str) -> str:
    """``text`` without characters that UTF-8 and Arrow cannot store: NULs and lone surrogates."""
    if "\0" in text:
        text = text.replace("\0", "")
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode("utf-8")
    return text


def _check_memory(error: BaseException) -> None:
    """Raises MemoryError if memory ran out; only the message of MuPDF's ``error`` shows that."""
    if _NO_MEMORY.search(str(error)):
        raise MemoryError from error


def _corrupt(problem: str, error: BaseException) -> FilingError:
    """The error for a damaged file. Raises MemoryError if memory ran out instead."""
    _check_memory(error)
    return FilingError("parse", "corrupt_pdf", f"{problem} ({' '.join(str(error).split())[:200]}); fetch it again")
