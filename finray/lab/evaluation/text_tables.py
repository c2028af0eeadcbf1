"""Tables for a terminal of any width: columns that do not fit continue below, with the first column repeated."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rich import box
from rich.cells import cell_len, chop_cells
from rich.console import Console, ConsoleOptions
from rich.table import Table
from rich.text import Text

NOTHING: Final = "–"
"""A cell without a value."""
_WHOLE: Final = 24
"""Words of a head up to this width are not broken; longer ones (run names) are broken between their parts."""
_FRAME: Final = 3  # padding on both sides of a column, and the line after it
_PIECES: Final = re.compile(r"[^_\-/.,:@]+[_\-/.,:@]*|[_\-/.,:@]+")


@dataclass(frozen=True)
class TextTable:
    """``rows`` under ``heads``. The first column labels the rows and is repeated in each part of a wide table.

    Heads are broken between words; a name longer than a column is broken between its parts (``_ - / . , : @``).
    """

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Table]:
        columns = list(zip(self.heads, *self.rows, strict=True))
        label = min(max(map(cell_len, columns[0])), options.max_width // 2)
        room = options.max_width - 1 - label - _FRAME
        widths = [_width(column, room - _FRAME) for column in columns[1:]]
        title = self.title
        for part in _parts(widths, room):
            table = Table(title=Text(title), title_justify="left", title_style="bold", box=box.SIMPLE)
            shown = [(columns[0], label), *((columns[1 + at], widths[at]) for at in part)]
            for at, (column, width) in enumerate(shown):
                head = Text(wrapped(column[0], width))
                table.add_column(head, justify="right" if at else "left", width=width)
            for row in zip(*(column[1:] for column, _ in shown), strict=True):
                table.add_row(*(Text(wrapped(cell, width)) for cell, (_, width) in zip(row, shown, strict=True)))
            yield table
            title = ""


def wrapped(text: str, width: int) -> str:
    """``text`` in lines of at most ``width`` cells; longer words are broken between their parts."""
    lines = [""]
    for word in text.split():
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if cell_len(joined) <= width:
            lines[-1] = joined
            continue
        pieces = [word] if cell_len(word) <= width else _PIECES.findall(word)
        if lines[-1]:
            lines.append("")
        for piece in (line for each in pieces for line in chop_cells(each, width)):
            if cell_len(lines[-1] + piece) <= width:
                lines[-1] += piece
            else:
                lines.append(piece)
    return "\n".join(lines)


def _width(column: Sequence[str], limit: int) -> int:
    """The width of a column, at most ``limit``, that breaks no cell and no word of the head (unless overlong)."""
    head, *cells = column
    words = [word if cell_len(word) <= _WHOLE else piece for word in head.split() for piece in _PIECES.findall(word)]
    return max(1, min(limit, max(map(cell_len, [*words, *cells]), default=1)))


def _parts(widths: Sequence[int], room: int) -> list[list[int]]:
    """The columns of each part: as few parts as possible within ``room``, about equally wide."""
    fewest = _filled(widths, room)
    narrowest = max((width + _FRAME for width in widths), default=0)
    narrower = (_filled(widths, limit) for limit in range(narrowest, room))
    return next((parts for parts in narrower if len(parts) == len(fewest)), fewest)


def _filled(widths: Sequence[int], room: int) -> list[list[int]]:
    parts: list[list[int]] = [[]]
    used = 0
    for at, width in enumerate(widths):
        if parts[-1] and used + width + _FRAME > room:
            parts.append([])
            used = 0
        parts[-1].append(at)
        used += width + _FRAME
    return parts
