"""Blocks to pages: word wrap with the metrics of the printed fonts, and page breaks that keep tables whole."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

import pymupdf

from finray.lab.sample.blocks import Block, Break, Para, ParaStyle, Placed, Row, Sheet, Table, WordTable

Font = Literal["tiro", "tibo", "tiit"]
PAGE_WIDTH, PAGE_HEIGHT = 612.0, 792.0
LEFT, TOP, BOTTOM = 54.0, 66.0, 60.0
TEXT_WIDTH = PAGE_WIDTH - 2 * LEFT
TEXT_HEIGHT = PAGE_HEIGHT - TOP - BOTTOM
LEADING = 1.22
INDENT = 10.0
CELL_PADDING = 4.0


@dataclass(frozen=True, slots=True)
class Look:
    """Print style of a paragraph; lengths in points."""

    font: Font
    size: float
    align: Literal["left", "center"] = "left"
    indent: float = 0.0
    before: float = 0.0
    after: float = 6.0


LOOKS: dict[ParaStyle, Look] = {
    "title": Look("tibo", 14, "center", after=4),
    "center": Look("tiro", 9.5, "center", after=3),
    "center_bold": Look("tibo", 10, "center", after=3),
    "heading": Look("tibo", 10, before=6, after=5),
    "subheading": Look("tiit", 10, before=2, after=4),
    "body": Look("tiro", 10),
    "small": Look("tiro", 8, after=4),
    "small_center": Look("tiro", 8, "center", after=2),
    "bullet": Look("tiro", 10, indent=16, after=4),
    "italic": Look("tiit", 9, "center", before=4),
}
_KEEP_WITH_NEXT = {"heading": 70.0, "subheading": 50.0}


@cache
def _advances(font: Font) -> tuple[float, ...]:
    face = pymupdf.Font(font)  # type: ignore[no-untyped-call]
    return tuple(face.glyph_advance(code) for code in range(0x2200))  # type: ignore[no-untyped-call]


def text_width(text: str, font: Font, size: float) -> float:
    """Width in points of ``text`` (characters of the Windows-1252 set)."""
    advances = _advances(font)
    return size * sum(advances[ord(character)] for character in text)


def wrap(text: str, font: Font, size: float, width: float) -> tuple[str, ...]:
    """Greedy lines no wider than ``width``; keeps newlines in ``text``."""
    space = text_width(" ", font, size)
    lines: list[str] = []
    for part in text.split("\n"):
        words: list[str] = []
        used = 0.0
        for word in part.split():
            needed = text_width(word, font, size)
            if words and used + space + needed > width:
                lines.append(" ".join(words))
                words, used = [], 0.0
            used += needed + (space if words else 0)
            words.append(word)
        lines.append(" ".join(words))
    return tuple(lines)


def label_lines(table: Table, row: Row) -> tuple[str, ...]:
    """The label of a row, wrapped to the space left of the numbers."""
    width = TEXT_WIDTH - table.columns * table.column_width - row.indent * INDENT - CELL_PADDING
    return wrap(row.label, "tibo" if row.bold else "tiro", table.size, width)


def word_cells(table: WordTable, row: Sequence[str], bold: bool) -> tuple[tuple[str, ...], ...]:
    """The cells of a row, each wrapped to its column."""
    return tuple(
        wrap(cell, "tibo" if bold else "tiro", table.size, TEXT_WIDTH * share - CELL_PADDING)
        for cell, share in zip(row, table.widths, strict=True)
    )


def head_lines(table: Table) -> list[int]:
    return [max(text.count("\n") + 1 for text, _ in row) for row in table.head]


def height(placed: Placed) -> float:
    """Height in points of a placed block, including its spacing."""
    block = placed.block
    if isinstance(block, Para):
        look = LOOKS[block.style]
        return look.before + len(placed.lines) * look.size * LEADING + look.after
    leading = block.size * LEADING + 1.5
    if isinstance(block, Table):
        lines = sum(head_lines(block)) + sum(len(label_lines(block, row)) for row in block.rows)
        return lines * leading + 14
    lines = sum(
        max(len(cell) for cell in word_cells(block, row, block.bold_head and index == 0))
        for index, row in enumerate(block.rows)
    )
    return lines * leading + 8


def paginate(blocks: Iterable[Block]) -> tuple[Sheet, ...]:
    """The pages in order. Tables and keyed paragraphs stay whole; other paragraphs may continue on the next page."""
    sheets: list[list[Placed]] = [[]]
    room = TEXT_HEIGHT

    def turn() -> None:
        nonlocal room
        if sheets[-1]:
            sheets.append([])
        room = TEXT_HEIGHT

    for block in blocks:
        if isinstance(block, Break):
            turn()
            continue
        placed = place(block)
        if isinstance(block, Para) and room < _KEEP_WITH_NEXT.get(block.style, 0.0):
            turn()
        if isinstance(block, Para) and block.key is None and block.style in ("body", "small"):
            look = LOOKS[block.style]
            fitting = int((room - look.after) // (look.size * LEADING))
            if 2 <= fitting < len(placed.lines) - 1:
                sheets[-1].append(replace(placed, lines=placed.lines[:fitting]))
                placed = replace(placed, lines=placed.lines[fitting:])
                turn()
        needed = height(placed)
        if needed > room:
            turn()
        sheets[-1].append(placed)
        room -= needed
    return tuple(tuple(sheet) for sheet in sheets if sheet)


def number_contents(sheets: Sequence[Sheet], first_numbered: int) -> tuple[Sheet, ...]:
    """The pages with printed page numbers in the last column of contents and index tables.

    A row is located by its Item number in the first cell or, without one, by the title in the second-to-last cell. The
    first page that prints it as a heading counts.
    """
    starts: dict[str, int] = {}
    for page, sheet in enumerate(sheets):
        for placed in sheet:
            block = placed.block
            if isinstance(block, Para) and block.style in ("heading", "center_bold"):
                for name in (block.text.split("  ")[0], block.text):
                    starts.setdefault(name.casefold(), page - first_numbered + 1)

    def numbered(placed: Placed) -> Placed:
        block = placed.block
        if not isinstance(block, WordTable) or not block.paged:
            return placed
        found = (starts.get(row[0].casefold(), starts.get(row[-2].casefold(), "")) for row in block.rows)
        rows = tuple((*row[:-1], str(page)) for row, page in zip(block.rows, found, strict=True))
        return replace(placed, block=replace(block, rows=rows))

    return tuple(tuple(numbered(placed) for placed in sheet) for sheet in sheets)


def place(block: Para | Table | WordTable) -> Placed:
    if not isinstance(block, Para):
        return Placed(block)
    look = LOOKS[block.style]
    return Placed(block, wrap(block.text, look.font, look.size, TEXT_WIDTH - look.indent))
