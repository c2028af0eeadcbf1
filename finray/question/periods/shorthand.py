"""Writes out periods in shorthand, so that fewer patterns must read them: "9M21" becomes "first nine months of 2021",
"12/31/2022" an ISO date."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from typing import Final

from finray.core.vocabulary import MONTH, MONTHS, NUMBER, ORDINAL, ORDINALS, YEAR, any_of, number_of

Written = Callable[[re.Match[str]], str]
Rule = tuple[re.Pattern[str], Written]

_UNITS: Final = {
    "wk": "week", "wks": "weeks", "mth": "month", "mths": "months", "qtr": "quarter", "qtrs": "quarters", "yr": "year",
    "yrs": "years",
}  # fmt: skip
_UNIT: Final = re.compile(rf"\b{any_of(_UNITS)}\b\.?", re.I)
_MONTHS_COUNTED: Final = re.compile(rf"\b(?P<count>\d{{1,2}}|{NUMBER})[\s-]?mos?\b\.?", re.I)
_LENGTHS: Final = {3: "three months", 6: "six months", 9: "nine months"}
_ROMAN: Final = {"I": "first", "II": "second", "III": "third", "IV": "fourth"}
_SHORT_YEAR = rf"(?:(?P<year>{YEAR})|['’]?(?P<short>\d\d))\b(?![/.-]\d|,\d{{3}}|%)"
_OF_YEAR = (
    r"[\s,/-]{0,2}(?:of\s)?(?:the\s)?(?:(?:fiscal|calendar|financial)\s(?:year\s)?|FY\s?|CY\s?|F(?=\d))?" + _SHORT_YEAR
)
_ENDED = r"(?:ended|ending|to|through|until)"
_ISO_DAY = r"\d{4}-\d\d-\d\d"
_MONTH_END = rf"(?:the\s)?end\sof\s{MONTH}"
_DAY_FOLLOWS = rf"(?=\d{{1,2}}\s{MONTH}|{MONTH}|{_ISO_DAY}|{_MONTH_END})"
_MONTH_OF_YEAR = rf"\b(?P<month>{MONTH})(?:\s?-\s?|\s?['’])(?:(?P<year>{YEAR})|(?P<short>\d\d))\b"
_TO_DATE = r"\b(?:YTD|year[\s-]to[\s-]date)"


def plain_units(text: str) -> str:
    """``text`` with units of time in full: "quarters" for "qtrs"."""
    text = _UNIT.sub(lambda match: _UNITS[match.group().lower().rstrip(".")], text)
    return _MONTHS_COUNTED.sub(lambda match: f"{match['count']} months", text)


def plain_periods(text: str) -> str:
    """``text``, whose units are in full, with its periods in words that ``named.period_spans`` reads."""
    for pattern, written in (*_DATES, *_ENDS, *_PARTS, *_YEARS):
        text = pattern.sub(written, text)
    return text


def _rule(pattern: str, written: Written | str) -> Rule:
    return re.compile(pattern, re.I), written if callable(written) else lambda _: written


def _year(match: re.Match[str]) -> str:
    return match["year"] or f"20{match['short']}"


def _numeric_date(match: re.Match[str]) -> str:
    """The date in ISO 8601, the text as it is if it is not one. If slashes leave the order open, the month is first, as
    in the United States."""
    first, second = int(match["first"]), int(match["second"])
    month, day = (first, second) if match["mark"] == "/" and first <= 12 else (second, first)
    return _iso(_year(match), month, day) or match.group()


def _digits(match: re.Match[str]) -> str:
    return _iso(match["year"], int(match["month"]), int(match["day"])) or match.group()


def _iso(year: str, month: int, day: int) -> str | None:
    try:
        return dt.date(int(year), month, day).isoformat()
    except ValueError:
        return None


def _numbered_month(match: re.Match[str]) -> str:
    month = int(match["month"])
    name = next((name for name, number in MONTHS.items() if number == month), None)
    return match.group() if name is None else f"{match['ended']} the end of {name} {match['year']}"


def _number(match: re.Match[str]) -> int:
    """The quarter in the group ``number`` or ``ordinal``."""
    groups = match.groupdict()
    number = (groups.get("number") or groups["ordinal"]).lower()
    return ORDINALS.get(number) or number_of(number)


def _quarter(match: re.Match[str]) -> str:
    return f"Q{_number(match)} {_year(match)}"


def _first_months(months: int, year: str) -> str:
    return f"first {_LENGTHS[months]} of {year}" if months in _LENGTHS else f"fiscal {year}"


def _months_to_day(match: re.Match[str]) -> str:
    """The months from January to the day."""
    months = int(match["month"]) if match["month"] else MONTHS[match["name"].lower()]
    return f"{months} months ended {match['day']}"


_DATES: Final = (
    _rule(rf"\b(?P<first>\d{{1,2}})(?P<mark>[/.])(?P<second>\d{{1,2}})(?P=mark)(?:(?P<year>{YEAR})|(?P<short>\d\d))\b",
          _numeric_date),
    _rule(rf"\b(?P<year>{YEAR})(?P<mark>[/.])(?P<month>\d\d)(?P=mark)(?P<day>\d\d)\b", _digits),
    _rule(rf"\b(?P<day>1[3-9]|2\d|3[01])-(?P<month>\d\d)-(?P<year>{YEAR})\b", _digits),
    _rule(rf"\b(?P<ended>FYE|YE|y/e|ended)\s(?P<month>\d{{1,2}})/(?P<year>{YEAR})\b", _numbered_month),
    _rule(r"(?<![\d$.,])(?P<year>20\d\d)(?P<month>[01]\d)(?P<day>[0-3]\d)(?![\d.,])", _digits),
    _rule(rf"\b(?P<day>\d{{1,2}})[-/](?P<month>{MONTH})[-/]{_SHORT_YEAR}",
          lambda m: f"{m['day']} {m['month']} {_year(m)}"),
    _rule(rf"\b(?P<day>{MONTH}\.?\s\d{{1,2}}|\d{{1,2}}\s{MONTH}),?\s['’](?P<short>\d\d)\b",
          lambda m: f"{m['day']} 20{m['short']}"),
    _rule(rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)\sday\sof\s(?={MONTH})", lambda m: f"{m['day']} "),
    _rule(rf"{_MONTH_OF_YEAR}(?=\squarter)", lambda m: f"{m['month']} {_year(m)}"),
    _rule(rf"{_MONTH_OF_YEAR}(?!-)", lambda m: f"the end of {m['month']} {_year(m)}"),
    _rule(rf"\bend-(?={MONTH}\s)|\blast\sday\sof\s(?={MONTH}\s)", "the end of "),
)  # fmt: skip
_ENDS: Final = (
    _rule(rf"\b(?P<month>{MONTH})\.?\squarter(?:\s(?:of|in))?\s(?P<year>{YEAR})\b",
          lambda m: f"quarter ended {m['month']} {m['year']}"),
    _rule(rf"\bQE\s{_DAY_FOLLOWS}", "quarter ended "),
    _rule(rf"\b(?P<count>3|6|9|12)M\s{_ENDED}\s{_DAY_FOLLOWS}", lambda m: f"{m['count']} months ended "),
    _rule(rf"\bHY\s{_ENDED}\s{_DAY_FOLLOWS}", "half year ended "),
    _rule(rf"\b(?:FYE|YE|y/e)[\s-]?(?:{_ENDED}\s)?{_DAY_FOLLOWS}", "year ended "),
    _rule(rf"\b[LT]TM\s(?:{_ENDED}\s)?{_DAY_FOLLOWS}", "12 months ended "),
    _rule(rf"{_TO_DATE}\s(?:(?:through|to|at|as\sof)\s)?(?P<day>\d{{4}}-(?P<month>\d\d)-\d\d|"
          rf"(?:the\s)?end\sof\s(?P<name>{MONTH})\s\d{{4}})", _months_to_day),
    _rule(rf"\bhalf\s{_ENDED}\s(?={_MONTH_END}|{MONTH}\.?\s(?:19|20))", "half year ended "),
    _rule(rf"\b(?P<span>months|weeks|quarter|half[\s-]year|year|period)\s{_ENDED}\s"
          rf"(?=(?:the\s)?(?:end\sof\s)?{MONTH}\.?\s(?:19|20))", lambda m: f"{m['span']} ended "),
    _rule(r"\bquarterly\speriod\sended\b", "quarter ended"),
)  # fmt: skip
_PARTS: Final = (
    _rule(r"\bfQ(?=[1-4])", "Q"),
    _rule(r"\b(?a:(?P<roman>I{1,3}|IV))\squarter\b", lambda m: f"{_ROMAN[m['roman'].upper()]} quarter"),
    _rule(rf"\b(?P<year>{YEAR})\s?-?\s?(?P<part>[QH][1-4])\b", lambda m: f"{m['part']} {m['year']}"),
    _rule(r"\b(?P<number>[1-4])T(?=['’]?\d\d\b)", lambda m: f"{m['number']}Q"),
    _rule(r"\bsemester\b", "half"),
    _rule(r"\bopening\squarter\b", "first quarter"),
    _rule(r"\bclosing\squarter\b", "fourth quarter"),
    _rule(r"\b(?:front|opening)\shalf\b", "first half"),
    _rule(r"\b(?:back|latter|closing)\shalf\b|\blast\s(?:six|6)\smonths(?=\sof\s(?:fiscal\s|FY\s?)?(?:19|20))",
          "second half"),
    _rule(rf"\b(?:half[\s-]year|HY)\s(?={YEAR})", "first half of "),
    _rule(r"\bfirst\s(?P<count>two|three|2|3)\squarters\b", lambda m: f"first {_LENGTHS[3 * number_of(m['count'])]}"),
    _rule(rf"\bquarter\s(?P<number>[1-4]|one|two|three|four){_OF_YEAR}", _quarter),
    _rule(rf"\b(?P<year>{YEAR})(?:['’]s)?\s(?P<ordinal>{ORDINAL})[\s-](?:fiscal\s)?(?P<unit>quarter|half)\b",
          lambda m: f"{m['ordinal']} {m['unit']} of {m['year']}"),
    _rule(rf"\b(?P<ordinal>{ORDINAL})-(?:fiscal-)?quarter\b", lambda m: f"{m['ordinal']} quarter"),
    _rule(rf"\b(?P<quarter>{ORDINAL}\squarter)\sof\s(?:the\s)?calendar\s(?:year\s)?{_SHORT_YEAR}",
          lambda m: f"{m['quarter']} of {_year(m)}"),
    _rule(rf"\b(?P<number>[1-4])Q{_OF_YEAR}", _quarter),
    _rule(rf"\bQ(?P<number>[1-4])\sof\s(?:the\s)?calendar\s(?:year\s)?{_SHORT_YEAR}", _quarter),
    _rule(rf"{_TO_DATE}\s(?:(?:through|to|in|as\sof)\s)?(?:the\s)?(?:end\sof\s)?"
          rf"(?:Q(?P<number>[1-4])|(?P<ordinal>{ORDINAL})\s(?:fiscal\s)?quarter){_OF_YEAR}",
          lambda m: _first_months(3 * _number(m), _year(m))),
    _rule(rf"\bQ(?P<number>[1-4]){_OF_YEAR}\s(?:YTD|year[\s-]to[\s-]date)\b",
          lambda m: _first_months(3 * _number(m), _year(m))),
    _rule(rf"(?<![\w$])(?P<months>6|9|12)M{_OF_YEAR}", lambda m: _first_months(int(m["months"]), _year(m))),
    _rule(rf"\b(?P<half>[12])H{_OF_YEAR}", lambda m: f"H{m['half']} {_year(m)}"),
)  # fmt: skip
"""Quarters, halves and months of a year. "3M" is left: it is a company."""
_YEARS: Final = (
    (re.compile(rf"\b(?:FYE|YE)[\s-]?{_SHORT_YEAR}"), lambda m: f"year-end {_year(m)}"),
    (re.compile(r"\bCY['’]?(?P<short>\d\d)\b"), lambda m: f"20{m['short']}"),
    _rule(rf"\bend-(?={YEAR}\b)", "year-end "),
    _rule(r"\b(?P<before>in|of|for|during|fiscal|full-year|full year)\s['’](?P<short>\d\d)\b(?!s)",
          lambda m: f"{m['before']} 20{m['short']}"),
    _rule(rf"(?<!\d)(?P<first>{YEAR})/(?P<short>\d\d)\b(?!/)",
          lambda m: f"20{m['short']}" if int(m["short"]) == (int(m["first"]) + 1) % 100 else m.group()),
)  # fmt: skip
"""A fiscal year that has two calendar years ("2022/23") is called by the later one."""
