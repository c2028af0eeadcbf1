"""Names how a filing's period and form relate to those that a question asks for."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from finray.core.filing import UNIDENTIFIED, Filing
from finray.core.forms import ANNUAL_REPORT_TO_HOLDERS, EARNINGS_RELEASE
from finray.core.period import Period
from finray.question.forms import FormContext

PERIODS: dict[str, str] = {
    "own_year": "annual report on the fiscal year",
    "year_by_end": "annual report on the fiscal year that ends in the calendar year",
    "year_after": "annual report on the next year, which prints this one beside it",
    "two_years_after": "annual report on the year after the next, whose statements of income print three",
    "fourth_quarter": "fourth quarter's report on the fiscal year",
    "fourth_quarter_by_end": "fourth quarter's report on the fiscal year that ends in the calendar year",
    "quarter_of_year": "quarterly report within the year",
    "dated_in_year": "no fiscal period, dated in the year",
    "own_quarter": "report on the quarter",
    "quarter_by_end": "report on the quarter that ends in the calendar year",
    "quarter_year_after": "report on the same quarter of the next year",
    "another_quarter": "report on another quarter of the fiscal year",
    "annual_of_fourth_quarter": "annual report on the year of a fourth quarter",
    "annual_of_quarter": "annual report on the year of the quarter",
    "dated_in_quarters_year": "no fiscal period, dated in the year of the quarter",
    "that_day": "ended or filed on the day, or the day before or after it",
    "days_away": "ended or filed two to five days from the day",
    "week_away": "ended or filed six to ten days from the day",
    "day_year_after": "report on the period a year after the one that ended that day",
    "day_two_years_after": "annual report on the second year after the one that ended that day",
    "contains_day": "report on a period that contains the day",
    "year_of_day": "report on another period of the day's year",
    "quarter_around_day": "ended or filed at most 92 days from the day",
    "outlook_year_before": "annual report on the year before the one that expectations are about",
    "outlook_own_year": "annual report on the year that expectations are about",
    "outlook_quarter": "quarterly report within the year that expectations are about",
    "outlook_dated": "no fiscal period, dated in the year that expectations are about or the one before",
    "unread_period": "the filing's period could not be read",
    "without_period": "a filing of a form that has no period",
}
"""Relations of a filing to a period asked for. A filing that has none of them weighs 0."""

FORMS: dict[str, str] = {
    "form_asked": "the form is the one asked for",
    "form_asked_but_amendment": "only one of the two is an amendment",
    "form_not_asked": "another form is asked for",
    "form_not_implied": "no form is asked for, and this one does not answer such questions",
    "form_unread": "the filing's form could not be read",
} | {
    f"{context} {form}": what
    for context, what, forms in (
        ("plain", "no form is asked for", ("10-K", "20-F", ANNUAL_REPORT_TO_HOLDERS, EARNINGS_RELEASE, "10-Q", "8-K")),
        ("quarter", "a quarter is asked for", ("10-Q", EARNINGS_RELEASE, "10-K")),
        ("closing day", "the day that closes a period is asked for", ("10-Q", EARNINGS_RELEASE)),
        ("day", "another day is asked for", ("8-K", EARNINGS_RELEASE)),
        ("outlook", "figures that releases print are asked for", (EARNINGS_RELEASE, "10-K")),
        ("event", "an event of a day is asked for", ("8-K", "10-K", "10-Q")),
    )
    for form in forms
}
"""Relations of a filing's form to the forms asked for, or to a context of ``finray.question.forms``."""

WEIGHTS: dict[str, str] = (
    PERIODS
    | FORMS
    | {
        "earlier_period": "factor for periods before the latest that is asked for",
        "amendment": "factor for an amendment that is not asked for",
        "form_share": "share of the form in the score; the rest is the period's",
        "form_share_undated": "share of the form if the question names neither period nor form",
    }
)
"""Description of each weight."""


@dataclass(frozen=True, slots=True)
class PeriodRelation:
    """``name`` is one of PERIODS, or None if the filing prints no figures of the period. ``earlier`` is whether the
    question names a later period too."""

    name: str | None
    why: str = field(default="", compare=False)
    earlier: bool = False


@dataclass(frozen=True, slots=True)
class CoverRelations:
    """``periods`` has one relation for each period asked for; ``form`` is one of FORMS. ``amendment`` is whether the
    filing is an amendment that is not asked for, ``undated`` whether the question names neither period nor form."""

    periods: tuple[PeriodRelation, ...]
    form: str
    amendment: bool
    undated: bool


def relations(
    filing: Filing,
    periods: Sequence[Period],
    asked: Sequence[str],
    implied: Mapping[str, FormContext],
    *,
    ahead: bool = False,
) -> CoverRelations:
    """Relates ``filing`` to the ``periods`` and forms asked for, or to the forms ``implied`` if none is.

    With ``ahead`` the question asks for expectations about its fiscal years.
    """
    if ahead and periods and all(p.part in (None, "FY") and p.date is None for p in periods):
        related: tuple[PeriodRelation, ...] = (_outlook(filing, max(p.year for p in periods)),)
    else:
        related = period_relations(filing, periods)
    amendment = filing.is_amendment and not any(name.endswith("/A") for name in asked)
    return CoverRelations(related, _form(filing, asked, implied), amendment, not periods and not asked)


def period_relations(filing: Filing, periods: Sequence[Period]) -> tuple[PeriodRelation, ...]:
    """The relation of ``filing`` to each distinct period."""
    latest = max((period.year for period in periods), default=None)
    return tuple(
        PeriodRelation(*_one_period(filing, period), earlier=period.year != latest) for period in dict.fromkeys(periods)
    )


def _form(filing: Filing, asked: Sequence[str], implied: Mapping[str, FormContext]) -> str:
    base = filing.form.removesuffix("/A")
    if base == UNIDENTIFIED:
        return "form_unread"
    if not asked:
        return f"{implied[base]} {base}" if base in implied else "form_not_implied"
    if filing.form in asked:
        return "form_asked"
    return "form_asked_but_amendment" if base in {name.removesuffix("/A") for name in asked} else "form_not_asked"


_Related = tuple[str | None, str]


def _outlook(filing: Filing, year: int) -> PeriodRelation:
    """Relates ``filing`` to expectations about fiscal ``year``: the report on the year before gives them first,
    quarterly reports update them."""
    own = filing.fiscal_year
    if own is None and filing.closes is not None:
        own = filing.closes.year
    if own is None:
        return PeriodRelation(*_without_period(filing))
    if filing.fiscal_period in ("FY", "Q4"):
        name = {year - 1: "outlook_year_before", year: "outlook_own_year"}.get(own)
        return PeriodRelation(name, f"outlook in the report on fiscal {own}")
    if filing.fiscal_period is None:
        return PeriodRelation("outlook_dated" if own in (year - 1, year) else None, f"dated in {own}")
    return PeriodRelation(
        "outlook_quarter" if own == year else None, f"outlook in {filing.fiscal_period} of fiscal {own}"
    )


def _one_period(filing: Filing, period: Period) -> _Related:
    undated = filing.period_end is None and filing.fiscal_year is None
    if undated and (period.date is None or "period" in filing.unknown):
        return _without_period(filing)
    if period.date is not None:
        return _day(filing, period.date)
    ends = filing.closes.year if filing.closes else None
    year = filing.fiscal_year if filing.fiscal_year is not None else ends
    assert year is not None
    if period.part in (None, "FY"):
        return _year(filing, period, year, ends)
    return _quarter(filing, period, year, ends)


def _without_period(filing: Filing) -> _Related:
    if "period" in filing.unknown:
        return "unread_period", "period not read"
    return "without_period", "filing without a period"


def _year(filing: Filing, period: Period, year: int, ends: int | None) -> _Related:
    if filing.fiscal_period == "FY":
        if year == period.year:
            return "own_year", f"fiscal year {year}"
        if ends == period.year:
            return "year_by_end", f"year ended in {ends}"
        after = {1: "year_after", 2: "two_years_after"}.get(year - period.year)
        return after, f"comparative year in fiscal {year}" if after else f"fiscal year {year}"
    if filing.fiscal_period is None:
        return "dated_in_year" if ends == period.year else None, f"dated in {ends}"
    if filing.fiscal_period == "Q4" and year == period.year:
        return "fourth_quarter", f"fourth quarter of fiscal {year}"
    if filing.fiscal_period == "Q4" and ends == period.year:
        return "fourth_quarter_by_end", f"fourth quarter ended in {ends}"
    if period.year in (year, ends):
        return "quarter_of_year", f"{filing.fiscal_period} of fiscal {year}"
    return None, f"fiscal {year}"


def _quarter(filing: Filing, period: Period, year: int, ends: int | None) -> _Related:
    if filing.fiscal_period == period.part:
        if year == period.year:
            return "own_quarter", f"{period.part} of fiscal {year}"
        if ends == period.year:
            return "quarter_by_end", f"{period.part} ended in {ends}"
        if year == period.year + 1:
            return "quarter_year_after", "the same quarter a year later"
        return None, f"fiscal {year}"
    if filing.fiscal_period is None:
        return "dated_in_quarters_year" if ends == period.year else None, f"dated in {ends}"
    if year != period.year:
        return None, f"fiscal {year}"
    if filing.fiscal_period != "FY":
        return "another_quarter", f"another quarter of fiscal {year}"
    return "annual_of_fourth_quarter" if period.part == "Q4" else "annual_of_quarter", f"annual report of fiscal {year}"


def _years_after(end: dt.date, day: dt.date) -> int | None:
    """Years from ``day`` to ``end``; None if that is not roughly a whole number."""
    years = round((end - day).days / 365.25)
    return years if abs((end - day).days - round(years * 365.25)) <= 10 else None


def _day(filing: Filing, day: dt.date) -> _Related:
    days = (filing.period_end, filing.results_end, filing.filed_at)
    distances = [abs((known - day).days) for known in days if known is not None]
    nearest = min(distances, default=10_000)
    end, annual = filing.closes, filing.fiscal_period == "FY"
    if nearest <= 1:
        return "that_day", f"dated {day}"
    if nearest <= 10:
        return "days_away" if nearest <= 5 else "week_away", f"{nearest} days from {day}"
    if end is not None and _years_after(end, day) == 1:
        return "day_year_after", f"the same period a year after {day}"
    if end is not None and annual and _years_after(end, day) == 2:
        return "day_two_years_after", f"annual report two years after {day}, whose statements print three years"
    if end is not None and filing.fiscal_period is not None:
        if 0 <= (end - day).days <= (366 if annual else 92):
            return "contains_day", f"period contains {day}"
        if end.year == day.year:
            return "year_of_day", f"same year as {day}"
    return ("quarter_around_day", f"{nearest} days from {day}") if nearest <= 92 else (None, "other date")
