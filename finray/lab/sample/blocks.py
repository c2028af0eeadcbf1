"""The blocks of a filing before printing: paragraphs, tables of numbers, tables of words, page breaks.

Both renderers print the same blocks on the same pages, so a gold page is valid in PDF and in HTML.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Literal

ParaStyle = Literal[
    "title", "center", "center_bold", "heading", "subheading", "body", "small", "small_center", "bullet", "italic"
]
Unit = Literal["USD", "shares", "USD/share"]
Head = tuple[tuple[tuple[str, int], ...], ...]
"""Heading rows of a table: (text, columns spanned); a newline wraps the text."""


@dataclass(frozen=True, slots=True)
class Fact:
    """The XBRL fact behind a printed number. ``value`` is in printed units; the fact is ``value * 10**scale``.
    ``start`` is None for an instant. ``member`` is (axis, member) for a figure of one segment or component."""

    concept: str
    value: float
    unit: Unit
    scale: int
    start: dt.date | None
    end: dt.date
    member: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Tag:
    """An inline XBRL tag of a cover fact (dei), on the first occurrence of ``text`` in a paragraph."""

    text: str
    concept: str


@dataclass(frozen=True, slots=True)
class Para:
    text: str
    style: ParaStyle = "body"
    key: str | None = None
    tags: tuple[Tag, ...] = ()


@dataclass(frozen=True, slots=True)
class Cell:
    """A printed number. ``text`` starts with the parenthesis that ``suffix`` closes: EDGAR tables print them in
    different cells."""

    text: str
    prefix: str = ""
    suffix: str = ""
    fact: Fact | None = None

    @property
    def printed(self) -> str:
        return f"{self.text}{self.suffix}"


@dataclass(frozen=True, slots=True)
class Row:
    label: str
    cells: tuple[Cell | None, ...] = ()
    key: str | None = None
    indent: int = 0
    bold: bool = False
    rule: Literal["single", "double"] | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """Numbers in columns."""

    rows: tuple[Row, ...]
    head: Head
    columns: int
    key: str | None = None
    column_width: float = 74.0
    leaders: bool = False
    size: float = 8.5


@dataclass(frozen=True, slots=True)
class WordTable:
    """Words in columns; ``widths`` are shares of the page width. ``bold_head`` prints the first row bold; ``paged``
    fills the last column with the page number of each row's title."""

    rows: tuple[tuple[str, ...], ...]
    widths: tuple[float, ...]
    key: str | None = None
    bold_head: bool = False
    size: float = 9.0
    tags: tuple[Tag, ...] = ()
    paged: bool = False


@dataclass(frozen=True, slots=True)
class Break:
    """Start a new page."""


Block = Para | Table | WordTable | Break


@dataclass(frozen=True, slots=True)
class Placed:
    """A block, or a part of a paragraph, that fits on one page. ``lines`` are the wrapped lines of a paragraph, empty
    for tables."""

    block: Para | Table | WordTable
    lines: tuple[str, ...] = ()


Sheet = tuple[Placed, ...]


def number(value: int, *, prefix: str = "", fact: Fact | None = None) -> Cell:
    """``1,234``, ``(1,234)`` or a dash for zero, as statements print money."""
    if value == 0:
        return Cell("—", prefix, "", fact)
    return Cell(f"({-value:,}", prefix, ")", fact) if value < 0 else Cell(f"{value:,}", prefix, "", fact)


def cents(value: int, *, prefix: str = "", fact: Fact | None = None) -> Cell:
    """A per-share amount given in cents."""
    text = f"{abs(value) / 100:.2f}"
    return Cell(f"({text}", prefix, ")", fact) if value < 0 else Cell(text, prefix, "", fact)


def percent(value: float) -> Cell:
    text = f"{abs(value):.1f}"
    return Cell(f"({text}", "", ")%") if value < 0 else Cell(text, "", "%")
