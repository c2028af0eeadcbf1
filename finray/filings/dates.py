"""Dates in filings: "December 31, 2015", "Jan. 3, 2016", "30 June 2022", "12/31/2015", "2015-12-31"."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator

from finray.core.vocabulary import MONTH, MONTHS

_MONTH = rf"{MONTH}\.?"
_YEAR = r"(?:19|20)\d\s?\d"

DATE = re.compile(
    r"\b(?=[jfmasond\d])(?:"  # rejects most words at once
    rf"(?P<m1>{_MONTH})\s{{0,4}}(?P<d1>\d{{1,2}})\s{{0,2}}(?:st|nd|rd"
    rf"|th)?\s{{0,2}}[,.]?\s{{0,4}}(?P<y1>{_YEAR})\b"
    rf"|(?=\d)(?:(?P<d2>\d{{1,2}})\s{{1,3}}(?P<m2>{_MONTH})\s{{0,2}},?\s{{1,3}}(?P<y2>{_YEAR})\b"
    r"|(?P<m3>\d{1,2})[/-](?P<d3>\d{1,2})[/-](?P<y3>(?:19|20)\d\d)\b"
    r"|(?P<y4>(?:19|20)\d\d)-(?P<m4>\d{2})-(?P<d4>\d{2})\b))",
    re.IGNORECASE,
)
_MONTH_DAY = re.compile(
    rf"\b(?P<month>{_MONTH})\s{{0,4}}(?P<day>\d{{1,2}})\b|-{{0,2}}\b(?P<m>\d{{1,2}})[-/](?P<d>\d{{1,2}})\b",
    re.IGNORECASE,
)


def _date_of(match: re.Match[str]) -> dt.date | None:
    for form in "1234":
        year, month, day = match[f"y{form}"], match[f"m{form}"], match[f"d{form}"]
        if year is not None:
            number = int(month) if month.isdecimal() else MONTHS[month.rstrip(".").lower()]
            try:
                return dt.date(int("".join(year.split())), number, int(day))
            except ValueError:  # printed, but not a date: "February 30, 2015"
                return None
    return None


def find_dates(text: str, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int, dt.date]]:
    """(start, end, date) of each date in ``text[start:end]``, in order."""
    for match in DATE.finditer(text, start, len(text) if end is None else end):
        date = _date_of(match)
        if date is not None:
            yield match.start(), match.end(), date


def first_date(text: str, start: int = 0, end: int | None = None) -> dt.date | None:
    return next((date for _, _, date in find_dates(text, start, end)), None)


def month_day(text: str) -> str | None:
    """``MM-DD`` of "--12-31", "December 31", "12/31" or "1231"; None if there is none."""
    text = text.strip()
    if len(text) == 4 and text.isascii() and text.isdecimal():
        month, day = int(text[:2]), int(text[2:])
    else:
        match = _MONTH_DAY.search(text)
        if match is None:
            return None
        month = MONTHS[match["month"].rstrip(".").lower()] if match["month"] else int(match["m"])
        day = int(match["day"] or match["d"])
    try:
        dt.date(2000, month, day)
    except ValueError:
        return None
    return f"{month:02d}-{day:02d}"
