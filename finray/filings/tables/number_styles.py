"""Numbers as Europe prints them ("120 450", "120.450", "12,5") and unusual negatives ("[45]", "45-"), rewritten as in
the United States.

One cell does not show its style: "2.101" may be a rate. So the style is that of the whole table.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from finray.core.vocabulary import SCALE
from finray.filings.tables.cells import MAX_CELL, Printed, is_year
from finray.filings.tables.scales import is_per_share

_ODD = re.compile(
    r"\d(?:[ \xa0\u2009\u202f.]\d{3}(?!\d)|,\d{1,2}(?!\d)|['’]\d{3}[,.]|[-–—−]\s{0,2}$)|\[\$?\d", re.MULTILINE
)
"""Something that a number in the style of the United States does not have; ".101" may be one."""
_CORE = re.compile(
    r"(?P<before>[(\[\s$€£¥–—−-]{0,4}(?:[A-Z]{2,3}\s?)?[(\[\s$€£¥–—−-]{0,3})"
    r"(?P<digits>\d{1,15}(?:[.,'’\s]\d{1,12}){0,6})(?P<after>\s?%?[)\]\s%–—−-]{0,3}(?:\s?\(\w{1,2}\)|[*†‡§]){0,3})"
)
_US = re.compile(r"\d{1,3}(?:,\d{3}){1,5}(?:\.\d{1,12})?")
_APOSTROPHES = re.compile(r"\d{1,3}(?:['’]\d{3}){1,5}(?:[.,]\d{1,2})?")
_SPACES = re.compile(r"[1-9]\d{0,2}(?:\s\d{3}){1,5}(?:[.,]\d{1,2})?")
_DOTS = re.compile(r"[1-9]\d{0,2}(?:\.\d{3}){1,5}(?:,\d{1,2})?")
_COMMA_DECIMALS = re.compile(r"\d{1,12},\d{1,2}")
_POINT_DECIMALS = re.compile(r"\d{1,12}\.\d{1,12}")
_INTEGER = re.compile(r"\d{1,15}")
_ENDS = re.compile(r"[,.]\d{1,2}$")
_SEPARATORS = re.compile(r"[.,'’\s]")
_SCALED = re.compile(rf"\b{SCALE}s?\b|\b000\b", re.IGNORECASE)
_BRACKETED = re.compile(r"\[[$€£]?\s?\d{1,3}(?:,\d{3}){0,5}(?:\.\d{1,2})?\]?")
_MINUS_BEHIND = re.compile(r"[$€£]?\s?\d{1,3}(?:,\d{3}){0,5}(?:\.\d{1,2})?[-–—−]")
MIN_PLAIN = 4
"""Fewer figures such as "120.450" do not show that the point parts thousands, unless something else does."""

Rows = list[list[Printed]]


@dataclass(slots=True)
class _Seen:
    """How many cells print their numbers in each style."""

    us: int = 0
    spaces: int = 0
    dots: int = 0
    thousands_twice: int = 0
    """Numbers such as "1.234.567" and "1.234,5", which are certain."""
    hundreds: int = 0
    """Numbers such as "120.450", which are hardly rates."""
    comma_decimals: int = 0
    point_decimals: int = 0
    """Those that are not per share."""
    long: int = 0
    """Integers of four digits or more that are not years."""
    apostrophes: int = 0
    columns: set[float] = field(default_factory=set)
    """Right ends of the cells with decimals behind a comma."""


def in_us_style(rows: Rows, caption: str = "") -> Rows:
    """``rows`` with the numbers of tables in other styles rewritten: "120 450" is "120,450", "[45]" is "(45)".
    ``caption`` is the text above the table."""
    odd = "\n".join([cell.text for row in rows for cell in row if len(cell.text) <= MAX_CELL])
    if _ODD.search(odd) is None:
        return rows
    seen = _seen(rows)
    separators = _separators(seen, lambda: _SCALED.search(f"{caption}\n{odd}") is not None)
    grouped = [cell.text.strip() for cell in _cells(rows) if "," in cell.text]
    brackets = any(map(_BRACKETED.fullmatch, grouped))
    minus = any(map(_MINUS_BEHIND.fullmatch, grouped))
    if not (separators or brackets or minus):
        return rows
    return [[_rewritten(cell, separators, brackets=brackets, minus=minus) for cell in row] for row in rows]


def _cells(rows: Rows) -> Iterator[Printed]:
    return (cell for row in rows for cell in row if len(cell.text) <= MAX_CELL)


def _seen(rows: Rows) -> _Seen:
    seen = _Seen()
    for row in rows:
        label = row[0].text if row else ""
        for cell in row:
            match = _CORE.fullmatch(cell.text.strip()) if len(cell.text) <= MAX_CELL else None
            if match is None or is_year(cell.text):
                continue
            digits = match["digits"]
            if _US.fullmatch(digits):
                seen.us += 1
            elif _APOSTROPHES.fullmatch(digits):
                seen.apostrophes += 1
            elif _SPACES.fullmatch(digits):
                seen.spaces += 1
            elif _DOTS.fullmatch(digits):
                seen.dots += 1
                seen.thousands_twice += digits.count(".") > 1 or "," in digits
                seen.hundreds += digits.index(".") == 3
            elif _COMMA_DECIMALS.fullmatch(digits):
                seen.comma_decimals += 1
                seen.columns.add(cell.x1)
            elif _POINT_DECIMALS.fullmatch(digits):
                seen.point_decimals += not is_per_share(label)
            elif _INTEGER.fullmatch(digits):
                seen.long += len(digits) > 3
    return seen


def _separators(seen: _Seen, scaled: Callable[[], bool]) -> str:
    """The characters that part thousands; "," if decimals are behind a comma and nothing parts thousands, "" in the
    style of the United States."""
    if seen.us:
        return ""
    if seen.apostrophes:
        return "'"
    if seen.spaces > 1 and not seen.long:
        return " "
    if seen.dots and not seen.long and not seen.point_decimals:
        if seen.thousands_twice or (seen.comma_decimals and seen.dots > 1):
            return "."
        if seen.dots >= MIN_PLAIN and seen.hundreds and scaled():
            return "."
    if not seen.dots and not seen.point_decimals and seen.comma_decimals > 2 and len(seen.columns) > 1:
        return ","
    return ""


def _rewritten(cell: Printed, separators: str, *, brackets: bool, minus: bool) -> Printed:
    text = cell.text.strip()
    if len(text) > MAX_CELL or not text or is_year(text):
        return cell
    if brackets and _BRACKETED.fullmatch(text):
        text = text.replace("[", "(").replace("]", ")")
    elif minus and _MINUS_BEHIND.fullmatch(text):
        text = f"({text[:-1]})"
    if separators and (match := _CORE.fullmatch(text)):
        text = f"{match['before']}{_number(match['digits'], separators)}{match['after']}"
    return cell if text == cell.text else cell._replace(text=text)


def _number(digits: str, separators: str) -> str:
    """``digits`` with thousands behind commas and decimals behind a point."""
    if separators == "." and _POINT_DECIMALS.fullmatch(digits) and not _DOTS.fullmatch(digits):
        return digits  # "2.10" per share, between thousands such as "120.450"
    end = _ENDS.search(digits)
    whole, decimals = (digits[: end.start()], digits[end.start() + 1 :]) if end else (digits, "")
    whole = _SEPARATORS.sub("", whole)
    grouped = f"{int(whole):,}" if len(whole) > 3 else whole
    return f"{grouped}.{decimals}" if decimals else grouped
