"""Pages whose text cannot be extracted, read from their picture by the Tesseract that PyMuPDF has built in.

Scanned pages have no text at all; fonts that carry no Unicode give signs that stand for nothing, or other letters than
are printed. Only Tesseract's language data must be there: finray finds it where Tesseract is installed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import pymupdf

from finray.filings.pdf_lines import PositionedWord
from finray.filings.tessdata import LANGUAGE, Ocr

_DPI = 300
_MOST_PIXELS = 20_000_000
"""A page of any size becomes a picture of at most so many: a letter page at 300 dpi has 8 million."""
_LAYOUT = "tessedit_pageseg_mode=4"
"""One column of text of various sizes: rows of tables stay whole, and headings are not lost, as in MuPDF's own mode."""
_ODD = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\uf8ff\ufffd]")
"""Control characters, those of private use, and the one that replaces what could not be read."""
_SUSPECT_SHARE, _STRANGE_SHARE = 0.02, 0.3
_FEW_LETTERS = 50
_COMMON = re.compile(
    r"\b(?:the|of|and|to|in|for|a|or|by|on|as|is|with|at|de|la|el|les|des|und|der|die|do|da|en|et|que)\b", re.IGNORECASE
)
_WORD = re.compile(r"[A-Za-z]+")
_MANY_WORDS = 200
_COMMON_SHARE = 0.01
_SAMPLED_PAGES, _SAMPLED_CHARACTERS = 20, 2_000
_BLANK_DPI = 20
_FULL_PAGE = 0.5


def strange_pages(document: pymupdf.Document, texts: Sequence[str]) -> list[int]:
    """Pages whose fonts do not say which letters they print; where hardly a common word stands in the whole document,
    all pages with text."""
    sample = " ".join(text[:_SAMPLED_CHARACTERS] for text in texts[:: max(1, len(texts) // _SAMPLED_PAGES)])
    words = len(_WORD.findall(sample))
    if words >= _MANY_WORDS and common_words(sample) < _COMMON_SHARE * words:
        return [number for number, text in enumerate(texts) if text.strip()]
    return [number for number, text in enumerate(texts) if _is_suspect(text) and _is_strange(document, number)]


def common_words(text: str) -> int:
    """How many words stand in ``text`` that every text of a western language has."""
    return len(_COMMON.findall(text))


def pictured_pages(document: pymupdf.Document, texts: Sequence[str], *, any_size: bool) -> list[int]:
    """Pages that print something and have no text: of ``any_size``, or a picture that covers most of the page."""
    empty = (number for number, text in enumerate(texts) if not text.strip())
    return [n for n in empty if (_is_printed(document[n]) if any_size else _is_picture(document[n]))]


def read_page(page: pymupdf.Page, ocr: Ocr) -> tuple[str, list[PositionedWord]]:
    """Text of a page and its words, placed as ``page.get_text("words")`` places them."""
    area = max(1.0, abs(page.rect.width * page.rect.height)) / 72**2
    dpi = max(1, min(_DPI, int((_MOST_PIXELS / area) ** 0.5)))
    with pymupdf.open(stream=_recognised(page.get_pixmap(dpi=dpi), ocr), filetype="pdf") as read:  # type: ignore[no-untyped-call]
        scale = page.rect.width / read[0].rect.width
        upright = pymupdf.Matrix(scale, scale) * page.derotation_matrix  # type: ignore[no-untyped-call]
        textpage = read[0].get_textpage(matrix=upright)
        return textpage.extractText(), [word[:5] for word in textpage.extractWORDS()]


def _recognised(picture: pymupdf.Pixmap, ocr: Ocr) -> bytes:
    """The picture as a PDF page with the text that Tesseract found in it."""
    mupdf = pymupdf.mupdf
    options = mupdf.FzPdfocrOptions()
    options.language_set2(LANGUAGE)
    options.datadir_set2(ocr.tessdata)
    layout = mupdf.FzOptions(_LAYOUT)
    options.internal().options = layout.m_internal
    buffer = mupdf.FzBuffer(1 << 20)
    output = mupdf.FzOutput(buffer)
    mupdf.fz_write_pixmap_as_pdfocr(output, picture.this, options)
    output.fz_close_output()
    options.internal().options = None
    return bytes(buffer.fz_buffer_extract())


def _is_suspect(text: str) -> bool:
    return len(text) >= _FEW_LETTERS and len(_ODD.findall(text)) > _SUSPECT_SHARE * len(text)


def _is_strange(document: pymupdf.Document, number: int) -> bool:
    """Much of the page has no Unicode: where MuPDF need not guess, it says so."""
    flags = pymupdf.TEXTFLAGS_TEXT & ~pymupdf.TEXT_CID_FOR_UNKNOWN_UNICODE
    letters = "".join(document[number].get_text(flags=flags).split())  # type: ignore[no-untyped-call]
    return len(_ODD.findall(letters)) > _STRANGE_SHARE * len(letters)


def _is_printed(page: pymupdf.Page) -> bool:
    area = max(1.0, abs(page.rect.width * page.rect.height)) / 72**2
    dpi = max(1, min(_BLANK_DPI, int((_MOST_PIXELS / area) ** 0.5)))
    return not page.get_pixmap(dpi=dpi).is_unicolor


def _is_picture(page: pymupdf.Page) -> bool:
    whole = abs(page.rect.width * page.rect.height)
    boxes = (pymupdf.Rect(image["bbox"]) & page.rect for image in page.get_image_info())  # type: ignore[no-untyped-call]
    return any(abs(box.width * box.height) > _FULL_PAGE * whole for box in boxes) and _is_printed(page)
