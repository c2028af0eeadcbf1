"""OCR of pages whose text cannot be extracted, by the Tesseract that is built into PyMuPDF.

Scanned pages have no text. Fonts that do not map to Unicode yield meaningless characters, or other letters than those
printed. Only Tesseract's language data must be installed; ``tessdata`` finds it.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from operator import mul

import pymupdf

from finray.filings.pdf.lines import PositionedWord
from finray.filings.pdf.tessdata import LANGUAGE, Ocr

_DPI, _SECOND_DPI = 300, 240
"""Of the reading, and of a second one to compare its figures with. On 12 statement pages drawn at 150 and 300 dpi, 6 of
1,552 right figures were read otherwise at 240 dpi, 12 at 200 and 15 at 400 (benchmarks/ocr_figures.py)."""
_MAX_PIXELS = 20_000_000
"""Maximum size of the rendered page; a letter page at 300 dpi has 8 million."""
_LAYOUT = "tessedit_pageseg_mode=4"
"""One column of text of various sizes. It keeps table rows whole and does not lose headings, unlike MuPDF's default."""
_ODD = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\uf8ff\ufffd]")
"""Control, surrogate, private-use and replacement characters."""
_SUSPECT_SHARE, _UNREADABLE_SHARE = 0.02, 0.3
_MIN_LETTERS = 50
_COMMON = re.compile(
    r"\b(?:the|of|and|to|in|for|a|or|by|on|as|is|with|at|de|la|el|les|des|und|der|die|do|da|en|et|que)\b", re.IGNORECASE
)
_WORD = re.compile(r"[A-Za-z]+")
_MIN_WORDS = 200
_COMMON_SHARE = 0.01
"""Minimum share of common words in a document of at least ``_MIN_WORDS``; fewer mean that its letters are wrong."""
_FREQUENT = {
    "a": 8.17, "b": 1.29, "c": 2.78, "d": 4.25, "e": 12.70, "f": 2.23, "g": 2.02, "h": 6.09, "i": 6.97, "j": 0.15,
    "k": 0.77, "l": 4.03, "m": 2.41, "n": 6.75, "o": 7.51, "p": 1.93, "q": 0.10, "r": 5.99, "s": 6.33, "t": 9.06,
    "u": 2.76, "v": 0.98, "w": 2.36, "x": 0.15, "y": 1.97, "z": 0.07,
}  # fmt: skip
"""How often each letter occurs in English, in percent (Lewand, Cryptological Mathematics, 2000)."""
_LETTERS_OF_PAGE = 120
"""Letters of a page that show whether they are those printed."""
_LIKE_ENGLISH = 0.85
"""Least cosine of a page's letters with ``_FREQUENT``."""
_FEW_COMMON = 0.06
"""Share of common words up to which a page's letters are compared. Of 2,611 pages of 16 filings none is below both, of
the same pages with permuted letters 99%."""
_FIRST_CHARACTERS = 600
"""Characters of a page of prose that suffice to see common words."""
_SAMPLED_PAGES, _SAMPLED_CHARACTERS = 20, 2_000
_BLANK_DPI = 20
_FULL_PAGE = 0.5


def unreadable_pages(document: pymupdf.Document, texts: Sequence[str]) -> list[int]:
    """Pages whose fonts do not map to Unicode, or map to letters that they do not print; all pages with text if the
    document has hardly any common words."""
    sample = " ".join(text[:_SAMPLED_CHARACTERS] for text in texts[:: max(1, len(texts) // _SAMPLED_PAGES)])
    words = len(_WORD.findall(sample))
    enough = math.ceil(_COMMON_SHARE * words)
    if words >= _MIN_WORDS and sum(1 for _ in islice(_COMMON.finditer(sample), enough)) < enough:
        return [number for number, text in enumerate(texts) if text.strip()]
    return [
        number
        for number, text in enumerate(texts)
        if (_is_suspect(text) and _is_unreadable(document, number)) or is_enciphered(text)
    ]


def is_enciphered(text: str) -> bool:
    """Whether ``text`` of a page has few common words and not the letters that words are made of: its fonts map glyphs
    to other letters than they print."""
    if _has_common_words(text[:_FIRST_CHARACTERS]) or _has_common_words(text):
        return False
    counts = Counter(text.lower())
    letters = [counts[letter] for letter in _FREQUENT]
    if sum(letters) < _LETTERS_OF_PAGE:
        return False
    product = sum(map(mul, letters, _FREQUENT.values()))
    unlike: bool = product < _LIKE_ENGLISH * math.hypot(*letters) * math.hypot(*_FREQUENT.values())
    return unlike


def _has_common_words(text: str) -> bool:
    words = len(_WORD.findall(text))
    return words == 0 or len(_COMMON.findall(text)) > _FEW_COMMON * words


def common_words(text: str) -> int:
    """The number of words in ``text`` that are common in a Western language."""
    return len(_COMMON.findall(text))


def image_pages(document: pymupdf.Document, texts: Sequence[str], *, any_size: bool) -> list[int]:
    """Pages that print something but have no text. Unless ``any_size``, one image must cover most of the page."""
    empty = (number for number, text in enumerate(texts) if not text.strip())
    return [n for n in empty if (_is_printed(document[n]) if any_size else _is_image(document[n]))]


def read_page(page: pymupdf.Page, ocr: Ocr, *, again: bool = False) -> tuple[str, list[PositionedWord]]:
    """The text of a page and its words, with positions as in ``page.get_text("words")``; read ``again`` at another
    resolution, another text if letters are hard to tell apart."""
    picture = _rendered(page, _SECOND_DPI if again else _DPI)
    with pymupdf.open(stream=_recognized(picture, ocr), filetype="pdf") as read:  # type: ignore[no-untyped-call]
        scale = page.rect.width / read[0].rect.width
        upright = pymupdf.Matrix(scale, scale) * page.derotation_matrix  # type: ignore[no-untyped-call]
        textpage = read[0].get_textpage(matrix=upright)
        return textpage.extractText(), [word[:5] for word in textpage.extractWORDS()]


def _rendered(page: pymupdf.Page, dpi: int) -> pymupdf.Pixmap:
    """The page as an image with at most ``dpi`` and ``_MAX_PIXELS``."""
    area = max(1.0, abs(page.rect.width * page.rect.height)) / 72**2
    return page.get_pixmap(dpi=max(1, min(dpi, int((_MAX_PIXELS / area) ** 0.5))))


def _recognized(picture: pymupdf.Pixmap, ocr: Ocr) -> bytes:
    """A PDF page with the text that Tesseract found in ``picture``."""
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
    return len(text) >= _MIN_LETTERS and len(_ODD.findall(text)) > _SUSPECT_SHARE * len(text)


def _is_unreadable(document: pymupdf.Document, number: int) -> bool:
    """Whether many characters of the page have no Unicode. Without the flag, MuPDF reports them instead of guessing."""
    flags = pymupdf.TEXTFLAGS_TEXT & ~pymupdf.TEXT_CID_FOR_UNKNOWN_UNICODE
    letters = "".join(document[number].get_text(flags=flags).split())  # type: ignore[no-untyped-call]
    return len(_ODD.findall(letters)) > _UNREADABLE_SHARE * len(letters)


def _is_printed(page: pymupdf.Page) -> bool:
    return not _rendered(page, _BLANK_DPI).is_unicolor


def _is_image(page: pymupdf.Page) -> bool:
    whole = abs(page.rect.width * page.rect.height)
    boxes = (pymupdf.Rect(image["bbox"]) & page.rect for image in page.get_image_info())  # type: ignore[no-untyped-call]
    return any(abs(box.width * box.height) > _FULL_PAGE * whole for box in boxes) and _is_printed(page)
