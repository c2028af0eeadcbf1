"""What the ``format`` of an inline XBRL tag makes of the printed text: numbers, dates, true and false.

Sources: XBRL International's Transformation Rules Registries 1 to 5 (``ixt``), whose names differ in hyphens only, and
the SEC's (``ixt-sec``; EDGAR Filer Manual, volume II, chapter 5). Names of months are English, as EDGAR's
are. Durations are not read: they are words or numbers of years, never figures of a unit.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from finray.core.vocabulary import NUMBERS, SCALES
from finray.filings.cover.facts import MAX_FACT
from finray.filings.dates import first_date, last_of_month, month_day, to_date

_DASHES: Final = "-\u058a\u05be\u2010\u2011\u2012\u2013\u2014\u2015\ufe58\ufe63\uff0d"
"""The dashes of ``zerodash``; they also join words of a number."""
_APOSTROPHES: Final = "'`\u00b4\u2019\u2032"
_GROUPED = str.maketrans("", "", f",{_APOSTROPHES} \xa0\t\n\r")
_GROUPED_WITH_POINTS = str.maketrans("", "", f".{_APOSTROPHES} \xa0\t\n\r")
_PLAIN = re.compile(r"\d+(?:\.\d*)?|\.\d+", re.ASCII)
_MAJOR_AND_MINOR = re.compile(r"(\d[\d.,'’]*+)[^\d.,]\D*+(\d{1,2})\D*+")
_WORD_ENDS = re.compile(rf"[\s,{re.escape(_DASHES)}]+")
_NO: Final = frozenset({"no", "none", "nil", "zero"})
_LARGE: Final = {**SCALES, "quadrillion": 10**15, "quintillion": 10**18}
_QUARTERS: Final = {"first": 1, "second": 2, "third": 3, "fourth": 4, "last": 4}
_NUMBERS_IN_DATE = re.compile(r"\d+", re.ASCII)
_QUARTER = re.compile(r"\b(?:(first|second|third|fourth|last)|([1-4]))\b|[a-z]([1-4])\b", re.IGNORECASE)
_YEAR = re.compile(r"\b\d{4}\b", re.ASCII)
_TRUE, _FALSE = frozenset({"true", "1", "☑", "☒", "þ", "x", "yes"}), frozenset({"false", "0", "☐", "¨", "o", "no"})


def transformed_number(text: str, form: str | None) -> Decimal | None:
    """The number, without its sign, that a tag with format ``form`` ("ixt:num-dot-decimal") reads in ``text``.

    None if the text is not in that format, or is no figure (infinite, not a number). A tag without format should hold a
    bare number (Inline XBRL 1.1, section 10.1.2); thousands separators and a dash for zero are read too. So is the text
    of a format that no registry has.
    """
    return _number(text, _local_name(form)) if len(text) <= MAX_FACT else None


def transformed_date(text: str, form: str | None) -> dt.date | None:
    """The date in ``text``. Years of two digits are of this century, as the registries have it."""
    text, name = text[:MAX_FACT], _local_name(form)
    if name == "datequarterend":
        return _quarter_end(text)
    numbers = [int(each[:4]) for each in _NUMBERS_IN_DATE.findall(text)]
    order = _ORDERS.get(name)
    if order is None or len(numbers) < len(order):
        return first_date(text)
    parts = dict(zip(order, numbers, strict=False))
    year = parts["y"] + 2000 if parts["y"] < 100 else parts["y"]
    return to_date(year, parts["m"], parts["d"])


def transformed_month_day(text: str, form: str | None) -> str | None:
    """``MM-DD`` of a day of the year."""
    text, name = text[:MAX_FACT], _local_name(form)
    if name in ("datedaymonth", "dateslashdaymontheu"):
        numbers = [int(each[:4]) for each in _NUMBERS_IN_DATE.findall(text)]
        date = to_date(2000, numbers[1], numbers[0]) if len(numbers) == 2 else None
        return f"{date:%m-%d}" if date else None
    if day_first := re.fullmatch(r"(\d{1,2})\s++(\D++)", text.strip(), re.ASCII):
        text = f"{day_first[2]} {day_first[1]}"
    return month_day(re.sub(r"(?<=\d)[.\s]+(?=\d)", "-", text))


def transformed_boolean(text: str, form: str | None) -> bool | None:
    """What a tag of a true-or-false concept says; None if it says neither."""
    name = _local_name(form)
    if name.endswith(("fixedtrue", "booleantrue")):
        return True
    if name.endswith(("fixedfalse", "booleanfalse")):
        return False
    word = text.strip().lower()
    return True if word in _TRUE else False if word in _FALSE else None


@lru_cache(maxsize=64)
def _local_name(form: str | None) -> str:
    return (form or "").strip().rpartition(":")[2].replace("-", "").lower()


@lru_cache(maxsize=8192)  # years, small numbers and dashes come again and again
def _number(text: str, name: str) -> Decimal | None:
    return _READERS.get(name, _lenient)(text.strip())


def _with_point(text: str) -> Decimal | None:
    return _decimal(text.translate(_GROUPED))


def _with_comma(text: str) -> Decimal | None:
    return None if "," in text.partition(",")[2] else _decimal(text.translate(_GROUPED_WITH_POINTS).replace(",", "."))


def _decimal(digits: str) -> Decimal | None:
    return Decimal(digits) if _PLAIN.fullmatch(digits) else None


def _dash(text: str) -> Decimal | None:
    return Decimal(0) if len(text) == 1 and text in _DASHES else None


def _zero(_text: str) -> Decimal:
    return Decimal(0)


def _no_figure(_text: str) -> None:
    return None


def _major_and_minor(text: str) -> Decimal | None:
    """``numunitdecimal``: "5 dollars and 7 cents" is 5.07."""
    match = _MAJOR_AND_MINOR.fullmatch(text)
    if match is None:
        return None
    return _decimal(f"{re.sub('[^0-9]', '', match[1])}.{match[2]:>02}")


def _in_words(text: str) -> Decimal | None:
    """``numwordsen``: "two hundred and five", "Twenty-one million", "none"."""
    words = [word for word in _WORD_ENDS.split(text.lower()) if word not in ("", "and")]
    if len(words) == 1 and words[0] in _NO:
        return Decimal(0)
    total = group = 0
    for word in words:
        if word in NUMBERS:
            group += NUMBERS[word]
        elif word == "hundred" and group:
            group *= 100
        elif word in _LARGE and group:
            total, group = total + group * _LARGE[word], 0
        else:
            return None
    return Decimal(total + group) if words else None


def _lenient(text: str) -> Decimal | None:
    text = text.strip("$€£()%").strip()
    if not text:
        return None
    if _dash(text) is not None:
        return Decimal(0)
    return _in_words(text) if text[0].isalpha() else _with_point(text)


_READERS: Final[Mapping[str, Callable[[str], Decimal | None]]] = MappingProxyType(
    dict.fromkeys(("numdotdecimal", "numdotdecimalapos", "numdotdecimalin", "numcommadot", "numspacedot"), _with_point)
    | dict.fromkeys(("numcommadecimal", "numcommadecimalapos", "numdotcomma", "numspacecomma", "numcomma"), _with_comma)
    | dict.fromkeys(("zerodash", "numdash"), _dash)
    | dict.fromkeys(("numunitdecimal", "numunitdecimalapos", "numunitdecimalin"), _major_and_minor)
    | dict.fromkeys(("numinf", "numneginf", "numnan"), _no_figure)
    | {"fixedzero": _zero, "numwordsen": _in_words}
)
_ORDERS: Final[Mapping[str, str]] = MappingProxyType(
    dict.fromkeys(("datemonthdayyear", "dateslashus", "datedotus"), "mdy")
    | dict.fromkeys(("datedaymonthyear", "dateslasheu", "datedoteu"), "dmy")
    | {"dateyearmonthday": "ymd"}
)


def _quarter_end(text: str) -> dt.date | None:
    """The last day of a calendar quarter: "fourth quarter of 2024", "Q3 2024"."""
    year = _YEAR.search(text)
    quarter = _QUARTER.search(_YEAR.sub(" ", text))
    if year is None or quarter is None:
        return None
    number = _QUARTERS[quarter[1].lower()] if quarter[1] else int(quarter[2] or quarter[3])
    return last_of_month(int(year[0]), 3 * number)
