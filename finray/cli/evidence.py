"""Rendered evidence at a terminal: its Markdown tables with aligned columns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from finray.core.passages import RenderedBlock

_CELL_END = re.compile(r"(?<!\\)((?:\\\\)*)\|")
_ESCAPE = re.compile(r"\\([\\|`<])")
_BOLD = re.compile(r"\*\*(.+?)\*\*")
_RULE = re.compile(r"\|[-:|]+\|")
_MIN_LABEL = 18
_MAX_FIGURE = 16
"""Characters of a label, and of a figure, that stay on one line."""


def shown_block(block: RenderedBlock) -> Iterator[RenderableType]:
    """The block's text, with the figures of its tables aligned at the right."""
    for is_table, lines in groupby(block.text.split("\n"), key=lambda line: line.startswith("|")):
        if is_table:
            yield Padding(_table([cells(line) for line in lines if not _RULE.fullmatch(line)]), (0, 0, 0, 2))
        else:
            yield from (Padding(_line(line), (0, 0, 0, 2)) for line in lines)


def cells(line: str) -> list[str]:
    """The texts of the cells of a row of a Markdown table."""
    parts = _CELL_END.sub(lambda match: f"{match[1]}\n", line[1:]).split("\n")
    return [_plain(part) for part in parts[:-1]]


def _table(rows: Sequence[Sequence[str]]) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), header_style="dim", show_edge=False)
    heads, *body = rows or ((),)
    for number in range(max(map(len, rows), default=0)):
        head = Text(heads[number] if number < len(heads) else "")
        if number:
            width = max((len(row[number]) for row in body if number < len(row)), default=0)
            word = max(map(len, head.plain.split()), default=0)
            most = max(width, min(word, _MAX_FIGURE))  # a long head wraps, so that labels have the room
            table.add_column(head, justify="right", min_width=min(width, _MAX_FIGURE), max_width=most, overflow="fold")
        else:
            table.add_column(head, min_width=_MIN_LABEL, overflow="fold")
    for row in body:
        table.add_row(*(Text(cell, style="" if any(row[1:]) else "bold") for cell in row))
    return table


def _line(line: str) -> Text:
    text = Text()
    for number, part in enumerate(_BOLD.split(line)):
        text.append(_plain(part), style="bold" if number % 2 else "")
    return text


def _plain(text: str) -> str:
    return _ESCAPE.sub(r"\1", text)
