"""An EDGAR HTML <table> as a Grid: spans resolved, filler cells merged, inline XBRL tags kept.

EDGAR tables are typeset, not marked up: "$", "(" and ")" have cells of their own, empty cells make the gaps, and
headings span these too. Positions are table columns after colspan and rowspan.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from lxml import etree

from finray.filings.cover.facts import MAX_FACT
from finray.filings.html.inline_xbrl import TAGGED_NUMBER, is_nil, read_power, tagged_value
from finray.filings.html.raised import MARKED
from finray.filings.html.tree import Element
from finray.filings.tables.cells import Printed, arrange, is_year, merge_fillers, number_columns, parse_number
from finray.filings.tables.grids import MAX_CELL_TEXT, Grid, Tag
from finray.filings.tables.marks import without_raised
from finray.filings.tables.note_columns import without_references
from finray.filings.tables.number_styles import in_us_style

_HEADS_AMOUNTS = re.compile(r"[A-Z]{0,3}[$€£¥%#]|[A-Z]{3}")
"""A heading of a column that names a currency or says "%", and no part of a label."""
MAX_SPAN = 200
MAX_COLUMNS = 2_000
_BREAKING = frozenset(("br", "p", "div", "tr", "li"))
_LENGTH = re.compile(r"\s{0,8}(\d{1,6}(?:\.\d{0,6})?|\.\d{1,6})\s{0,8}(pt|px|em|in)?", re.IGNORECASE)
_MAX_STYLE = 4_000
"""Characters read of a style attribute."""
_UNIT_POINTS = {"pt": 1.0, "px": 0.75, "em": 10.0, "in": 72.0, "": 1.0}


def table_grid(table: Element, page: int, caption: str = "") -> Grid | None:
    """The grid of ``table`` on page ``page``; None if it has no numeric column (layout, prose, contents).

    Column 0 holds labels; columns 1, 2, ... the numbers, left to right. ``Cell.concept`` is the ``name`` of the first
    ``ix:nonFraction`` element in the cell, if there is one.
    """
    rows = [merge_fillers(row) for row in _expanded_rows(table)]
    if not any(parse_number(cell.text) for row in rows for cell in row):
        return None
    rows = in_us_style([_join_label(row) for row in without_references(rows)], caption)
    return arrange(page, rows, number_columns(rows), caption)


def _expanded_rows(table: Element) -> Iterator[list[Printed]]:
    # The last row that a cell from above covers in each column, and where that cell ends. To count rows down instead
    # would take millions of steps for a few large spans.
    covered_to = [-1] * (MAX_COLUMNS + 1)
    goes_on_at = [0] * (MAX_COLUMNS + 1)
    for number, tr in enumerate(_own_rows(table)):
        position, cells = 0, []
        for td in tr.iterchildren("td", "th"):
            while covered_to[position] >= number and position < MAX_COLUMNS:
                position = goes_on_at[position]
            columns, down = _span(td, "colspan"), _span(td, "rowspan")
            end = position + columns
            if end > MAX_COLUMNS:
                break
            text = without_raised(" ".join(_text(td).split())[:MAX_CELL_TEXT])
            concept, tag = _tag(td)
            if not text and tag is not None and tag.nil:
                text = "nil"  # an empty cell that is declared so
            if text:
                cells.append(Printed(text, position, end, None, _indent(td), concept, tag))
            if down > 1:
                covered_to[position:end] = [number + down - 1] * columns
                goes_on_at[position:end] = [end] * columns
            position = end
        yield cells


def _join_label(row: list[Printed]) -> list[Printed]:
    """``row`` with a label that is split over two cells joined: "(1)" or a bullet before the words."""
    if len(row) < 2 or (parse_number(row[0].text) and not is_year(row[0].text)):
        return row
    first, second = row[0], row[1]
    if (
        first.x1 <= second.x0 <= first.x1 + 1
        and len(first.text) <= 4
        and not is_year(first.text)
        and _HEADS_AMOUNTS.fullmatch(first.text) is None
        and not parse_number(second.text)
    ):
        return [first.joined(second, " "), *row[2:]]
    return row


def _own_rows(table: Element) -> Iterator[Element]:
    """The rows of ``table``, without those of tables in its cells."""
    for child in table.iterchildren("tr", "thead", "tbody", "tfoot"):
        if child.tag == "tr":
            yield child
        else:
            yield from child.iterchildren("tr")


def _span(td: Element, attribute: str) -> int:
    value = td.get(attribute)
    return 1 if value is None else _read_span(value)


@lru_cache(maxsize=1024)
def _read_span(value: str) -> int:
    value = value.strip()
    return min(max(int(value), 1), MAX_SPAN) if value.isascii() and value.isdigit() and len(value) < 9 else 1


def _text(element: Element) -> str:
    """All text inside ``element`` except for comments and footnote marks, with a space at each line break and block."""
    if not len(element):
        return element.text or ""
    parts: list[str] = []
    context = etree.iterwalk(element, events=("start", "end", "comment"))
    for event, node in context:
        if node.tag in _BREAKING:
            parts.append(" ")
        if event == "start":
            if node.get(MARKED) is not None:
                context.skip_subtree()
            else:
                parts.append(node.text or "")
        elif node is not element:
            parts.append(node.tail or "")
    return "".join(parts)


def _indent(td: Element) -> float:
    """The approximate left margin of the cell's content in points."""
    total = 0.0
    node: Element | None = td
    for _ in range(3):
        if node is not None:
            total += _left_margin((node.get("style") or "")[:_MAX_STYLE])
            node = node[0] if len(node) else None
    return total


@lru_cache(maxsize=1024)  # a filing repeats its styles
def _left_margin(style: str) -> float:
    """The left margin in points. Of the four values of ``padding``, the fourth is the left one."""
    shorthand, style = "", style.lower()
    for declaration in style.split(";") if "padding" in style or "margin-left" in style else ():
        name, _, value = declaration.partition(":")
        if name.strip() in {"padding-left", "margin-left"} and (length := _LENGTH.match(value)):
            return _points(length)
        if name.strip() == "padding" and len(sides := value.split()) >= 4:
            shorthand = shorthand or sides[3]
    length = _LENGTH.match(shorthand)
    return _points(length) if length else 0.0


def _points(length: re.Match[str]) -> float:
    return min(float(length[1]), 1000.0) * _UNIT_POINTS[length[2] or ""]


def _tag(td: Element) -> tuple[str | None, Tag | None]:
    """The concept and tag of the first ``ix:nonFraction`` in the cell."""
    for node in td.iter(TAGGED_NUMBER) if len(td) else ():
        if name := node.get("name"):
            scale = read_power(node.get("scale")) or 0
            context, unit = node.get("contextref") or "", node.get("unitref") or ""
            return name[:MAX_FACT], Tag(context, unit, scale, is_nil(node), tagged_value(node))
    return None, None
