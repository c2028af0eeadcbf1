"""The inline XBRL tags of a filing as its tables refer to them: contexts and units, and the words of names."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_NO_PART = re.compile(r":(?:OperatingSegments|ReportableSegment\w*|ConsolidatedEntities|ParentCompany)Member$")
"""Members that describe consolidation, not a part of the company."""
_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z]+|[a-z]+|\d+")


@dataclass(frozen=True, slots=True)
class Context:
    """A fact's context: end and months of its period, and the part of the company that it is about, if any.

    An instant has 0 months and no ``start``. ``members`` name the part (a segment, a class of stock): (axis, member)
    as qualified names, sorted.
    """

    end: dt.date
    months: int
    start: dt.date | None = None
    members: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Tags:
    """A filing's contexts and units by id, as its tags refer to them."""

    contexts: Mapping[str, Context] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)


def words_of_name(name: str) -> list[str]:
    """ "us-gaap:OtherLiabilitiesCurrent" as ["Other", "Liabilities", "Current"]."""
    return _CAMEL.findall(name.rpartition(":")[2])


def part_of(context: Context) -> str | None:
    """The part of the company that ``context`` is about, in words ("Americas segment"); None for the whole."""
    names = [
        " ".join(words_of_name(member.removesuffix("Member")))
        for _, member in context.members
        if not _NO_PART.search(member)
    ]
    return ", ".join(name for name in names if name) or None
