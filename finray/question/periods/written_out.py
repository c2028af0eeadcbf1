"""A question with its periods in full, as people who use no shorthand would write them."""

from __future__ import annotations

from finray.question.periods.joined_periods import separate_periods, separate_quarters
from finray.question.periods.shorthand import plain_periods, plain_units
from finray.question.periods.spelled_years import digit_years


def written_out(text: str) -> str:
    """``text`` with years in digits, no shorthand, and each period of a list by itself."""
    return separate_periods(plain_periods(separate_quarters(plain_units(digit_years(text)))))
