"""Formats numbers in the unit, scale and rounding that a question asks for."""

from __future__ import annotations

from collections.abc import Collection

from finray.core.currencies import UNKNOWN
from finray.core.plan import Unit
from finray.core.query import Shape
from finray.core.vocabulary import SCALES

_SIGNS = {"USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥"}


def shown(value: float, unit: Unit, shape: Shape) -> str:
    """``value`` as people write it: "$1,832 million", "24.26", "1.9%". Percent values are fractions."""
    if unit == "percent":
        return f"{value * 100:,.{_digits(shape, 1)}f}%"
    if unit == "ratio":
        number = f"{value:,.{_digits(shape, 2)}f}"
        # Returns and payouts are often given in percent.
        return f"{number} ({value * 100:,.1f}%)" if abs(value) < 1 else number
    if unit == "days":
        return f"{value:,.{_digits(shape, 2)}f} days"
    if unit == "USD/share":
        return f"{_sign(value)}{_symbol(shape)}{abs(value):,.{_digits(shape, 2)}f}"
    scale = shape.scale or _natural_scale(value)
    if unit == "shares":
        return _shares(value, scale, shape)
    if scale is None:
        return f"{_sign(value)}{_symbol(shape)}{abs(value):,.{_digits(shape, 0)}f}"
    scaled = abs(value) / SCALES[scale]
    natural = 2 if scale in ("billion", "trillion") else (0 if scaled == round(scaled) else 1)
    return f"{_sign(value)}{_symbol(shape)}{scaled:,.{_digits(shape, natural)}f} {scale}"


def shown_move(value: float, unit: Unit, shape: Shape, intents: Collection[str], *, points: bool = False) -> str:
    """A change. If the question asks for a fall, its size: "a decrease of 22.6%". ``points`` are percentage points."""
    if value == 0 or "falls" not in intents or "rises" in intents:
        return _shown(value, unit, shape, points=points)
    return f"{'a decrease' if value < 0 else 'an increase'} of {_shown(abs(value), unit, shape, points=points)}"


def shown_fall(value: float, unit: Unit, shape: Shape, *, points: bool = False) -> str:
    """A change that is given as the earlier figure less the later one."""
    if value == 0:
        return _shown(value, unit, shape, points=points)
    return f"{'a decrease' if value > 0 else 'an increase'} of {_shown(abs(value), unit, shape, points=points)}"


def with_unknown_currency(text: str, unit: Unit, shape: Shape) -> str:
    """``text`` of an answer in ``unit``, which says so if its filing does not state the currency."""
    unknown = shape.currency == UNKNOWN and unit in ("USD", "USD/share")
    return f"{text}, currency not stated" if unknown else text


def may_be_relative(unit: Unit, shape: Shape) -> bool:
    """Whether a change in ``unit`` may be meant in percent as well: the question states no unit for its answer. "Per
    share" is part of a row's name."""
    return (unit in ("USD", "shares") and shape.unit is None) or (
        unit == "USD/share" and shape.unit in (None, "per share")
    )


def shown_relative(old: float, new: float, intents: Collection[str]) -> str:
    """A change of an amount in percent, to follow the amount: ", or 8.3%".

    "" if the percentage means nothing: from zero or less, to less than zero, or no change.
    """
    if old <= 0 or new < 0 or old == new:
        return ""
    moved = (new - old) / old
    falls = "falls" in intents and "rises" not in intents
    return f", or {shown(abs(moved) if falls else moved, 'percent', Shape(None, None))}"


def asked_value(value: float, unit: Unit, shape: Shape) -> tuple[float, str]:
    """(value, unit) for machines, rounded as asked: 1.9 and "percent", money in whole units of its currency ("USD",
    "EUR/share"), or "count" without a currency."""
    result = value * 100 if unit == "percent" else value
    if shape.decimals is not None:
        factor = SCALES[shape.scale] if shape.scale and unit == "USD" else 1.0
        result = round(result / factor, shape.decimals) * factor
    return result, unit.replace("USD", shape.currency or "count")


def _shown(value: float, unit: Unit, shape: Shape, *, points: bool) -> str:
    return f"{value * 100:,.{_digits(shape, 1)}f} percentage points" if points else shown(value, unit, shape)


def _shares(value: float, scale: str | None, shape: Shape) -> str:
    if scale is None:
        return f"{value:,.{_digits(shape, 0)}f} shares"
    scaled = value / SCALES[scale]
    return f"{scaled:,.{_digits(shape, 0 if scaled == round(scaled) else 1)}f} {scale} shares"


def _digits(shape: Shape, default: int) -> int:
    return default if shape.decimals is None else shape.decimals


def _sign(value: float) -> str:
    return "-" if value < 0 else ""


def _natural_scale(value: float) -> str | None:
    if abs(value) >= 1e10:
        return "billion"
    return "million" if abs(value) >= 1e6 else None


def _symbol(shape: Shape) -> str:
    if shape.currency == UNKNOWN:
        return ""
    return _SIGNS.get(shape.currency, f"{shape.currency} ".lstrip())
