"""A row of a table split into its label, numbers and other texts."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from finray.core.vocabulary import MONTH
from finray.filings.tables.cells import Number, figures_in, is_term, is_year, parse_number
from finray.filings.tables.grids import MAX_LABEL, Cell
from finray.filings.tables.period_headings import without_durations

_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
PERIOD_WORDS = re.compile(
    rf"\b(?:(?:ended|months|weeks|years?|quarters?|fiscal|as of|{MONTH})\b|[1-4]Q ?'?\d\d)|^(?:19|20)\d\d$",
    re.IGNORECASE,
)


_IN_CENTS = re.compile(r"\bcents\b", re.IGNORECASE)
_IN_DOLLARS = re.compile(r"[$€£¥]|\bdollars\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Row:
    """``numbers`` and ``texts`` stand in numeric columns."""

    label: str
    numbers: tuple[tuple[Cell, Number], ...]
    texts: tuple[Cell, ...]


def read_row(row: Sequence[Cell]) -> Row:
    """Split the cells of a row into label, numbers and other texts."""
    read = [(cell, parse_number(cell.text)) for cell in row]
    units = [number.unit for _, number in read if number is not None]
    if (
        "pure" in units
        and any(is_term(cell.text) for cell in row)
        and not figures_in(tuple([cell.text for cell in row]))
    ):
        read = [(cell, None if is_term(cell.text) else number) for cell, number in read]
    label = " ".join(cell.text for cell, number in read if not cell.column and (not number or _names_row(cell.text)))
    in_cents = _IN_CENTS.search(label) is not None and not _IN_DOLLARS.search(label)
    return Row(
        label[:MAX_LABEL].strip(),
        tuple((cell, _of_cents(number) if in_cents else number) for cell, number in read if cell.column and number),
        tuple(cell for cell, number in read if cell.column and not number),
    )


def _of_cents(number: Number) -> Number:
    """A number in a row "(US cents)" in units of the currency; one that prints "$" or "%" is not in cents."""
    if number.percent or number.currency is not None:
        return number
    return number._replace(value=number.value / 100, decimals=number.decimals + 2)


def _names_row(text: str) -> bool:
    """Whether a number is a label: a year, or a term such as "5 years"."""
    return is_year(text) or is_term(text)


def is_amount(text: str) -> bool:
    """Whether a cell is certainly not a percentage; a "%" in its heading then belongs to another column or to prose."""
    number = parse_number(text)
    return (
        number is not None
        and not number.percent
        and (number.currency is not None or abs(number.value) > 1000)
        and not is_year(text)
    )


def amounts_of(row: Row) -> dict[int, float]:
    """The first amount in each column."""
    return {cell.column: number.value for cell, number in reversed(row.numbers) if not number.percent}


@lru_cache(maxsize=4096)  # headings are asked about for each row
def names_period(text: str) -> bool:
    """Whether ``text`` has a year or a word such as "ended", "weeks", "June"."""
    return _YEAR.search(text) is not None or PERIOD_WORDS.search(without_durations(text)) is not None
