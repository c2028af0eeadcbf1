"""People's names for XBRL concepts.

``concepts.json`` holds the common us-gaap concepts with analysts' words for them, not the labels in filings: any
lexical search would find a question in the words of the page.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

from finray.core.data_files import shipped_data

_CAMEL = re.compile(r"[A-Z]{2,}(?=[A-Z][a-z]|$|\d)|[A-Z][a-z]+|[A-Z]|\d+|[a-z]+")
_MAX_WORDS = 9
_SAYABLE = re.compile(r"(?!Other\Z)[A-Za-z]{3,}")
_SMALL = frozenset(("And", "At", "By", "For", "From", "In", "Of", "On", "Or", "To", "With"))
_WHOLE = re.compile(r"\b(?:top line|in total|totals?\Z)\b")


@dataclass(frozen=True, slots=True)
class Concept:
    """``names`` are noun phrases; ``asks`` whole questions without their period, with ``{company}`` in them.

    ``of_parts``: people ask for it by segment, product or place. ``percent``: it is a share (0.21) that people write as
    21%.
    """

    concept: str
    period: Literal["duration", "instant"]
    names: tuple[str, ...]
    asks: tuple[str, ...] = ()
    of_parts: bool = False
    percent: bool = False

    @property
    def part_names(self) -> tuple[str, ...]:
        """Names that also suit a segment, product or place: its assets, not its total assets or its top line."""
        return tuple(dict.fromkeys(name.removeprefix("total ") for name in self.names if not _WHOLE.search(name)))


@cache
def load_concepts() -> dict[str, Concept]:
    """The shipped concepts by qualified name ("us-gaap:Assets")."""
    return {
        entry["concept"]: Concept(
            concept=entry["concept"],
            period=entry["period"],
            names=tuple(entry["names"]),
            asks=tuple(entry.get("ask", ())),
            of_parts=entry.get("segment", False),
            percent=entry.get("unit") == "percent",
        )
        for entry in shipped_data(__package__, "concepts.json")
    }


def humanized(concept: str) -> str | None:
    """The name of a concept in words: "us-gaap:OperatingLeaseCost" is "operating lease cost". None for very long names,
    and for those with "Other", numbers or abbreviations ("FvNi")."""
    words = camel_words(concept.rpartition(":")[2])
    if not 2 <= len(words) <= _MAX_WORDS or not all(_SAYABLE.fullmatch(word) or word in _SMALL for word in words):
        return None
    return " ".join(word if word.isupper() and len(word) > 1 else word.lower() for word in words)


def camel_words(name: str) -> list[str]:
    """The words of a name in camel case: "NetCashFVNI2" is "Net", "Cash", "FVNI", "2"."""
    words: list[str] = _CAMEL.findall(name)
    return words
