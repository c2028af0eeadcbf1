"""Scale and unit of printed figures."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.filings.tables.scales import Scale, read_scale, row_unit


@pytest.mark.parametrize(
    ("text", "money", "shares"),
    [
        ("(in millions, except per share data)", 10**6, 10**6),
        ("(In thousands, except share and per share data)", 10**3, 1),
        ("(Dollars in billions)", 10**9, 10**9),
        ("($ in millions, except share amounts)", 10**6, 1),
        ("(MILLIONS, EXCEPT PER COMMON SHARE DATA)", 10**6, 10**6),
        (
            "(In millions, except number of shares, which are reflected in thousands, and per-share amounts)",
            10**6,
            10**3,
        ),
        ("(000's omitted)", 10**3, 10**3),
        ("Millions of dollars", 10**6, 10**6),
    ],
)
def test_announced_scales(text: str, money: int, shares: int) -> None:
    scale = read_scale(text)
    assert scale is not None
    assert (scale.money, scale.shares) == (money, shares)


@pytest.mark.parametrize(
    ("text", "currency"),
    [
        ("(in millions of C$)", "CAD"),
        ("(A$ in thousands)", "AUD"),
        ("(in millions of US$)", "USD"),
        ("(in millions of C$, except US$ notes)", "CAD"),
        ("(in millions of euros)", "EUR"),
    ],
)
def test_the_currency_of_a_scale(text: str, currency: str) -> None:
    scale = read_scale(text)
    assert scale is not None and scale.currency == currency


@pytest.mark.parametrize(
    "text",
    [
        "",
        "We served millions of customers",
        "Years ended December 31, 2022",
        "a repurchase of up to $15.0\nbillion of common stock",
        "charges of approximately $1.6 \nbillion, of which we expect",
    ],
)
def test_no_scale(text: str) -> None:
    assert read_scale(text) is None


def test_a_scale_below_a_line_of_figures_is_a_heading() -> None:
    scale = read_scale("Years ended 2023 and 2022.\nMillions of dollars")
    assert scale is not None
    assert scale.money == 10**6


def test_figures_printed_in_full_are_not_in_millions() -> None:
    assert row_unit("Total", None, 3_522_218_861.0, 0, Scale(10**6, 10**6)) == ("USD", 1)
    assert row_unit("Total assets", None, 3_743_567.0, 0, Scale(10**6, 10**6)) == ("USD", 10**6)
    assert row_unit("Total (in millions)", None, 30_000_000.0, 0, Scale(1, 1)) == ("USD", 10**6)


def test_units_of_rows() -> None:
    scale = Scale(10**6, 10**6)
    assert row_unit("Net sales", None, 5.0, 0, scale) == ("USD", 10**6)
    assert row_unit("Diluted earnings per share1", None, 2.46, 2, scale) == ("USD/share", 1)
    assert row_unit("Class A", "Diluted weighted-average shares outstanding", 2029.0, 0, scale) == ("shares", 10**6)
    assert row_unit("Common stock, $0.01 par value per share", None, 12.0, 0, scale) == ("USD", 10**6)
    used = "Shares used in computing per share amounts:"
    assert row_unit("Basic earnings per common share", used, 1219.0, 0, scale) == ("shares", 10**6)
    assert row_unit("Net income", used, 1219.0, 0, scale) == ("USD", 10**6)
    assert row_unit("Stock options", "Dilutive potential common shares:", 499.0, 0, scale) == ("shares", 10**6)
    stock = "Common stock and paid-in capital - shares authorized 24,000; outstanding 8,027"
    assert row_unit(stock, None, 68_465.0, 0, scale) == ("USD", 10**6)
    assert row_unit("Shares outstanding at June 30, 2022", None, 412.0, 0, scale) == ("shares", 10**6)


@given(st.text(max_size=120), st.text(max_size=60), st.floats(allow_nan=False, allow_infinity=False), st.integers(0, 4))
def test_any_label_has_a_unit(label: str, section: str, value: float, decimals: int) -> None:
    unit, multiplier = row_unit(label, section, value, decimals, read_scale(label) or Scale())
    assert unit and multiplier >= 1
