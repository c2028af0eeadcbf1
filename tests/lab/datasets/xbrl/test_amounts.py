from __future__ import annotations

from decimal import Decimal

import pytest

from finray.lab.datasets.xbrl.amounts import amount, percentage, ratio
from finray.lab.evaluation.numbers import equal_at_digits, only_number


@pytest.mark.parametrize(
    ("value", "unit", "text", "named"),
    [
        ("391035000000", "usd", "$391,035 million", "USD"),
        ("39000966000", "usd", "$39,001 million", "USD"),
        ("43876000", "usd", "$43.9 million", "USD"),
        ("-343000000", "usd", "-$343 million", "USD"),
        ("512", "usd", "$512", "USD"),
        ("6.08", "usd/shares", "$6.08", "USD/share"),
        ("0.5", "usd/shares", "$0.50", "USD/share"),
        ("15343783000", "shares", "15,344 million shares", "shares"),
        ("5", "pure", "5", "number"),
    ],
)
def test_amounts_read_as_a_person_writes_them(value: str, unit: str, text: str, named: str) -> None:
    found = amount(Decimal(value), unit)
    assert found is not None
    assert (found.text, found.unit, found.value) == (text, named, float(value))
    reference, exact = only_number(found.text), only_number(value)
    assert reference is not None and exact is not None, "the evaluation reads it as one number"
    assert equal_at_digits(reference, exact)


def test_shares_of_a_whole_are_percent() -> None:
    rate = amount(Decimal("0.241"), "pure", percent=True)
    assert rate is not None
    assert (rate.text, rate.value, rate.unit) == ("24.1%", 24.1, "percent")
    assert (percentage(Decimal("-2.84")).text, ratio(Decimal("1.257")).text) == ("-2.8%", "1.26")


def test_other_units_are_not_asked_for() -> None:
    assert amount(Decimal(5), "eur") is None
