"""The digits of printed figures, by which quotations of one figure are recognized however they are written."""

from __future__ import annotations

import re


def digits(text: str) -> str:
    """All digits of ``text``: "2826" of "$2,826"."""
    return re.sub(r"\D", "", text)


def significant_digits(text: str) -> str:
    """Its digits without leading and trailing zeros, which are the same at every scale: "2826" of "2,826,000"."""
    return digits(text).strip("0")


def decimal_digits(text: str) -> str:
    """Its digits and decimal point: "3.7725" of "$3.7725 billion"."""
    return re.sub(r"[^\d.]", "", text).strip(".")
