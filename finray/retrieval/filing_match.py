"""How well a filing's cover facts match what a question asks for: pure functions, no model.

The largest single lever in open-domain filing retrieval: filings of one company differ by year and form, and of one
year by company, while their text is nearly the same.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence

from finray.core.period import Period
from finray.core.types import UNIDENTIFIED, Filing

PERIOD_MATCH = 0.5
"""From this fit on a filing is one of the period asked for, or prints it beside its own."""
_UNREAD_PERIOD, _UNREAD_FORM = 0.4, 0.5
"""What could not be read of a cover may be what is asked for."""
_PERIOD_WEIGHT, _FORM_WEIGHT = 0.7, 0.3
_FORM_WEIGHT_OF_UNDATED = 0.1
"""Where neither period nor form is asked, any recent filing may say it."""
_AMENDMENT_FACTOR = 0.9
"""An amendment that was not asked for ranks just behind what it amends: often it restates only a part."""


def match_score(
    filing: Filing,
    periods: Sequence[Period],
    asked: Sequence[str],
    implied: Mapping[str, float],
    *,
    ahead: bool = False,
) -> tuple[float, tuple[str, ...]]:
    """Score in [0, 1] and the reasons, for a filing whose company already fits.

    ``ahead``: the question is about what was expected of its fiscal years, which filings print before their end.
    """
    if ahead and periods and all(p.part in (None, "FY") and p.date is None for p in periods):
        period, why = _expectation_fit(filing, max(p.year for p in periods))
    else:
        period, why = period_fit(filing, periods)
    form = form_fit(filing, asked, implied)
    weight = _FORM_WEIGHT if periods or asked else _FORM_WEIGHT_OF_UNDATED
    score = _PERIOD_WEIGHT * period + weight * form
    reasons = [f"period {period:.2f} ({why})", f"form {filing.form} {form:.2f}"]
    if filing.is_amendment and not any(name.endswith("/A") for name in asked):
        score *= _AMENDMENT_FACTOR
        reasons.append("amendment not asked for")
    return score, tuple(reasons)


def form_fit(filing: Filing, asked: Sequence[str], implied: Mapping[str, float]) -> float:
    base = filing.form.removesuffix("/A")
    if base == UNIDENTIFIED:
        return _UNREAD_FORM
    if not asked:
        return implied.get(base, 0.1)
    if filing.form in asked:
        return 1.0
    if base in {name.removesuffix("/A") for name in asked}:
        return 0.8
    return 0.1 * implied.get(base, 0.0)


def period_fit(filing: Filing, periods: Sequence[Period]) -> tuple[float, str]:
    """How well the filing covers the asked periods; the latest counts most, since filings print earlier ones too."""
    if not periods:
        return 0.5, "no period asked"
    latest = max(periods, key=lambda p: (p.year, p.part or "", p.date or dt.date.min))
    best = (0.0, "other period")
    for period in periods:
        fit, why = _one_period(filing, period)
        weight = 1.0 if period == latest or period.year == latest.year else 0.6
        best = max(best, (fit * weight, why))
    return best


def _expectation_fit(filing: Filing, year: int) -> tuple[float, str]:
    """What was expected of fiscal ``year``: first in the reports on the year before, then renewed in its quarters."""
    own = filing.fiscal_year
    if own is None and filing.period_end is not None:
        own = filing.period_end.year
    if own is None:
        return _without_period(filing)
    if filing.fiscal_period in ("FY", "Q4"):
        fit = {year - 1: 1.0, year: 0.6}.get(own, 0.0)
        return fit, f"outlook in the report on fiscal {own}"
    if filing.fiscal_period is None:
        return (0.5 if own in (year - 1, year) else 0.0), f"dated in {own}"
    return (0.9 if own == year else 0.0), f"outlook in {filing.fiscal_period} of fiscal {own}"


def _one_period(filing: Filing, period: Period) -> tuple[float, str]:
    undated = filing.period_end is None and filing.fiscal_year is None
    if undated and (period.date is None or "period" in filing.unknown):
        return _without_period(filing)
    if period.date is not None:
        return _date_fit(filing, period.date)
    ends = filing.period_end.year if filing.period_end else None
    year = filing.fiscal_year if filing.fiscal_year is not None else ends
    assert year is not None
    if period.part in (None, "FY"):
        return _annual_fit(filing, period, year, ends)
    return _quarter_fit(filing, period, year, ends)


def _without_period(filing: Filing) -> tuple[float, str]:
    return (_UNREAD_PERIOD, "period not read") if "period" in filing.unknown else (0.1, "filing without a period")


def _annual_fit(filing: Filing, period: Period, year: int, ends: int | None) -> tuple[float, str]:
    if filing.fiscal_period == "FY":
        if year == period.year:
            return 1.0, f"fiscal year {year}"
        if ends == period.year:
            return 0.8, f"year ended in {ends}"
        if year - period.year in (1, 2):
            return 0.5 - 0.15 * (year - period.year - 1), f"comparative year in fiscal {year}"
        return 0.0, f"fiscal year {year}"
    if filing.fiscal_period is None:
        return (0.4, f"dated in {ends}") if ends == period.year else (0.0, f"dated in {ends}")
    if filing.fiscal_period == "Q4" and year == period.year:
        return 0.9, f"fourth quarter of fiscal {year}"
    if filing.fiscal_period == "Q4" and ends == period.year:
        return 0.75, f"fourth quarter ended in {ends}"
    return (
        (0.35, f"{filing.fiscal_period} of fiscal {year}") if period.year in (year, ends) else (0.0, f"fiscal {year}")
    )


def _quarter_fit(filing: Filing, period: Period, year: int, ends: int | None) -> tuple[float, str]:
    if filing.fiscal_period == period.part:
        if year == period.year:
            return 1.0, f"{period.part} of fiscal {year}"
        if ends == period.year:
            return 0.7, f"{period.part} ended in {ends}"
        return (0.5, "the same quarter a year later") if year == period.year + 1 else (0.0, f"fiscal {year}")
    if filing.fiscal_period == "FY" and year == period.year:
        return (0.8 if period.part == "Q4" else 0.3), f"annual report of fiscal {year}"
    if filing.fiscal_period is None:
        return (0.3, f"dated in {ends}") if ends == period.year else (0.0, f"dated in {ends}")
    return (0.25, f"another quarter of fiscal {year}") if year == period.year else (0.0, f"fiscal {year}")


def _years_after(end: dt.date, day: dt.date) -> int | None:
    """How many years ``end`` closes after ``day``, None where it is not about whole years."""
    years = round((end - day).days / 365.25)
    return years if abs((end - day).days - round(years * 365.25)) <= 10 else None


def _date_fit(filing: Filing, day: dt.date) -> tuple[float, str]:
    distances = [abs((known - day).days) for known in (filing.period_end, filing.filed_at) if known is not None]
    nearest = min(distances, default=10_000)
    if nearest <= 1:
        return 1.0, f"dated {day}"
    if nearest <= 10:
        return 0.8 - 0.02 * nearest, f"{nearest} days from {day}"
    if filing.period_end is not None and abs((filing.period_end - day).days - 365) <= 10:
        return 0.55, f"the same period a year after {day}"
    if filing.fiscal_period == "FY" and filing.period_end is not None and _years_after(filing.period_end, day) == 2:
        return 0.4, f"annual report two years after {day}, whose statements print three years"
    if filing.period_end is not None and filing.fiscal_period is not None:
        length = 366 if filing.fiscal_period == "FY" else 92
        if 0 <= (filing.period_end - day).days <= length:
            return 0.5, f"period contains {day}"
        if filing.period_end.year == day.year:
            return 0.3, f"same year as {day}"
    return (0.15, f"{nearest} days from {day}") if nearest <= 92 else (0.0, "other date")
