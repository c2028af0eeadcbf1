"""Pages to PDF: text placed by position with the standard fonts, as in printed EDGAR filings.

Writes content streams directly, which is several times faster than one library call per string and gives the same bytes
on every machine. PyMuPDF adds the fonts and writes the file, without a random document id.
"""

from __future__ import annotations

from collections.abc import Sequence

import pymupdf

from finray.lab.sample.blocks import Para, Placed, Sheet, Table, WordTable
from finray.lab.sample.layout import (
    BOTTOM,
    INDENT,
    LEADING,
    LEFT,
    LOOKS,
    PAGE_HEIGHT,
    PAGE_WIDTH,
    TEXT_WIDTH,
    TOP,
    Font,
    head_lines,
    height,
    label_lines,
    text_width,
    word_cells,
)

_FONTS: tuple[Font, ...] = ("tiro", "tibo", "tiit")
_NUMBER_RIGHT = 8.0
"""Room to the right of a number for a closing parenthesis or a percent sign, which hang outside the column of
digits."""


class _Canvas:
    """Operators of one page. ``y`` runs down from the top of the page."""

    def __init__(self) -> None:
        self.operators: list[bytes] = []

    def text(self, x: float, y: float, text: str, font: Font, size: float) -> None:
        raw = text.encode("cp1252").replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")
        place = f"BT /{font} {size:g} Tf {x:.2f} {PAGE_HEIGHT - y:.2f} Td (".encode()
        self.operators.append(place + raw + b") Tj ET")

    def aligned(self, x: float, y: float, text: str, font: Font, size: float, share: float) -> None:
        """Draw text so that ``share`` of its width is left of ``x``: 1 aligns right, 0.5 centers."""
        self.text(x - share * text_width(text, font, size), y, text, font, size)

    def line(self, x0: float, x1: float, y: float) -> None:
        self.operators.append(f"0.5 w {x0:.2f} {PAGE_HEIGHT - y:.2f} m {x1:.2f} {PAGE_HEIGHT - y:.2f} l S".encode())

    def shade(self, y: float, depth: float) -> None:
        self.operators.append(
            f"0.8 0.93 1 rg {LEFT:.2f} {PAGE_HEIGHT - y - depth:.2f} {TEXT_WIDTH:.2f} {depth:.2f} re f 0 g".encode()
        )

    def stream(self) -> bytes:
        return b"\n".join(self.operators)


def render_pdf(sheets: Sequence[Sheet], *, title: str, running_head: bool, first_numbered: int) -> bytes:
    """A PDF of the pages. ``first_numbered`` is the 0-based page with the printed number 1."""
    with pymupdf.open() as document:  # type: ignore[no-untyped-call]
        for index, sheet in enumerate(sheets):
            canvas = _Canvas()
            if running_head and index:
                canvas.aligned(PAGE_WIDTH / 2, 40, "Table of Contents", "tiro", 8, 0.5)
            if index >= first_numbered:
                canvas.aligned(
                    PAGE_WIDTH / 2, PAGE_HEIGHT - BOTTOM + 28, str(index - first_numbered + 1), "tiro", 9, 0.5
                )
            _draw_sheet(canvas, sheet)
            page = document.new_page(width=PAGE_WIDTH, height=PAGE_HEIGHT)
            for font in _FONTS:
                page.insert_font(fontname=font)
            xref = document.get_new_xref()
            document.update_object(xref, "<<>>")
            document.update_stream(xref, canvas.stream())
            page.set_contents(xref)
        document.set_metadata(
            {
                "title": title,
                "producer": "finray sample generator",
                "creationDate": "D:20240101000000Z",
                "modDate": "D:20240101000000Z",
            }
        )
        pdf: bytes = document.tobytes(deflate=True, no_new_id=True)
    return pdf


def _draw_sheet(canvas: _Canvas, sheet: Sheet) -> None:
    y = TOP
    for placed in sheet:
        block = placed.block
        if isinstance(block, Para):
            _draw_paragraph(canvas, placed, block, y)
        elif isinstance(block, Table):
            _draw_table(canvas, block, y)
        else:
            _draw_words(canvas, block, y)
        y += height(placed)


def _draw_paragraph(canvas: _Canvas, placed: Placed, block: Para, y: float) -> None:
    look = LOOKS[block.style]
    y += look.before
    for index, line in enumerate(placed.lines):
        y += look.size * LEADING
        if look.align == "center":
            canvas.aligned(PAGE_WIDTH / 2, y - 2, line, look.font, look.size, 0.5)
        else:
            canvas.text(LEFT + look.indent, y - 2, line, look.font, look.size)
            if block.style == "bullet" and index == 0:
                canvas.text(LEFT + 4, y - 2, "•", look.font, look.size)


def _draw_table(canvas: _Canvas, table: Table, y: float) -> None:
    leading = table.size * LEADING + 1.5
    right = LEFT + TEXT_WIDTH
    edges = [right - (table.columns - index) * table.column_width for index in range(table.columns + 1)]
    for row, lines in zip(table.head, head_lines(table), strict=True):
        column = 0
        for text, span in row:
            left, end = edges[column], edges[column + span]
            parts = text.split("\n") if text else []
            for offset, part in enumerate(parts):
                baseline = y + (lines - len(parts) + offset + 1) * leading - 3
                canvas.aligned((left + end) / 2 + 2, baseline, part, "tibo", table.size - 0.5, 0.5)
            if text:
                canvas.line(left + 6, end - 2, y + lines * leading)
            column += span
        y += lines * leading
    for index, table_row in enumerate(table.rows):
        labels = label_lines(table, table_row)
        depth = len(labels) * leading
        if index % 2 == 0:
            canvas.shade(y + 1, depth)
        font: Font = "tibo" if table_row.bold else "tiro"
        x = LEFT + table_row.indent * INDENT
        for offset, label in enumerate(labels):
            canvas.text(x, y + (offset + 1) * leading - 2.5, label, font, table.size)
        y += depth
        if table.leaders and table_row.cells and any(table_row.cells):
            start = x + text_width(labels[-1], font, table.size)
            dots = int((edges[0] - start) / text_width(".", font, table.size)) - 1
            canvas.text(start, y - 2.5, "." * max(0, dots), font, table.size)
        for column, cell in enumerate(table_row.cells):
            if cell is None:
                continue
            digits_right = edges[column + 1] - _NUMBER_RIGHT
            if cell.prefix:
                canvas.text(edges[column] + 8, y - 2.5, cell.prefix, font, table.size)
            width = text_width(cell.text, font, table.size)
            canvas.text(digits_right - width, y - 2.5, cell.printed, font, table.size)
            if table_row.rule:
                canvas.line(edges[column] + 6, edges[column + 1] - 2, y - leading + 1)
            if table_row.rule == "double":
                canvas.line(edges[column] + 6, edges[column + 1] - 2, y)
                canvas.line(edges[column] + 6, edges[column + 1] - 2, y + 1.5)


def _draw_words(canvas: _Canvas, table: WordTable, y: float) -> None:
    leading = table.size * LEADING + 1.5
    for index, row in enumerate(table.rows):
        bold = table.bold_head and index == 0
        cells = word_cells(table, row, bold)
        x = LEFT
        for lines, share in zip(cells, table.widths, strict=True):
            for offset, line in enumerate(lines):
                canvas.text(x, y + (offset + 1) * leading - 3, line, "tibo" if bold else "tiro", table.size)
            x += TEXT_WIDTH * share
        y += max(len(lines) for lines in cells) * leading
        if bold:
            canvas.line(LEFT, LEFT + TEXT_WIDTH, y)
