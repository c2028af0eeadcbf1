from __future__ import annotations

import datetime as dt
import random
from decimal import Decimal

import pytest

from finray.core.filing import Filing, FiscalPeriod
from finray.lab.datasets.xbrl.periods import period_of
from finray.lab.datasets.xbrl.tagged import Fact


def filing(form: str, end: str, year: int, period: FiscalPeriod) -> Filing:
    return Filing("1", "acme", "acme.html", "0" * 64, "Acme", form, period_end=dt.date.fromisoformat(end),
                  fiscal_year=year, fiscal_period=period)  # fmt: skip


def fact(start: str, end: str, months: int) -> Fact:
    first = dt.date.fromisoformat(start) if start else None
    return Fact("us-gaap:Assets", first, dt.date.fromisoformat(end), months, (), "usd", Decimal(1), -6, ())


ANNUAL = filing("10-K", "2024-09-28", 2024, "FY")
QUARTERLY = filing("10-Q", "2025-06-28", 2025, "Q3")


@pytest.mark.parametrize(
    ("of", "start", "end", "months", "kind", "named"),
    [
        (ANNUAL, "2023-10-01", "2024-09-28", 12, "year", "fiscal 2024"),
        (ANNUAL, "2022-09-25", "2023-09-30", 12, "year", "FY2023"),
        (ANNUAL, "", "2023-09-30", 0, "year_end", "the end of fiscal 2023"),
        (QUARTERLY, "2025-03-30", "2025-06-28", 3, "quarter", "Q3 FY2025"),
        (QUARTERLY, "2024-03-31", "2024-06-29", 3, "quarter", "the quarter ended June 29, 2024"),
        (QUARTERLY, "2024-09-29", "2025-06-28", 9, "year_to_date", "the first nine months of fiscal 2025"),
        (QUARTERLY, "", "2025-06-28", 0, "quarter_end", "the end of the third quarter of fiscal 2025"),
        (QUARTERLY, "", "2024-09-28", 0, "year_end", "fiscal year-end 2024"),
    ],
)
def test_periods_in_the_company_s_own_calendar(
    of: Filing, start: str, end: str, months: int, kind: str, named: str
) -> None:
    period = period_of(fact(start, end, months), of)
    assert period is not None
    assert period.kind == kind
    assert named in period.names()


@pytest.mark.parametrize(
    ("of", "start", "end", "months"),
    [
        (ANNUAL, "2024-07-01", "2024-07-31", 1),
        (ANNUAL, "", "2024-10-18", 0),
        (QUARTERLY, "2024-12-29", "2025-06-28", 6),
        (filing("8-K", "2024-09-28", 2024, "FY"), "", "2024-09-28", 0),
    ],
)
def test_other_periods_are_not_asked_for(of: Filing, start: str, end: str, months: int) -> None:
    assert period_of(fact(start, end, months), of) is None


def test_dates_are_days_and_years_are_spans() -> None:
    rng = random.Random(0)
    instant = period_of(fact("", "2024-09-28", 0), ANNUAL)
    span = period_of(fact("2023-10-01", "2024-09-28", 12), ANNUAL)
    assert instant is not None and span is not None
    assert {instant.when(rng).split()[0] for _ in range(40)} == {"as", "at"}
    assert {span.when(rng).split()[0] for _ in range(40)} == {"in", "for"}
