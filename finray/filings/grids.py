"""A printed table as rows of cells: the common ground between PDF words and HTML tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Tag:
    """What an inline XBRL tag says of its number: the ids of its context and unit, and the power of ten that it is
    printed in."""

    context: str
    unit: str
    scale: int


@dataclass(frozen=True, slots=True)
class Cell:
    """``column`` is the cell's column in the table's common grid, ``span`` how many columns it covers. ``box`` is
    (x0, y0, x1, y1) in PDF points, None for HTML. ``indent`` grows with the label's left margin.
    ``concept`` comes from an inline XBRL tag where the cell has one."""

    text: str
    column: int
    span: int = 1
    box: Box | None = None
    indent: float = 0.0
    concept: str | None = None
    tag: Tag | None = None


@dataclass(frozen=True, slots=True)
class Grid:
    """One table on page ``page`` (0-based). Empty cells are left out of ``rows``; wrapped labels are one cell."""

    page: int
    rows: tuple[tuple[Cell, ...], ...]
    caption: str = ""
    """The last lines of text above the table: what it shows, of which period, in which scale."""


MAX_CELL_TEXT = 4_000
"""Characters of a cell that are kept: a longer one is prose, and no label or heading."""
CAPTION_LINES = 2
MAX_CAPTION = 300


def caption_of(lines: Sequence[str]) -> str:
    """The caption that the text ``lines`` above a table make: the last of them, at most 300 characters."""
    return " ".join(" ".join(lines[-CAPTION_LINES:]).split())[-MAX_CAPTION:]
