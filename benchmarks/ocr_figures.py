"""Compares the figures that OCR reads on drawn statement pages with those of the text layer.

For each PDF, the cover and the first ``--pages`` pages with a primary statement are drawn as images, without their text
layer, and read by OCR. A figure is wrong if the text layer prints another one in its place; it is misplaced if only its
unit, scale or period differs, because a heading was misread:

    python benchmarks/ocr_figures.py PDF... [--dpi 150 200 300] [--pages 4] [--examples 10]

Without doubts, ``doubted`` right and wrong figures would be stated too: that is the column ``wrong before``.
"""

from __future__ import annotations

import argparse
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pymupdf as untyped_pymupdf

from finray.core.filing import LineItem, ParsedFiling
from finray.core.ocr_marks import is_doubted
from finray.core.settings import FilingSettings
from finray.filings.pdf.tessdata import Ocr, find_tessdata
from finray.filings.read import parse_filing

pymupdf: Any = untyped_pymupdf
_SETTINGS = FilingSettings()
_OUTCOMES = ("right", "wrong", "misplaced", "doubted, right", "doubted, wrong", "missing", "extra")


@dataclass(frozen=True, slots=True)
class Compared:
    """``printed`` is the line item of the text layer, ``read`` that of OCR in the same place; either may be None."""

    printed: LineItem | None
    read: LineItem | None

    @property
    def outcome(self) -> str:
        if self.read is None:
            return "missing"
        doubted = is_doubted(self.read.ocr)
        if self.printed is None:
            return "extra" if not doubted else "doubted, wrong"
        right = math.isclose(self.printed.value * self.read.scale, self.read.value * self.printed.scale)
        if doubted:
            return "doubted, right" if right else "doubted, wrong"
        return "right" if _stated(self.printed) == _stated(self.read) else "misplaced" if right else "wrong"


def _stated(item: LineItem) -> tuple[object, ...]:
    return item.value, item.unit, item.period_end, item.months


def statement_pages(content: bytes, most: int) -> list[int]:
    """The first ``most`` pages with a primary statement whose text layer gives line items."""
    parsed = parse_filing(content, "text.pdf", _SETTINGS)
    with_items = {item.page for item in parsed.line_items if item.statement is not None}
    return [page.page for page in parsed.pages if page.statement is not None and page.page in with_items][:most]


def only(content: bytes, pages: Sequence[int], dpi: int | None) -> bytes:
    """A PDF of ``pages`` of another, drawn at ``dpi``, or with their text if that is None."""
    with pymupdf.open(stream=content, filetype="pdf") as source, pymupdf.open() as target:
        for number in pages:
            if dpi is None:
                target.insert_pdf(source, from_page=number, to_page=number)
                continue
            page = source[number]
            drawn = target.new_page(width=page.rect.width, height=page.rect.height)
            drawn.insert_image(drawn.rect, pixmap=page.get_pixmap(dpi=dpi))
        made: bytes = target.tobytes(deflate=True)
        return made


def compared(printed: ParsedFiling, read: ParsedFiling) -> Iterator[Compared]:
    """The line items of both readings of the same pages, matched by page and place; those of the cover are left out."""
    left = [item for item in read.line_items if item.page]
    for item in printed.line_items:
        if not item.page:
            continue
        same = max(left, key=lambda other: _overlap(item, other), default=None)
        if same is not None and _overlap(item, same) > 0:
            left.remove(same)
            yield Compared(item, same)
        else:
            yield Compared(item, None)
    yield from (Compared(None, item) for item in left)


def _overlap(a: LineItem, b: LineItem) -> float:
    """The area that the boxes of two cells share; 0 on different pages."""
    if a.page != b.page or a.box is None or b.box is None:
        return 0.0
    width = min(a.box[2], b.box[2]) - max(a.box[0], b.box[0])
    height = min(a.box[3], b.box[3]) - max(a.box[1], b.box[1])
    return max(0.0, width) * max(0.0, height)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pdfs", nargs="+", type=Path)
    parser.add_argument("--dpi", nargs="+", type=int, default=[150, 200, 300])
    parser.add_argument("--pages", type=int, default=4, help="statement pages of each PDF")
    parser.add_argument("--examples", type=int, default=0, help="wrong figures shown for each resolution")
    arguments = parser.parse_args()
    tessdata = find_tessdata()
    if tessdata is None:
        parser.error("Tesseract's data is not installed")
    ocr = Ocr(tessdata)
    counts: dict[int, Counter[str]] = {dpi: Counter() for dpi in arguments.dpi}
    wrong: dict[int, list[str]] = {dpi: [] for dpi in arguments.dpi}
    n_pages = 0
    for path in arguments.pdfs:
        content = path.read_bytes()
        statements = statement_pages(content, arguments.pages)
        pages = [0, *(page for page in statements if page)]
        n_pages += len(pages) - 1
        printed = parse_filing(only(content, pages, None), path.name, _SETTINGS)
        for dpi in arguments.dpi:
            read = parse_filing(only(content, pages, dpi), path.name, _SETTINGS, ocr)
            for each in compared(printed, read):
                counts[dpi][each.outcome] += 1
                if each.outcome in ("wrong", "extra"):
                    wrong[dpi].append(f"{path.stem} p. {pages[(each.read or each.printed).page] + 1}: {_shown(each)}")  # type: ignore[union-attr]
    print(f"{len(arguments.pdfs)} PDFs, {n_pages} statement pages")
    print("| dpi | n | " + " | ".join(_OUTCOMES) + " | wrong before |")
    print("|" + "---:|" * (len(_OUTCOMES) + 3))
    for dpi, own in counts.items():
        before = sum(own[outcome] for outcome in ("wrong", "doubted, wrong", "extra"))
        n = sum(own.values()) - own["extra"]
        print(f"| {dpi} | {n} | " + " | ".join(str(own[outcome]) for outcome in _OUTCOMES) + f" | {before} |")
    for dpi, shown in wrong.items():
        for line in shown[: arguments.examples]:
            print(f"{dpi} dpi, {line}")


def _shown(each: Compared) -> str:
    return " <- ".join(
        f"{item.label[:40]!r} {item.text!r} {item.unit} {item.period_end} {item.months}" if item else "nothing"
        for item in (each.read, each.printed)
    )


if __name__ == "__main__":
    main()
