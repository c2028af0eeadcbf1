"""A printed table as rows of cells, whether from PDF words or an HTML table."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

Box = tuple[float, float, float, float]
MAX_CELL_TEXT = 4_000
"""Characters kept of a cell; a longer one is prose, not a label or heading."""
MAX_LABEL = 400
"""Characters kept of a row's label."""
CAPTION_LINES = 2
MAX_CAPTION = 300


@dataclass(frozen=True, slots=True)
class Tag:
    """The inline XBRL tag of a number: ids of its context and unit, and the power of ten in which it is printed.

    ``nil`` says that the tag declares its fact to have no value (``xsi:nil``); what is printed is then no figure.
    ``value`` is the tag's own, scaled and signed, None if it has none.
    """

    context: str
    unit: str
    scale: int
    nil: bool = False
    value: float | None = None


class Cell(NamedTuple):  # a tuple, since a long filing has 100,000 of them
    """A cell of a grid.

    ``column`` is the first column that it covers, ``span`` the number of columns. ``box`` is (x0, y0, x1, y1) in PDF
    points, None for HTML. ``indent`` grows with the label's left margin. ``concept`` comes from an inline XBRL tag.
    """

    text: str
    column: int
    span: int = 1
    box: Box | None = None
    indent: float = 0.0
    concept: str | None = None
    tag: Tag | None = None


@dataclass(frozen=True, slots=True)
class Grid:
    """One table on ``page`` (0-based). ``rows`` have no empty cells; a wrapped label is one cell."""

    page: int
    rows: tuple[tuple[Cell, ...], ...]
    caption: str = ""
    """The last lines of text above the table: what it shows, of which period, in which scale."""


def caption_of(lines: Sequence[str]) -> str:
    """The caption of a table: the last of the ``lines`` of text above it, at most 300 characters."""
    return " ".join(" ".join(lines[-CAPTION_LINES:]).split())[-MAX_CAPTION:]
