"""Figures that OCR read: which stand, and which are doubted."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any

import pymupdf as untyped_pymupdf
import pytest

from finray.core.filing import LineItem
from finray.core.ocr_marks import OcrMark, is_doubted, mark_of
from finray.core.settings import FilingSettings
from finray.filings.pdf.doubts import differing_figures, with_marks
from finray.filings.pdf.lines import PositionedWord
from finray.filings.pdf.tessdata import Ocr, find_tessdata
from finray.filings.read import parse_filing
from tests.filings.pdf.test_ocr import COVER, STATEMENT

pymupdf: Any = untyped_pymupdf

YEARS = (2022, 2021, 2020)
INCOME = (
    ("Net sales", "514,000", "470,000", "386,000"),
    ("Cost of sales", "288,000", "272,000", "233,000"),
    ("Gross profit", "226,000", "198,000", "153,000"),
    ("Operating expenses", "214,000", "173,000", "130,000"),
    ("Operating income", "12,000", "25,000", "23,000"),
    ("Basic earnings per share", "$1.17", "$3.30", "$2.13"),
)


def items(rows: Sequence[Sequence[str]], page: int = 1) -> list[LineItem]:
    """The cells of ``rows``, 20 points apart; columns are 100 points wide."""
    found = []
    for row, (label, *texts) in enumerate(rows):
        for column, (text, year) in enumerate(zip(texts, YEARS, strict=False), start=1):
            value = float(text.strip("$()").replace(",", "")) * (-1 if "(" in text else 1)
            share = "share" in label and "." in text
            scale = 1 if share else 10**6
            found.append(
                LineItem(
                    page, "income", label, value * scale, text, "USD/share" if share else "USD", scale,
                    dt.date(year, 12, 31), 12, row=row, column=column,
                    box=(100 * column, 20 * row, 100 * column + 50, 20 * row + 10),
                )
            )  # fmt: skip
    return found


def words(read: Sequence[LineItem], **otherwise: str) -> list[PositionedWord]:
    """A second reading; ``otherwise`` has what it reads for cells such as ``r0c1``."""
    return [(*item.box, otherwise.get(f"r{item.row}c{item.column}", item.text)) for item in read if item.box]


def changed(row: int, column: int, text: str) -> list[list[str]]:
    rows = [list(each) for each in INCOME]
    rows[row][column] = text
    return rows


def marks(read: Sequence[LineItem], again: Sequence[PositionedWord]) -> dict[tuple[int, int], OcrMark]:
    marked = with_marks(read, {1: again})
    return {(item.row, item.column): item.ocr for item in marked if item.ocr is not None and is_doubted(item.ocr)}


def test_figures_that_both_readings_print_stand() -> None:
    read = items(INCOME)
    assert not marks(read, words(read))
    assert {item.ocr for item in with_marks(read, {1: words(read)})} == {"stands"}


def test_figures_of_a_text_layer_have_no_mark() -> None:
    read = items(INCOME, page=0)
    assert with_marks(read, {1: ()}) == read


@pytest.mark.parametrize(
    ("row", "text", "reason"),
    [
        (0, "$14,000", "odd_print"),  # a 5 read as "$"
        (0, "514.000", "odd_print"),  # a comma read as a point
        (1, "2888,000", "odd_print"),  # a digit too many
        (0, "2514000", "odd_print"),  # without commas, unlike the rest of the page
        (5, "$117", "odd_print"),  # a lost point
    ],
)
def test_a_figure_printed_unlike_those_around_it_is_doubted(row: int, text: str, reason: OcrMark) -> None:
    read = items(changed(row, 1, text))
    assert marks(read, words(read))[row, 1] == reason


def test_a_column_that_does_not_add_up_as_the_others_is_doubted() -> None:
    read = items(changed(0, 3, "336,000"))  # both readings take the 8 for a 3
    assert marks(read, words(read)) == {(0, 3): "breaks_sum", (1, 3): "breaks_sum"}  # gross profit adds up below


def test_a_second_reading_that_differs_raises_a_doubt_which_a_sum_settles() -> None:
    read = items(INCOME)
    assert marks(read, words(read, r5c2="$3.80", r0c1="574,000")) == {(5, 2): "differs"}


def test_of_a_sum_that_breaks_only_the_figure_that_was_read_twice_is_doubted() -> None:
    read = items(changed(0, 3, "336,000"))
    assert marks(read, words(read, r0c3="386,000")) == {(0, 3): "differs"}


def test_sums_of_figures_whose_commas_are_points_settle_nothing() -> None:
    debt = [("Equity", "6.454", "6,121"), ("Debt", "9.333", "8,639"), ("Total", "15.787", "14,760")]
    read = items(debt)
    assert marks(read, words(read)) == dict.fromkeys([(0, 1), (1, 1), (2, 1)], "odd_print")


def test_a_repeat_settles_or_raises_a_doubt() -> None:
    read = items([("Depreciation", "41,921", "34,433", "25,180")])
    again = words(read, r0c1="41,927")
    elsewhere = items([("Depreciation", "41,921", "34,438", "25,180")], page=5)
    assert marks([*read, *elsewhere], again) == {(0, 2): "unlike_repeat"}


def test_rounded_totals_add_up() -> None:
    read = items([("Products", "1,000", "2,000"), ("Services", "2,000", "3,001"), ("Total", "3,001", "5,000")])
    assert not marks(read, words(read))


def test_figures_of_sentences_are_compared_without_their_signs() -> None:
    first = [(0, 0, 30, 10, "rose"), (40, 0, 80, 10, "$513,983"), (90, 0, 120, 10, "(4.5%).")]
    second = [(0, 0, 30, 10, "r0se"), (40, 0, 80, 10, "$518,983"), (90, 0, 120, 10, "(4.5%)")]
    doubts = differing_figures(first, second)
    assert doubts == ("$513,983",)
    assert [mark_of(text, doubts) for text in ("513,983 million", "4.5%")] == ["differs", "stands"]
    assert mark_of("513,983", None) is None


def test_a_drawn_statement_is_read_with_its_misprint_doubted() -> None:
    tessdata = find_tessdata()
    if tessdata is None:
        pytest.skip("Tesseract's data is not installed")
    drawn = pymupdf.open()
    misprinted = [(label, "$29" if label == "Net income" else new, old) for label, new, old in STATEMENT]
    for lines, size in (([(line,) for line in COVER.splitlines()], 12), (misprinted, 10)):
        page = pymupdf.open().new_page()
        for row, cells in enumerate(lines):
            for x, cell in zip((72, 350, 450), cells, strict=False):
                page.insert_text((x, 80 + 20 * row), cell, fontsize=size)
        target = drawn.new_page(width=page.rect.width, height=page.rect.height)
        target.insert_image(target.rect, pixmap=page.get_pixmap(dpi=150))
    parsed = parse_filing(drawn.tobytes(), "a.pdf", FilingSettings(), Ocr(tessdata))
    assert all(page.ocr_doubts is not None for page in parsed.pages)
    doubted = {(item.label, item.text) for item in parsed.line_items if is_doubted(item.ocr)}
    assert doubted == {("Net income", "$29")}
