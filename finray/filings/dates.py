"""Dates in filings: "December 31, 2015", "Jan. 3, 2016", "30 June 2022", "12/31/2015", "2015-12-31"."""

import calendar
import datetime as dt
import re
from collections.abc import Iterator

from finray.core.vocabulary import MONTH, MONTHS

_MONTH = rf"{MONTH}\.?"
MONTH_DAYS = 30.4375
_YEAR = r"(?:19|20)\d\s?\d"

_DATE = re.compile(
    r"\b(?=[jfmasond\d])(?:"  # rejects most words at once
    rf"(?P<m1>{_MONTH})\s{{0,4}}(?P<d1>\d{{1,2}})\s{{0,2}}(?:st|nd|rd|th)?\s{{0,2}}[,.]?\s{{0,4}}(?P<y1>{_YEAR})\b"
    rf"|(?=\d)(?:(?P<d2>\d{{1,2}})\s{{1,3}}(?P<m2>{_MONTH})\s{{0,2}},?\s{{1,3}}(?P<y2>{_YEAR})\b"
    r"|(?P<m3>\d{1,2})[/-](?P<d3>\d{1,2})[/-](?P<y3>(?:19|20)\d\d)\b"
    r"|(?P<y4>(?:19|20)\d\d)-(?P<m4>\d{2})-(?P<d4>\d{2})\b))",
    re.IGNORECASE,
)
_MONTH_DAY = re.compile(
    rf"\b(?P<month>{_MONTH})\s{{0,4}}(?P<day>\d{{1,2}})\b|-{{0,2}}\b(?P<m>\d{{1,2}})[-/](?P<d>\d{{1,2}})\b",
    re.IGNORECASE,
)


def to_date(year: int, month: int, day: int) -> dt.date | None:
    """The date; None if the calendar has no such day ("February 30")."""
    try:
        return dt.date(year, month, day)
    except ValueError:
        return None


def last_of_month(year: int, month: int) -> dt.date:
    return dt.date(year, month, calendar.monthrange(year, month)[1])


def is_month_end(date: dt.date) -> bool:
    return date == last_of_month(date.year, date.month)


def add_months(date: dt.date, months: int) -> dt.date:
    """The same day ``months`` later, or earlier if negative. The last day of a month stays the last; years are clamped
    to the range of ``datetime``."""
    year, month = divmod(date.year * 12 + date.month - 1 + months, 12)
    last = last_of_month(min(max(year, dt.MINYEAR), dt.MAXYEAR), month + 1)
    return last if is_month_end(date) else last.replace(day=min(date.day, last.day))


def months_between(first: dt.date, last: dt.date) -> int:
    """Length of the period from ``first`` to ``last``, both included, to the nearest month, at least one."""
    return max(1, round(((last - first).days + 1) / MONTH_DAYS))


def month_number(printed: str) -> int:
    """The month, 1 to 12, that "December", "dec." or "12" names."""
    return MONTHS.get(printed.rstrip(".").lower()) or int(printed)


def find_dates(text: str, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int, dt.date]]:
    """(start, end, date) of each date in ``text[start:end]``, in order."""
    for match in _DATE.finditer(text, start, len(text) if end is None else end):
        form = next(form for form in "1234" if match[f"y{form}"])
        year, month, day = (match[f"{part}{form}"] for part in "ymd")
        if date := to_date(int("".join(year.split())), month_number(month), int(day)):
            yield match.start(), match.end(), date


def first_date(text: str, start: int = 0, end: int | None = None) -> dt.date | None:
    return next((date for _, _, date in find_dates(text, start, end)), None)


def month_day(text: str) -> str | None:
    """``MM-DD`` of "--12-31", "December 31", "12/31" or "1231"; None if there is none."""
    text = text.strip()
    if re.fullmatch("[0-9]{4}", text):
        month, day = text[:2], text[2:]
    elif match := _MONTH_DAY.search(text):
        month, day = match["month"] or match["m"], match["day"] or match["d"]
    else:
        return None
    date = to_date(2000, month_number(month), int(day))
    return f"{date:%m-%d}" if date else None
