"""Heads of columns in words: what a column shows, for which period, in which unit."""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from collections.abc import Mapping, Sequence

from finray.core.filing import Filing, LineItem
from finray.core.vocabulary import MONTH

MAX_HEAD = 100
"""Characters; a longer text over a column is a sentence."""
MAX_LONE_HEAD = 40
"""A longer text over one of several columns is the table's title."""
_MOSTLY = 0.6
"""Minimum share of a column's figures that its head is true of."""
_PERIOD_WORDS = re.compile(
    rf"\b(?:{MONTH}|(?:19|20)\d\d|years?|fiscal|quarters?|months?|weeks?|ended|ending|as of|at|three|six|nine|twelve|"
    r"\d\d?)\b|[,.*]",
    re.I,
)
_BARE = frozenset(("level", "note", "notes"))
"""Labels that mean nothing without the number after them."""
_MARK = re.compile(r"\(\d{1,2}\)")
_SCALES = {1: "", 1_000: "thousands", 1_000_000: "millions", 1_000_000_000: "billions"}
_YEAR_DAYS = 365.25
_Dated = tuple[dt.date, int | None]
"""The end of a period and its months."""


def column_heads(
    columns: Sequence[int], rows: Sequence[Mapping[int, LineItem]], filing: Filing
) -> tuple[tuple[str, ...], str]:
    """The head of each column, and the words that the periods of all have in common ("12 months to")."""
    own = [[row[column] for row in rows if column in row] for column in columns]
    periods = [_period(items) for items in own]
    lengths = {period[1] for period in periods if period}
    common = _length(lengths.pop()) if len(lengths) == 1 and all(periods) else ""
    labels = [_label(items) for items in own]
    if sum(map(bool, labels)) == 1 < len(labels):
        labels = [label if len(label) <= MAX_LONE_HEAD else "" for label in labels]
    labels = _spread(labels, periods)
    units = [_common_unit(items) for items in own]
    usual = Counter(unit for unit in units if unit).most_common(1)
    heads = []
    for label, period, unit in zip(labels, periods, units, strict=True):
        when = "" if period is None else f"{'' if common else _length(period[1])} {_date(period, filing)}".strip()
        other = f"({unit})" if unit and usual and unit != usual[0][0] and unit not in label else ""
        heads.append(" ".join(filter(None, (label, when, other))))
    return tuple(heads), common


def usual_unit(items: Sequence[LineItem]) -> tuple[str, int] | None:
    """The unit and scale of most of ``items``, not counting percentages unless there is nothing else."""
    counts = Counter((item.unit, item.scale) for item in items if item.unit != "percent")
    counts = counts or Counter((item.unit, item.scale) for item in items)
    return counts.most_common(1)[0][0] if counts else None


def unit_words(items: Sequence[LineItem]) -> str:
    """The unit and scale of most of ``items``: "USD millions"."""
    usual = usual_unit(items)
    return in_words(*usual) if usual is not None else ""


def in_words(unit: str, scale: int) -> str:
    """``unit`` and ``scale`` in words: "USD millions", "shares", "percent"."""
    return f"{unit} {_SCALES.get(scale, f'× {scale:,}')}".strip()


def period_words(item: LineItem, filing: Filing) -> str:
    """The period of a figure: "12 months to Dec 2017", "at Jun 2020"."""
    if item.period_end is None:
        return ""
    return f"{_length(item.months)} {_date((item.period_end, item.months), filing)}".strip()


def only_periods(line: str) -> bool:
    """Whether a line names periods and nothing else: "Years ended", "September 28, 2024 | September 30, 2023"."""
    return not any(map(str.isalnum, _PERIOD_WORDS.sub(" ", line)))


def counted_years(filing: Filing, end: dt.date) -> set[int]:
    """The years by which a question may name the period that ends on ``end``: that of the calendar and that of the
    company."""
    years = {end.year}
    if filing.fiscal_year is not None and filing.closes is not None:
        years.add(filing.fiscal_year - round((filing.closes - end).days / _YEAR_DAYS))
    return years


def _common_unit(items: Sequence[LineItem]) -> str:
    """The unit of all ``items`` in words; "" if they differ."""
    units = {in_words(item.unit, item.scale) for item in items}
    return units.pop() if len(units) == 1 else ""


def _period(items: Sequence[LineItem]) -> _Dated | None:
    counts = Counter((item.period_end, item.months) for item in items if item.period_end is not None)
    if not counts:
        return None
    period, count = counts.most_common(1)[0]
    return period if count >= _MOSTLY * len(items) else None


def _length(months: int | None) -> str:
    if months is None:
        return ""
    return f"{months} months to" if months else "at"


def _date(period: _Dated, filing: Filing) -> str:
    """Month and year, with the fiscal year if that differs from the calendar year."""
    end, months = period
    shown = f"{end:%b %Y}"
    if filing.fiscal_year is None or filing.closes is None or filing.fiscal_period != "FY":
        return shown
    if filing.fiscal_year == filing.closes.year or months not in (0, 12, None):
        return shown
    days = (filing.closes - end).days
    years = round(days / _YEAR_DAYS)
    near = abs(days - years * _YEAR_DAYS) < 20
    return f"{shown} (FY{filing.fiscal_year - years})" if near else shown


def _label(items: Sequence[LineItem]) -> str:
    """The words of the column's head other than periods."""
    counts = Counter((item.column_label or "").partition("[")[0].strip() for item in items)
    label, count = counts.most_common(1)[0] if counts else ("", 0)
    if count < _MOSTLY * len(items) or len(label) > MAX_HEAD:
        return ""
    plain = " ".join(_PERIOD_WORDS.sub(" ", _MARK.sub(" ", label)).split())
    return plain if any(map(str.isalpha, plain)) and plain.lower() not in _BARE else ""


def _spread(labels: Sequence[str], periods: Sequence[_Dated | None]) -> list[str]:
    """``labels`` with each that spans a run of years repeated over all columns of the run; as read, it is over one."""
    runs: list[list[int]] = []
    for number, period in enumerate(periods):
        before = {periods[other] for other in runs[-1]} if runs else set()
        if not runs or period is None or period in before or None in before:
            runs.append([number])
        else:
            runs[-1].append(number)
    own = [{labels[number] for number in run} - {""} for run in runs]
    longest = [max(each, key=len, default="") for each in own]
    if len(runs) < 2 or any(label not in whole for each, whole in zip(own, longest, strict=True) for label in each):
        return list(labels)
    return [whole for run, whole in zip(runs, longest, strict=True) for _ in run]
