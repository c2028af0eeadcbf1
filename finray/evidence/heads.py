"""Units and periods in words."""

from __future__ import annotations

import datetime as dt
import re

from finray.core.filing import Filing

_SCALES = {1: "", 1_000: "thousands", 1_000_000: "millions", 1_000_000_000: "billions"}
_YEAR_DAYS = 365.25
_WANDERING_DAYS = 20
"""A fiscal year ends on about the same day of each year."""
_YEAR = re.compile(r"(?:19|20)\d\d")
_LENGTH = re.compile(
    r"\b(?:months?|weeks?|quarters?|years?|fiscal|as of|at|FY|[1-4]Q|Q[1-4])\b|\b[A-Z][a-z]+ \d{1,2}\b", re.I
)


def in_words(unit: str, scale: int) -> str:
    """``unit`` and ``scale`` in words: "USD millions", "shares", "percent"; "currency unknown" for XXX."""
    return f"{unit.replace('XXX', 'unknown currency')} {_SCALES.get(scale, f'× {scale:,}')}".strip()


def names_length(text: str) -> bool:
    """Whether ``text`` says how long a period is, or names a day: "Years ended", "At December 31", "2Q21"."""
    return _LENGTH.search(text) is not None


def length_words(months: int | None) -> str:
    """The beginning of a period's name: "12 months to", or "at" for an instant."""
    if months is None:
        return ""
    return f"{months} months to" if months else "at"


def period_note(printed: str, end: dt.date | None, months: int | None, filing: Filing) -> str:
    """What the ``printed`` head of a column leaves open of its period: nothing if it names the year in which the period
    ends, "FY2022" if the company counts that year otherwise, the whole period if it names another year or none."""
    if end is None:
        return ""
    fiscal = _fiscal_year(end, months, filing)
    named = set(_YEAR.findall(printed))
    if str(end.year) in named:
        return "" if fiscal is None or str(fiscal) in named else f"FY{fiscal}"
    length = "" if names_length(printed) else length_words(months)
    return f"{length} {end:%b %Y}".strip()


def counted_years(filing: Filing, end: dt.date) -> set[int]:
    """The years by which a question may name the period that ends on ``end``: that of the calendar and that of the
    company."""
    years = {end.year}
    if filing.fiscal_year is not None and filing.closes is not None:
        years.add(filing.fiscal_year - round((filing.closes - end).days / _YEAR_DAYS))
    return years


def _fiscal_year(end: dt.date, months: int | None, filing: Filing) -> int | None:
    """The fiscal year that closes on ``end``, if the company numbers it by another year than the calendar's."""
    if filing.fiscal_year is None or filing.closes is None or filing.fiscal_period != "FY":
        return None
    if filing.fiscal_year == filing.closes.year or months not in (0, 12, None):
        return None
    days = (filing.closes - end).days
    years = round(days / _YEAR_DAYS)
    near = abs(days - years * _YEAR_DAYS) < _WANDERING_DAYS
    return filing.fiscal_year - years if near else None
