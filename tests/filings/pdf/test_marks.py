"""Raised marks, text drawn twice, turned lines and European numbers in PDFs."""

from __future__ import annotations

from collections.abc import Sequence

import pymupdf
import pytest

from finray.core.settings import FilingSettings
from finray.filings.pdf.grid import grids_of_words
from finray.filings.pdf.text import open_pdf, pdf_text

RIGHT = (400.0, 500.0)
ROWS = (
    ("", ("2024", "2023")),
    ("Revenues", ("120,450", "110,320")),
    ("Cost of revenues", ("(70,210)", "(65,110)")),
    ("Gross profit", ("50,240", "45,210")),
    ("Net income", ("21,000", "18,000")),
    ("Diluted earnings per share", ("2.10", "1.80")),
)
EXPECTED = [[label, *figures] if label else list(figures) for label, figures in ROWS]


def _draw(
    rows: Sequence[tuple[str, Sequence[str]]],
    *,
    mark: str = "",
    drawn: int = 1,
    aside: float = 0.25,
    turn: int = 0,
    rotation: int = 0,
    notes: Sequence[str] = (),
) -> tuple[str, list[list[str]]]:
    """The text of a page with a table of these rows and the cells of its table. ``mark`` is raised behind the labels
    and the first figures, all is ``drawn`` so often, and turned by ``turn`` degrees."""
    document = pymupdf.open()  # type: ignore[no-untyped-call]
    page = document.new_page(width=612, height=612)

    def put(x: float, y: float, text: str, size: float = 10.0) -> None:
        for copy in range(drawn):
            at = pymupdf.Point(x + copy * aside, y)  # type: ignore[no-untyped-call]
            turned = {0: at, 90: pymupdf.Point(at.y, 612 - at.x), 270: pymupdf.Point(612 - at.y, at.x)}[turn]  # type: ignore[no-untyped-call]
            page.insert_text(turned, text, fontsize=size, rotate=turn)

    for number, (label, figures) in enumerate(rows):
        y = 100 + 14 * number
        if label:
            put(72, y, label)
            if mark:
                put(72 + pymupdf.get_text_length(label, fontsize=10) + 0.3, y - 3.5, mark, 6)
        if notes and notes[number]:
            put(300, y, notes[number])
        for right, figure in zip(RIGHT, figures, strict=True):
            put(right - pymupdf.get_text_length(figure, fontsize=10), y, figure)
            if mark and label and right == RIGHT[0]:
                put(right + 0.3, y - 3.5, mark, 6)
    page.set_rotation(rotation)  # type: ignore[no-untyped-call]
    with open_pdf(document.tobytes(), FilingSettings()) as read:  # type: ignore[no-untyped-call]
        found = pdf_text(read, FilingSettings(), tabular=lambda _: True)
    grids = grids_of_words(found.printed[0], 0)
    return found.texts[0], [[cell.text for cell in row] for grid in grids for row in grid.rows]


@pytest.mark.parametrize("mark", ["1", "a", "(1)", "(1)(2)", "12", "1,2", "*"])
def test_raised_marks_are_neither_digits_nor_letters(mark: str) -> None:
    text, cells = _draw(ROWS, mark=mark)
    assert [[cell.rstrip("* ") for cell in row] for row in cells] == EXPECTED
    assert f"120,450{mark}" not in text or mark in {"(1)", "(1)(2)", "*"}


@pytest.mark.parametrize("aside", [0.1, 0.25, 0.5, 0.8])
def test_text_drawn_twice_counts_once(aside: float) -> None:
    text, cells = _draw(ROWS, drawn=2, aside=aside)
    assert cells == EXPECTED
    assert text.count("120,450") == 1 and text.count("Revenues") == 1


@pytest.mark.parametrize("turn", [90, 270])
@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_turned_lines_are_read_in_order(turn: int, rotation: int) -> None:
    assert _draw(ROWS, turn=turn, rotation=rotation)[1] == EXPECTED


@pytest.mark.parametrize("rotation", [90, 180, 270])
def test_turned_pages_are_read_in_order(rotation: int) -> None:
    turn = {90: 90, 180: 0, 270: 270}[rotation]
    assert _draw(ROWS, turn=turn, rotation=rotation, mark="1")[1] == EXPECTED


@pytest.mark.parametrize("negative", ["{}-", "[{}]", "({}", "-{}"])
def test_negatives(negative: str) -> None:
    rows = [
        (label, [negative.format(figure.strip("()")) if "(" in figure else figure for figure in figures])
        for label, figures in ROWS
    ]
    cells = _draw(rows)[1]
    assert [cell.strip("()-[]") for cell in cells[2]] == ["Cost of revenues", "70,210", "65,110"]
    assert all("(" in cell or cell.startswith(("-", "[")) for cell in cells[2][1:])


@pytest.mark.parametrize("separator", [" ", "\xa0", ".", "'"])
def test_thousands_of_europe(separator: str) -> None:
    rows = [(label, [figure.replace(",", separator) for figure in figures]) for label, figures in ROWS]
    cells = _draw([("(in thousands)", ("", "")), *rows])[1]
    assert [[cell.replace("'", ",") for cell in row] for row in cells[-6:]] == EXPECTED


@pytest.mark.parametrize("head", ["Note", "Notes", ""])
def test_references_to_notes_are_not_figures(head: str) -> None:
    cells = _draw(ROWS, notes=(head, "4", "7, 8" if head else "7", "9", "12(a)" if head else "12", ""))[1]
    assert cells == EXPECTED


def test_words_in_place_of_figures_do_not_shift_others() -> None:
    for word in ("nil", "n/a", "NM", "not meaningful", "-"):
        rows = [*ROWS[:2], ("Other income", (word, "320")), ("Interest", ("450", word)), *ROWS[3:]]
        cells = _draw(rows)[1]
        assert ["Other income", word, "320"] in cells and ["Interest", "450", word] in cells
