"""The fiscal year and quarter of a filing, from its own words."""

import datetime as dt
from collections import Counter
from dataclasses import dataclass, replace
from itertools import islice

from finray.core.filing import FiscalPeriod
from finray.core.forms import QUARTERLY
from finray.core.vocabulary import COUNT, ORDINAL, ORDINALS, number_of
from finray.filings.cover import fiscal
from finray.filings.cover.facts import Facts
from finray.filings.dates import add_months, find_dates, is_month_end
from finray.filings.phrases import phrase

_NEAR = 90
"""Characters; the name of a fiscal year and a date within this distance belong together."""
_MAX_MENTIONS = 1_000
"""Maximum number of mentions of fiscal years that are read; annual reports have hundreds."""
_MIN_VOTES = 3
_NAME = phrase(r"\bfiscal (?:year )?(?P<year>(?:19|20)\d\d)\b(?!\s{0,2}(?:and|,)\s{0,2}(?:19|20)\d\d)")
_MENTION = phrase(r"\bfiscal (?:years? )?((?:19|20)\d\d)\b")
_QUARTER_OF = phrase(
    rf"\b(?P<word>{ORDINAL})[\s-]{{1,3}}(?:fiscal )?quarter (?:(?:of|the|our|fiscal|year) ){{0,5}}(?P<year>20\d\d)\b"
)
_SPAN = phrase(rf"\b(?P<n>{COUNT})[\s-]{{1,3}}(?P<unit>months?|weeks?)(?: periods?)? ended\b")
_SPAN_MONTHS = {"month": {3: 3, 6: 6, 9: 9}} | {
    "week": dict.fromkeys((12, 13, 14, 16), 3) | dict.fromkeys(range(24, 29), 6) | dict.fromkeys(range(36, 41), 9)
}
"""Months of the year that have passed, by the unit and number in a heading; quarters may have 12 to 16 weeks."""


@dataclass(frozen=True, slots=True)
class Quarter:
    """A quarter or the whole year. ``year_end`` is the last day of its fiscal year."""

    period: FiscalPeriod
    year_end: dt.date


def with_period(facts: Facts, form: str | None, period_end: dt.date | None, text: str) -> Facts:
    """``facts`` with the period and, if ``form`` is known, its place in the fiscal year."""
    if period_end is None:
        return facts
    facts = replace(facts, period_end=period_end)
    if form is None:
        return facts
    closed = find_quarter(period_end, text) if form.startswith(QUARTERLY) else Quarter("FY", period_end)
    if closed is None:
        return facts
    year = named_year(closed.year_end, text, closed.period)
    return replace(facts, fiscal_period=closed.period, fiscal_year_end=f"{closed.year_end:%m-%d}", fiscal_year=year)


def named_year(last_day: dt.date, text: str, period: FiscalPeriod = "FY") -> int:
    """The company's name for the fiscal year that ends on ``last_day``.

    Tries in this order: a year named beside its last day in ``text`` ("fiscal 2022 ended January 28, 2023"), the name
    of the quarter ("third quarter of fiscal 2023"), the year that ``text`` mentions most, the rule.
    """
    if fiscal.around_new_year(last_day):
        return fiscal.year_by_rule(last_day)
    votes = _votes_beside_dates(text, last_day.month)
    offset: int | None = None
    if votes[0] != votes[-1]:
        offset = 0 if votes[0] > votes[-1] else -1
    if not fiscal.around_end_of_january(last_day):
        # Such a year is rarely named after the one before, so one sentence must not decide.
        return last_day.year - 1 if votes[-1] >= _MIN_VOTES and not votes[0] else last_day.year
    if offset is None:
        offset = _offset_by_quarter(text, last_day.year, period)
    if offset is None:
        offset = _offset_by_mentions(text, last_day.year)
    return fiscal.year_by_rule(last_day) if offset is None else last_day.year + offset


def _votes_beside_dates(text: str, month: int) -> Counter[int]:
    """How often ``text`` names a year beside a last day in the same calendar year (0) or in the next (-1)."""
    votes: Counter[int] = Counter()
    for match in islice(_NAME.finditer(text), _MAX_MENTIONS):
        for date in _dates_beside(text, match.start(), match.end()):
            offset = int(match["year"]) - date.year
            if (date.month - month) % 12 in (0, 1, 11) and offset in (-1, 0):
                votes[offset] += 1
    return votes


def _dates_beside(text: str, start: int, end: int) -> list[dt.date]:
    """The date after "fiscal 2022 ... ended" and the one right before "(“fiscal 2022”)"."""
    dates = []
    after = next(find_dates(text, end, min(len(text), end + _NEAR)), None)
    if after is not None and "end" in text[end : after[0]].lower():
        dates.append(after[2])
    before = list(find_dates(text, max(0, start - _NEAR), start))
    if before:
        between = text[before[-1][1] : start]
        if len(between) < 24 and any(mark in between for mark in '(“"–-'):
            dates.append(before[-1][2])
    return dates


def _offset_by_quarter(text: str, year: int, period: FiscalPeriod) -> int | None:
    """The offset of the latest fiscal year named with this quarter; filings also name it with earlier years."""
    if period not in fiscal.QUARTERS:
        return None
    quarter = fiscal.QUARTERS.index(period) + 1
    named = (match for match in _QUARTER_OF.finditer(text) if ORDINALS[match["word"].lower()] == quarter)
    years = {int(match["year"]) for match in named}
    latest = max(years & {year, year - 1}, default=None)
    return None if latest is None else latest - year


def _offset_by_mentions(text: str, year: int) -> int | None:
    """The offset by counts: a filing mentions its own fiscal year about as often as the one before, the next rarely."""
    counts = Counter(int(mention) for mention in _MENTION.findall(text))
    if counts[year] + counts[year - 1] < 3:
        return None
    return 0 if counts[year] * 2 >= counts[year - 1] else -1


def find_quarter(period_end: dt.date, text: str) -> Quarter | None:
    """The quarter that ends on ``period_end``, from headings ("six months ended June 30") and the prior year end on the
    balance sheet; None if the text does not show it."""
    prior_ends = _prior_year_ends(period_end, text)
    months = _months_passed(period_end, text, prior_ends)
    if months is None:
        return None
    year_end = fiscal.year_end_after(period_end, months)
    if prior_ends[months]:
        year_end = _next_year_end(prior_ends[months].most_common(1)[0][0], year_end)
    return Quarter(fiscal.QUARTERS[months // 3 - 1], year_end)


def _prior_year_ends(period_end: dt.date, text: str) -> dict[int, Counter[dt.date]]:
    """Dates in ``text`` about 3, 6 and 9 months before ``period_end``; one of them is the prior year end."""
    found: dict[int, Counter[dt.date]] = {3: Counter(), 6: Counter(), 9: Counter()}
    for _, _, date in find_dates(text):
        for months, dates in found.items():
            if abs((period_end - date).days - months * 30.44) <= 24:
                dates[date] += 1
    return found


def _months_passed(period_end: dt.date, text: str, prior_ends: dict[int, Counter[dt.date]]) -> int | None:
    """How many months of the fiscal year, 3, 6 or 9, have passed on ``period_end``; None if the text does not tell."""
    name = f"{period_end:%b}".lower()
    spans: Counter[int] = Counter()
    for match in _SPAN.finditer(text):
        unit = match["unit"].lower().removesuffix("s")
        months = _SPAN_MONTHS[unit].get(number_of(match["n"]))
        if months and name in text[match.end() : match.end() + 60].lower():
            spans[months] += 1
    score = {months: max(dates.values(), default=0) for months, dates in prior_ends.items()}
    if spans:
        longest = max(spans)
        # Headings outvote the balance sheet unless it repeats its date often.
        score[longest] += 6 + spans[longest]
    best = max(score, key=lambda months: (score[months], -months))
    return best if score[best] else None


def _next_year_end(prior: dt.date, estimate: dt.date) -> dt.date:
    """A year after ``prior``: the same month's end, or 52 weeks later if year ends drift."""
    if is_month_end(prior) and (is_month_end(estimate) or fiscal.around_new_year(prior)):
        return add_months(prior, 12)
    return prior + dt.timedelta(weeks=52)
