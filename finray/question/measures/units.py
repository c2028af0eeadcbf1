"""The unit of the figure that a question asks for: money, a percentage, a number of shares (units.toml)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import cast

from finray.core.data_files import shipped_data
from finray.core.plan import Unit
from finray.core.query import AskedUnit

_FITTING: Mapping[AskedUnit, frozenset[Unit]] = {
    "money": frozenset({"USD"}),
    "percent": frozenset({"percent", "ratio"}),
    "ratio": frozenset({"percent", "ratio"}),
    "per share": frozenset({"USD/share"}),
    "shares": frozenset({"shares"}),
    "count": frozenset({"shares"}),
    "days": frozenset({"days"}),
}
"""Units of results that answer a question for each asked unit; a ratio may be written as a percentage."""


def asked_unit(question: str) -> AskedUnit | None:
    """The unit that ``question`` asks for; None if it leaves it open or asks for several figures."""
    known = _patterns()
    for strength in ("stated", "head"):
        found = {unit for unit, pattern in known[strength].items() if pattern.search(question)}
        if strength == "stated" and found == {"money"} and known["head"]["per share"].search(question):
            found = {"per share"}
        if found:
            return found.pop() if len(found) == 1 else None
    return None


def fits(asked: AskedUnit | None, unit: Unit, *, money: bool = True) -> bool:
    """Whether a result in ``unit`` answers a question for ``asked``; without ``money`` an amount is a plain number."""
    if asked is None:
        return True
    if unit == "USD" and not money:
        return asked in ("count", "shares", "days", "ratio")
    return unit in _FITTING[asked]


@cache
def _patterns() -> Mapping[str, Mapping[AskedUnit, re.Pattern[str]]]:
    """The patterns of each strength ("stated", "head"), by unit."""
    words = shipped_data("finray.question.measures", "units.toml")
    return {
        strength: {
            cast(AskedUnit, unit): re.compile("|".join(entry[strength]), re.I)
            for unit, entry in words.items()
            if strength in entry
        }
        for strength in ("stated", "head")
    }
