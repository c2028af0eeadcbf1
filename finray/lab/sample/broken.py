"""One broken file of each kind that a folder of downloads may contain, with the expected result of reading it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pymupdf

from finray.core.errors import Stage
from finray.lab.sample.plan import drafts, make_plans
from finray.lab.sample.printing import Format, print_filing

_AES_256 = 5
"""pymupdf.PDF_ENCRYPT_AES_256, which type checkers do not see."""
_FORBIDDEN = """<!DOCTYPE html>
<html><head><title>SEC.gov | Request Rate Threshold Exceeded</title></head><body>
<h1>403 Forbidden</h1><p>Your Request Originates from an Undeclared Automated Tool</p>
<p>Please declare your traffic by updating your user agent to include company specific information.</p>
</body></html>
"""
_RECIPE = b"""Lentil soup\n\nSoften two onions in oil. Add a cup of red lentils, a litre of stock and a spoon of cumin.
Simmer for half an hour, blend, and serve with lemon.\n"""


@dataclass(frozen=True, slots=True)
class BrokenFile:
    """``reason`` and ``stage`` are those of the FilingError from reading the file; both are None if it is a valid
    filing despite its name."""

    name: str
    stage: Stage | None
    reason: str | None
    about: str


def write_broken_files(folder: Path) -> tuple[BrokenFile, ...]:
    """Write the files into ``folder`` (created if missing) and return the expected result of each."""
    folder.mkdir(parents=True, exist_ok=True)
    pdf = _filing("pdf")
    contents: dict[BrokenFile, bytes] = {
        BrokenFile("zero-bytes.pdf", "read", "empty", "a download that never began"): b"",
        BrokenFile("truncated.pdf", "parse", "corrupt_pdf", "a download cut short at once"): pdf[:500],
        BrokenFile("cut-short.pdf", "parse", "corrupt_pdf", "a download that lost its last pages"): pdf[:8000],
        BrokenFile("encrypted.pdf", "parse", "encrypted", "a PDF that asks for a password"): _encrypted(pdf),
        BrokenFile("forbidden.pdf", "read", "error_page", "EDGAR's refusal saved as a PDF"): _FORBIDDEN.encode(),
        BrokenFile("scanned.pdf", "parse", "image_only", "pictures of pages"): _scanned(pdf),
        BrokenFile("endless.pdf", "parse", "too_many_pages", "3,000 pages"): _endless(3000),
        BrokenFile("page-in-disguise.pdf", None, None, "a valid HTML filing named .pdf"): _filing("html"),
        BrokenFile("recipe.txt", "parse", "not_a_filing", "text that is not a filing"): _RECIPE,
        BrokenFile("picture.htm", "read", "unknown_format", "a PNG image named .htm"): _picture(),
    }
    for file, content in contents.items():
        (folder / file.name).write_bytes(content)
    return tuple(contents)


def _filing(kind: Format) -> bytes:
    """A small, valid 10-Q."""
    plan = make_plans(1, 1, seed=0, full=False)[0]
    return print_filing(next(drafts(plan)), (kind,), seed=0)[1]


def _encrypted(pdf: bytes) -> bytes:
    with pymupdf.open(stream=pdf, filetype="pdf") as document:  # type: ignore[no-untyped-call]
        content: bytes = document.tobytes(encryption=_AES_256, owner_pw="owner", user_pw="reader", no_new_id=True)
    return content


def _scanned(pdf: bytes) -> bytes:
    """The first two pages as images."""
    with (
        pymupdf.open(stream=pdf, filetype="pdf") as source,  # type: ignore[no-untyped-call]
        pymupdf.open() as target,  # type: ignore[no-untyped-call]
    ):
        for page in source.pages(0, 2):
            pixels = page.get_pixmap(dpi=10)  # no OCR can read that
            target.new_page(width=612, height=792).insert_image((0, 0, 612, 792), pixmap=pixels)
        content: bytes = target.tobytes(no_new_id=True)
    return content


def _endless(pages: int) -> bytes:
    with pymupdf.open() as document:  # type: ignore[no-untyped-call]
        document.new_page().insert_text((72, 72), "This page is printed again and again and again.")
        for _ in range(pages - 1):
            document.fullcopy_page(0)
        content: bytes = document.tobytes(no_new_id=True)
    return content


def _picture() -> bytes:
    """The first bytes of a PNG image."""
    return b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(range(64))
