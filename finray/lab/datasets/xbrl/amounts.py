"""Gold values as numbers with a unit, and as text."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

_MILLION = Decimal(1_000_000)


@dataclass(frozen=True, slots=True)
class Amount:
    """``value`` in ``unit`` ("USD", "USD/share", "shares", "percent", "ratio", "number"); ``text`` for people."""

    value: float
    unit: str
    text: str


def amount(value: Decimal, unit: str, *, percent: bool = False) -> Amount | None:
    """The amount of a tagged value; None for units that questions do not use (other currencies, square feet)."""
    if unit == "pure" and percent:
        return percentage(value * 100, places=max(0, _places(value) - 2))
    match unit:
        case "usd":
            return dollars(value)
        case "usd/shares":
            return Amount(float(value), "USD/share", _with_sign(f"{value:,.{max(2, _places(value))}f}"))
        case "shares":
            return Amount(float(value), "shares", f"{_in_millions(value)} shares")
        case "pure":
            return Amount(float(value), "number", f"{value:,.{_places(value)}f}")
    return None


def dollars(value: Decimal) -> Amount:
    return Amount(float(value), "USD", _with_sign(_in_millions(value)))


def percentage(value: Decimal, *, places: int = 1) -> Amount:
    return Amount(float(round(value, 10)), "percent", f"{_rounded(value, places)}%")


def ratio(value: Decimal) -> Amount:
    return Amount(float(round(value, 10)), "ratio", f"{_rounded(value, 2)}")


def _in_millions(value: Decimal) -> str:
    """Whole millions from a billion on, else one decimal unless it is 0; below a million in ones."""
    size = abs(value)
    if size < _MILLION:
        return f"{value:,.{_places(value)}f}"
    millions = value / _MILLION
    if size >= 1000 * _MILLION or millions == millions.to_integral_value():
        return f"{_rounded(millions, 0):,} million"
    return f"{_rounded(millions, 1):,} million"


def _with_sign(text: str) -> str:
    """A printed number with its dollar sign."""
    return f"-${text[1:]}" if text.startswith("-") else f"${text}"


def _rounded(value: Decimal, places: int) -> Decimal:
    return value.quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_UP)


def _places(value: Decimal) -> int:
    exponent = value.normalize().as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0
