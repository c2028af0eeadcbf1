"""The contexts and units to which the inline XBRL tags of a filing refer, and names of tags in words."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache

from finray.core.currencies import CURRENCIES

PERCENT = -2
"""``scale`` of a tag whose number is printed in percent."""
_NO_PART = re.compile(r":(?:OperatingSegments|ReportableSegment\w*|ConsolidatedEntities|ParentCompany)Member$")
"""Members that describe consolidation, not a part of the company."""
_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z]+|[a-z]+|\d+")


@dataclass(frozen=True, slots=True)
class Context:
    """The period of a fact, and the part of the company that it is about, if not the whole.

    An instant has 0 months and no ``start``. ``members`` name the part (a segment, a class of stock) by the qualified
    names of axis and member, sorted.
    """

    end: dt.date
    months: int
    start: dt.date | None = None
    members: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Tags:
    """A filing's contexts and units by id."""

    contexts: Mapping[str, Context] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)


def item_unit(name: str, scale: int = 0) -> str:
    """The unit of a line item for the unit ``name`` of its tag: "USD", "USD/share", "shares", "percent" for a pure
    number printed in hundredths (``scale`` -2), else "pure": ratios, and counts of anything ("segment")."""
    over, _, under = name.partition("/")
    currency = over.upper() if over.upper() in CURRENCIES else None
    if currency and under.upper() not in CURRENCIES:
        return f"{currency}/{'share' if under == 'shares' else under}" if under else currency
    if name == "shares":
        return name
    return "percent" if scale == PERCENT else "pure"


def in_unit(value: float, unit: str) -> float:
    """A tag's ``value`` in the ``unit`` of its line item: 0.07 is 7 percent."""
    return float(Decimal(repr(value)).scaleb(-PERCENT)) if unit == "percent" else value


def words_of_name(name: str) -> list[str]:
    """The words of a qualified name: "us-gaap:OtherLiabilitiesCurrent" has "Other", "Liabilities" and "Current"."""
    return _CAMEL.findall(name.rpartition(":")[2])


@lru_cache(maxsize=4096)  # a filing has thousands of facts in hundreds of contexts
def part_of(context: Context) -> str | None:
    """The part of the company that ``context`` is about, in words ("Americas Segment"); None for the whole."""
    names = [
        " ".join(words_of_name(member.removesuffix("Member")))
        for _, member in context.members
        if not _NO_PART.search(member)
    ]
    return ", ".join(name for name in names if name) or None
