"""Fiscal years and quarters from dates alone (``fiscal_text`` reads the filing's own words).

Companies name their fiscal years. Most use the calendar year in which the fiscal year ends. Many retailers, whose year
ends around January 31, use the one in which it began (``DocumentFiscalYearFocus``, EDGAR Filer Manual volume II, 6.6).
Years of 52 or 53 weeks end on a fixed weekday, so the last day drifts by up to a week.
"""

import datetime as dt
from dataclasses import replace

from finray.core.filing import FiscalPeriod
from finray.core.forms import ANNUAL, QUARTERLY
from finray.filings.cover.facts import Facts
from finray.filings.dates import add_months, is_month_end, last_of_month

QUARTERS: tuple[FiscalPeriod, ...] = ("Q1", "Q2", "Q3", "Q4")
_DRIFT = dt.timedelta(days=16)
_QUARTER_DAYS = 91.3


def around_new_year(last_day: dt.date) -> bool:
    """Whether the year ends between December 9 and January 15. All companies name it after the calendar year past."""
    return (last_day.month == 12 and last_day.day > 8) or (last_day.month == 1 and last_day.day <= 15)


def around_end_of_january(last_day: dt.date) -> bool:
    """Whether the year ends when those of retailers do. Both ways of naming it are common."""
    return (last_day.month == 1 and last_day.day > 15) or last_day.month == 2


def year_by_rule(last_day: dt.date) -> int:
    """The name of a fiscal year whose filing does not name it, from its last day.

    It is the calendar year in which the fiscal year ends, with two exceptions. A year that ends in the first half of
    January belongs to the year before (52/53 weeks). One that ends in late January (but not on the 31st) or early
    February is a retailer's and named after the year in which it began.
    """
    if last_day.month == 1 and last_day.day <= 15:
        return last_day.year - 1
    retailer = (last_day.month == 1 and 24 <= last_day.day <= 30) or (last_day.month == 2 and last_day.day <= 6)
    return last_day.year - 1 if retailer else last_day.year


def year_end_on_or_after(day: dt.date, fiscal_year_end: str) -> dt.date:
    """The nominal last day of the fiscal year that contains ``day``; ``fiscal_year_end`` is ``MM-DD``. Year ends drift,
    so a day up to 16 days after the nominal one still belongs to that year."""
    month, number = (int(part) for part in fiscal_year_end.split("-"))
    months = (last_of_month(year, month) for year in (day.year - 1, day.year, day.year + 1))
    nominals = (last.replace(day=min(number, last.day)) for last in months)
    return next(nominal for nominal in nominals if nominal + _DRIFT >= day)


def year_end_after(period_end: dt.date, months: int) -> dt.date:
    """The last day of the fiscal year of which ``months`` (3, 6, 9, 12) have passed on ``period_end``.

    If the quarter ends with a month, so does the year; otherwise quarters have 13 weeks.
    """
    if is_month_end(period_end):
        return add_months(period_end, 12 - months)
    return period_end + dt.timedelta(weeks=(12 - months) // 3 * 13)


def fiscal_year(period_end: dt.date, fiscal_year_end: str) -> int:
    """The fiscal year that contains ``period_end``, by rule; ``fiscal_year_end`` is ``MM-DD``."""
    nominal = year_end_on_or_after(period_end, fiscal_year_end)
    return year_by_rule(period_end if abs(period_end - nominal) <= _DRIFT else nominal)


def fiscal_quarter(period_end: dt.date, fiscal_year_end: str) -> FiscalPeriod:
    """The quarter of its fiscal year that ends on ``period_end``; quarters may have 12, 13, 14 or 16 weeks."""
    left = (year_end_on_or_after(period_end, fiscal_year_end) - period_end).days
    return QUARTERS[3 - min(3, max(0, round(left / _QUARTER_DAYS)))]


def complete(facts: Facts) -> Facts:
    """``facts`` with fiscal year and period, derived from period end and year end if a source (SGML) has only these."""
    if facts.period_end is None or facts.form is None:
        return facts
    year, period, year_end = facts.fiscal_year, facts.fiscal_period, facts.fiscal_year_end
    if facts.form.startswith(ANNUAL):
        period = period or "FY"
        year = year_by_rule(facts.period_end) if year is None else year
    elif facts.form.startswith(QUARTERLY) and year_end:
        period = period or fiscal_quarter(facts.period_end, year_end)
        year = fiscal_year(facts.period_end, year_end) if year is None else year
    return replace(facts, fiscal_year=year, fiscal_period=period)
