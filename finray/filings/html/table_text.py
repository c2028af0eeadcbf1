"""An HTML table as text: a line for each row, cells joined by " | ", each number in one piece."""

import re

from finray.filings.html.tree import Element, one_line

_OPEN = re.compile(r"^[\s(]*[$€£¥][\s(]*$|^\($")
"""A cell with only the prefix of a number: a currency sign, an opening parenthesis."""
_CLOSE = re.compile(r"^\s*+(?:\)\s*+%?|%\s*+\)?|\)\s*+(?:pts|x))\s*+$", re.IGNORECASE)
"""A cell with only the suffix of a number: a closing parenthesis, a percent sign."""
_NUMBER = re.compile(r"[\d—–-]")
_CURRENCY_SPACE = re.compile(r"(?<=[$€£¥])\s+(?=[(\d.—–-])")
MAX_CELL = 400
"""Characters; nothing is joined to a longer cell."""
_BULLETS = frozenset("•●▪◦·–-—*o")


def table_lines(table: Element) -> list[str]:
    """A line for each row that has text; the whole text of a table without rows."""
    lines = [" | ".join(cells) for row in table.iter("tr") if (cells := row_cells(row))]
    if not lines and (text := one_line(table)):
        lines.append(text)
    return lines


def row_cells(row: Element) -> list[str]:
    """The texts of a row's non-empty cells, left to right. A currency sign, parenthesis or percent sign in a cell of
    its own is joined to its number: "$", "1,234" is "$1,234"; "(12", ")" is "(12)"."""
    cells: list[str] = []
    prefix = ""
    for cell in row.iterchildren("td", "th"):
        text = one_line(cell)
        if not text:
            continue
        if _OPEN.match(text):
            prefix += text.replace(" ", "")
        elif cells and not prefix and len(cells[-1]) <= MAX_CELL and _CLOSE.match(text) and _NUMBER.search(cells[-1]):
            cells[-1] += text
        elif len(cells) == 1 and not prefix and cells[0] in _BULLETS:
            cells[0] += " " + text
        else:
            cells.append(_CURRENCY_SPACE.sub("", prefix + text))
            prefix = ""
    if prefix:
        cells.append(prefix)
    return cells
