"""Reads the period that a column's heading names: year, month, day and length."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from finray.core.vocabulary import COUNT, MONTH, MONTHS, NUMBER, ORDINAL, ORDINALS, SCALE, number_of
from finray.filings.dates import months_between, to_date

MONTH_NAME = rf"(?P<month>{MONTH})\b\.?"
DAY_OF = re.compile(
    MONTH_NAME + r"\s*(?P<day>\d{1,2})?(?:st|nd|rd|th)?\s*,?\s*(?P<year>(?:19|20)\d\d)?(?!\d)", re.IGNORECASE
)
_MONTH_BEGINS = re.compile("|".join(sorted({month[:3] for month in MONTHS})))
"""Expects lower case."""
_FISCAL = re.compile(r"\bfiscal\b|\bfy\b")
_NUMERIC_DATE = re.compile(r"\b(?P<month>\d{1,2})/(?P<day>\d{1,2})/(?P<year>\d{4}|\d{2})\b")
_YEAR = re.compile(r"(?<![\d,.$])((?:19|20)\d\d)(?![\d,])")
YEAR_RANGE = re.compile(
    r"(?<![\d,.$/])(?:19|20)\d\d ?(?:-|–|—|to|through) ?(?:(?:19|20)\d\d|\d\d)(?![\d,/-])", re.IGNORECASE
)
CODED_QUARTER = re.compile(
    r"\b(?:(?P<first>[1-4])Q ?'?|Q(?P<second>[1-4]) ?['’])(?P<year>(?:19|20)?\d\d)(?!\d)", re.IGNORECASE
)
"""Quarters as banks name them: "2Q21", "Q2'21"."""
_COUNT = f"(?P<count>{COUNT})"
_MONTHS_LONG = re.compile(_COUNT + r"[\s-]+months?\b", re.IGNORECASE)
_WEEKS_LONG = re.compile(_COUNT + r"[\s-]+weeks?\b", re.IGNORECASE)
QUARTER = re.compile(rf"\b(?:quarters?(?: |$|ly)|fiscal quarter|{ORDINAL} quarter|q[1-4]\b)", re.IGNORECASE)
_YEARS_LONG = re.compile(r"\b(?:years?|fiscal|annual|twelve months|full.year|fy)\b", re.IGNORECASE)
_QUARTERS_LONG = re.compile(
    rf"\b(?:trailing|last|past|rolling)[\s-]+{_COUNT}[\s-]+quarters?\b|\b(?P<ended>{COUNT})[\s-]+quarters?\s+end(?:ed|ing)\b",
    re.IGNORECASE,
)
_NTH_QUARTER = re.compile(rf"\b(?:(?P<ordinal>{ORDINAL})|q(?P<number>[1-4]))\b", re.IGNORECASE)
_LENGTH = re.compile(r"month|quarter|week|year|fiscal|annual|fy|q[1-4]")
"""Occurs in every text that gives the length of a period."""
_DURATION = re.compile(
    rf"\bin (?:years|months)\b|\((?:years|months)\)|"
    rf"\b{COUNT} (?:months?|years?) (?:or|and) (?:more|greater|longer|less)\b|"
    rf"\b(?:less|more|greater|longer|fewer|over|under|within|after|through)(?: than)? {COUNT} (?:months?|years?)\b",
    re.IGNORECASE,
)
"""A length of time that is measured, or sorts figures, and is not the period of a column."""
_YEAR_TO_DATE = re.compile(r"\byear.to.date\b", re.IGNORECASE)
_CHANGE = re.compile(
    r"\b(?:change|variance|increase|decrease|growth|% ?chg|vs\.?|constant|over (?:19|20)\d\d)\b", re.IGNORECASE
)
_TWO_DIGITS = re.compile(r"\d\d")
_FOOTNOTE = re.compile(r"\(\s*(?:\d{1,2}|[a-z])\s*\)")
_ONLY_PERIOD_WORDS = re.compile(
    rf"(?>\b(?:{MONTH}|ended|ending|end|months?|weeks?|years?|quarters?|quarterly|fiscal|fy|as|at|of|for|the|in|"
    rf"on|and|unaudited|audited|restated|{ORDINAL}|{NUMBER}|"
    rf"q[1-4]|{SCALE}s?|amounts?|dollars?|except|per share|data)\b|[\W\d_]+)*+\Z",
    re.IGNORECASE,
)
_THROUGH = re.compile(r"[\s,()]*+(?:\(?inception\)?[\s,)]*+)?(?:through|thru|to|until|[-–—])\s*+", re.IGNORECASE)
"""Between the first and the last day of a period."""
MAX_COLUMN_LABEL = 200

PartialDate = tuple[int | None, int, int | None]
"""(year, month, day)"""


@dataclass(frozen=True, slots=True)
class Heading:
    """The period in a column's headings. Parts that they do not name are None."""

    year: int | None = None
    month: int | None = None
    day: int | None = None
    months: int | None = None
    fiscal: bool = False
    change: bool = False
    """The column compares periods."""
    quarter: int | None = None
    """The quarter, if the heading names nothing else: "Second quarter", "Q2", "Second"."""
    apart: bool = False
    """The year stands apart from month and day: "Fiscal 2019 | September 30"."""
    years: bool = False
    """A range of years: "2027-2031"."""
    coded: bool = False
    """A quarter of the company's year, whatever the filing's period: "2Q21"."""


@lru_cache(maxsize=4096)  # called for each cell of a column
def read_heading(text: str) -> Heading:
    """Year, month, day and length of the period that ``text`` names."""
    if YEAR_RANGE.search(text):
        return Heading(years=True)
    lowered = text.lower()
    if (coded := CODED_QUARTER.search(text)) and not _CHANGE.search(text):
        quarter = int(coded["first"] or coded["second"])
        return Heading(_in_full(int(coded["year"])), months=3, quarter=quarter, coded=True)
    year = month = day = None
    apart = False
    dates = list(find_days(text))
    if dates:
        # The last full date counts: "Year ended" stands before its date.
        match = next((m for m in reversed(dates) if m["year"]), dates[-1])
        year, month, day = partial_date(match)
        if match["month"].lower() == "may" and day is None and year is None:
            month = None
    elif numeric := _NUMERIC_DATE.search(text):
        month, day, year = int(numeric["month"]), int(numeric["day"]), _in_full(int(numeric["year"]))
    if year is None and len(years := {int(year) for year in _YEAR.findall(text)}) == 1:
        year, apart = years.pop(), month is not None
    if month is not None and not 1 <= month <= 12:
        month = day = None
    return Heading(
        year,
        month,
        day,
        months=_months_between(text, dates) or length_in_months(text),
        fiscal=("fiscal" in lowered or "fy" in lowered) and _FISCAL.search(lowered) is not None,
        change=_CHANGE.search(text) is not None,
        quarter=_quarter_of(text),
        apart=apart,
    )


def _months_between(text: str, dates: Sequence[re.Match[str]]) -> int | None:
    """The length of "May 1, 2024 through December 31, 2024", to the nearest month: the first report of a successor, a
    transition period, a period from inception. None if the last two dates are not joined like this."""
    if len(dates) < 2 or not _THROUGH.fullmatch(text[dates[-2].end() : dates[-1].start()]):
        return None
    (begin_year, begin_month, begin_day), (year, month, day) = map(partial_date, dates[-2:])
    if year is None or begin_day is None or day is None:
        return None
    begin, end = to_date(begin_year or year, begin_month, begin_day), to_date(year, month, day)
    if begin is None or end is None or begin >= end:
        return None
    return months_between(begin, end)


def gives_both_days(text: str) -> bool:
    """Whether ``text`` names one period by its first and last day: "April 1, 2023 to March 31, 2024"."""
    return _months_between(text, list(find_days(text))) is not None


def _in_full(year: int) -> int:
    """``year`` with its century, if it has two digits."""
    return year + (2000 if year < 70 else 1900 if year < 100 else 0)


def _quarter_of(text: str) -> int | None:
    """The quarter in a heading that names nothing but a quarter, its period and footnotes."""
    match = _NTH_QUARTER.search(text)
    if match is None or not _ONLY_PERIOD_WORDS.match(_FOOTNOTE.sub(" ", text)):
        return None
    return int(match["number"]) if match["number"] else ORDINALS[match["ordinal"].lower()]


def length_in_months(text: str) -> int | None:
    """Length of the period that ``text`` names. Retailers count a quarter as 11 to 17 weeks."""
    text = without_durations(text)
    lowered = text.lower()  # to search for plain words first, which takes a fraction of a pattern's time
    if not _LENGTH.search(lowered):
        return None
    if "month" in lowered and (match := _MONTHS_LONG.search(text)):
        return number_of(match["count"])
    if "quarter" in lowered and (match := _QUARTERS_LONG.search(text)):
        return 3 * number_of(match["count"] or match["ended"])
    if "week" in lowered and (match := _WEEKS_LONG.search(text)):
        weeks = number_of(match["count"])
        usual = ((11, 17, 3), (22, 29, 6), (34, 41, 9), (51, 54, 12))
        return next((n for low, high, n in usual if low <= weeks <= high), max(1, round(weeks * 12 / 52)))
    if _YEAR_TO_DATE.search(text):
        return None
    if QUARTER.search(text):
        return 3
    return 12 if _YEARS_LONG.search(text) else None


def without_durations(text: str) -> str:
    """``text`` without lengths of time that are not periods: "Term (in years)", "Less than 12 months"."""
    return _DURATION.sub("", text) if "months" in text.lower() or "year" in text.lower() else text


def find_days(text: str) -> Iterator[re.Match[str]]:
    """The matches of ``DAY_OF``. The first letters of a month, before which none begins, are found faster."""
    begins = _MONTH_BEGINS.search(text.lower())
    return DAY_OF.finditer(text, begins.start()) if begins else iter(())


def partial_date(match: re.Match[str]) -> PartialDate:
    """The date in a match of ``DAY_OF``."""
    year, day = (int(match[part]) if match[part] else None for part in ("year", "day"))
    return year, MONTHS[match["month"].lower()], day


@lru_cache(maxsize=4096)  # called for each cell of a column
def column_label(heading: str) -> str | None:
    """``heading`` if it names more than one period and a scale, else None."""
    rest = CODED_QUARTER.sub(" ", _FOOTNOTE.sub(" ", heading))
    named = not _ONLY_PERIOD_WORDS.match(rest) or YEAR_RANGE.search(heading)
    return heading[:MAX_COLUMN_LABEL] if named else None


@lru_cache(maxsize=4096)  # called for each figure of a row
def is_period(label: str) -> bool:
    """Whether ``label`` names a year and nothing else: "2024", "Fiscal year ended June 30, 2024:"."""
    if not _TWO_DIGITS.search(label):  # a year has them; most labels do not
        return False
    return _ONLY_PERIOD_WORDS.match(label) is not None and read_heading(label).year is not None
