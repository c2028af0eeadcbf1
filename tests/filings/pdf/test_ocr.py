"""Pages whose text cannot be extracted: scans, and fonts that do not say which letters they print."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pymupdf as untyped_pymupdf
import pytest

from finray.core.errors import FilingError
from finray.core.filing import ParsedFiling
from finray.core.settings import FilingSettings
from finray.filings.pdf.ocr import is_enciphered
from finray.filings.pdf.tessdata import Ocr, find_tessdata
from finray.filings.read import parse_filing

pymupdf: Any = untyped_pymupdf

SETTINGS = FilingSettings()
COVER = """UNITED STATES
SECURITIES AND EXCHANGE COMMISSION
Washington, D.C. 20549
FORM 10-K
ANNUAL REPORT PURSUANT TO SECTION 13 OR 15(d)
For the fiscal year ended December 31, 2022
Commission File Number 1-9595
ACME WIDGETS, INC.
(Exact name of registrant as specified in its charter)
Delaware
"""
STATEMENT = [
    ("ACME WIDGETS, INC.", "", ""),
    ("Consolidated Statements of Income", "", ""),
    ("(in millions)", "2022", "2021"),
    ("Net sales", "1,234", "1,100"),
    ("Cost of goods sold", "734", "650"),
    ("Gross profit", "500", "450"),
    ("Selling, general and administrative", "210", "190"),
    ("Income before taxes", "290", "260"),
    ("Provision for income taxes", "61", "55"),
    ("Net income", "229", "205"),
]


def printed(*, embedded: bool = False) -> Any:
    """A cover and a statement; the font is ``embedded`` without a word on which letters it prints."""
    document = pymupdf.open()
    name = "F0" if embedded else "helv"
    lines: Sequence[tuple[str, ...]]
    for lines, size in (([(line,) for line in COVER.splitlines()], 12), (STATEMENT, 10)):
        page = document.new_page()
        if embedded:
            page.insert_font(fontname=name, fontbuffer=pymupdf.Font("helv").buffer)
        for row, cells in enumerate(lines):
            for x, cell in zip((72, 350, 450), cells, strict=False):
                page.insert_text((x, 80 + 20 * row), cell, fontname=name, fontsize=size)
    return document


def without_unicode() -> bytes:
    document = printed(embedded=True)
    for xref in range(1, document.xref_length()):
        if document.xref_get_key(xref, "ToUnicode")[0] != "null":
            document.xref_set_key(xref, "ToUnicode", "null")
    content: bytes = document.tobytes(garbage=3)
    return content


def enciphered() -> bytes:
    """A readable cover, and a statement whose font maps each letter and digit to the third one after it."""
    document = printed(embedded=True)
    for xref in range(1, document.xref_length()):
        kind, value = document.xref_get_key(xref, "ToUnicode")
        if kind == "xref":
            stream = int(value.split()[0])
            content = document.xref_stream(stream)
            for first, shifted in ((b"<0028>", b"<002b>"), (b"<0061>", b"<0064>")):
                content = content.replace(first, shifted, 1)
            document.update_stream(stream, content)
    whole = printed()
    whole.delete_page(1)
    whole.insert_pdf(document, from_page=1)
    content = whole.tobytes(garbage=3)
    return bytes(content)


def scanned(*, also_text: bool = False) -> bytes:
    target = pymupdf.open()
    for page in printed():
        pixels = page.get_pixmap(dpi=150)
        target.new_page(width=page.rect.width, height=page.rect.height).insert_image(page.rect, pixmap=pixels)
    if also_text:
        target.new_page().insert_text((72, 72), "Exhibit 99 of Acme Widgets, Inc. is printed on this page as text.")
    content: bytes = target.tobytes()
    return content


@pytest.fixture(scope="module")
def ocr() -> Ocr:
    tessdata = find_tessdata()
    if tessdata is None:
        pytest.skip("Tesseract's data is not installed")
    return Ocr(tessdata)


@pytest.mark.parametrize(("content", "reason"), [(without_unicode(), "no_unicode"), (scanned(), "image_only")])
def test_without_tesseract_they_are_set_aside_with_advice(content: bytes, reason: str) -> None:
    with pytest.raises(FilingError, match=r"install Tesseract's data .* --retry-failed") as caught:
        parse_filing(content, "a.pdf", SETTINGS)
    assert caught.value.reason == reason


@pytest.mark.parametrize("content", [without_unicode(), scanned()])
def test_they_are_not_read_before_ocr_is_allowed(content: bytes) -> None:
    with pytest.raises(FilingError) as caught:
        parse_filing(content, "a.pdf", SETTINGS, Ocr("/nowhere", allowed=False))
    assert caught.value.reason == "needs_ocr"


def test_pages_of_strange_letters_are_left_out_of_a_report_that_can_be_read() -> None:
    document = printed()
    document.insert_pdf(pymupdf.open(stream=without_unicode(), filetype="pdf"), from_page=1)
    parsed = parse_filing(document.tobytes(), "a.pdf", SETTINGS)
    assert [bool(page.text) for page in parsed.pages] == [True, True, False]
    assert parsed.filing.marks == ("unread",)


def test_a_page_of_other_letters_than_those_printed_is_left_out() -> None:
    parsed = parse_filing(enciphered(), "a.pdf", SETTINGS)
    assert [bool(page.text) for page in parsed.pages] == [True, False]
    assert parsed.filing.marks == ("unread",)
    assert not parsed.line_items


def test_letters_of_lists_of_names_and_of_other_languages_are_those_printed() -> None:
    names = "Acme Polska Sp. z o.o. Warszawa Wyeth Ayerst S.à r.l. Luxembourg Hospira Zagreb d.o.o. Pfizer Oy Finland "
    german = "Gesellschaft mit beschränkter Haftung, Umsatzerlöse, Herstellungskosten, Ergebnis vor Ertragsteuern "
    assert not is_enciphered(3 * names)
    assert not is_enciphered(3 * german)
    assert is_enciphered("".join(chr(ord(letter) + 3) for letter in 3 * names))


@pytest.mark.parametrize("content", [without_unicode(), scanned(), scanned(also_text=True), enciphered()])
def test_they_are_read_by_ocr_and_marked(content: bytes, ocr: Ocr) -> None:
    parsed = parse_filing(content, "a.pdf", SETTINGS, ocr)
    filing = parsed.filing
    assert (filing.company, filing.form, filing.period_end) == ("ACME WIDGETS, INC.", "10-K", dt.date(2022, 12, 31))
    assert filing.marks == ("ocr",)
    assert sales(parsed) == {dt.date(2022, 12, 31): 1234e6, dt.date(2021, 12, 31): 1100e6}


def sales(parsed: ParsedFiling) -> dict[dt.date | None, float]:
    rows = [item for item in parsed.line_items if item.label == "Net sales"]
    assert all(item.page == 1 and item.box is not None and 340 < item.box[0] < 480 for item in rows)
    return {item.period_end: item.value for item in rows}


def test_tesseract_is_found_where_its_variable_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tessdata").mkdir()
    (tmp_path / "tessdata" / "eng.traineddata").write_bytes(b"")
    monkeypatch.setenv("TESSDATA_PREFIX", str(tmp_path))
    assert find_tessdata() == str(tmp_path / "tessdata")
