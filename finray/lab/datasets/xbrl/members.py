"""The filing's own name for the segment, product or place of a fact."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from finray.lab.datasets.xbrl.concepts import camel_words
from finray.lab.datasets.xbrl.tagged import Members

Kind = Literal["segment", "product", "place"]

_AXES: Mapping[str, Kind] = {
    "us-gaap:StatementBusinessSegmentsAxis": "segment",
    "srt:ProductOrServiceAxis": "product",
    "us-gaap:ProductOrServiceAxis": "product",
    "srt:StatementGeographicalAxis": "place",
    "us-gaap:StatementGeographicalAxis": "place",
}
_COUNTRIES = {
    "AU": "Australia", "AT": "Austria", "BE": "Belgium", "BR": "Brazil", "CA": "Canada", "CH": "Switzerland",
    "CL": "Chile", "CN": "China", "CO": "Colombia", "DE": "Germany", "DK": "Denmark", "ES": "Spain", "FR": "France",
    "GB": "United Kingdom", "HK": "Hong Kong", "ID": "Indonesia", "IE": "Ireland", "IL": "Israel", "IN": "India",
    "IT": "Italy", "JP": "Japan", "KR": "South Korea", "MX": "Mexico", "MY": "Malaysia", "NL": "Netherlands",
    "NO": "Norway", "NZ": "New Zealand", "PL": "Poland", "SE": "Sweden", "SG": "Singapore", "TH": "Thailand",
    "TR": "Turkey", "TW": "Taiwan", "US": "United States", "VN": "Vietnam", "ZA": "South Africa",
}  # fmt: skip
_VAGUE = frozenset(
    (
        "other", "all other", "corporate", "corporate and other", "total", "segment", "segments", "non us",
        "international", "domestic",
    )
)  # fmt: skip
_SEGMENT_WORD = re.compile(r"(?<!\s)\s++segments?\Z", re.IGNORECASE)
_GAP = r"[\W_]{0,3}"


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the company with its printed ``name`` ("iPhone", "Greater China")."""

    kind: Kind
    name: str


def part_of(members: Members, texts: Sequence[str]) -> Part | None:
    """The part of a single member, in the words of ``texts`` (the pages that print the fact).

    None for other axes, for several members, and if no text prints the member's name, since a reader of the filing
    cannot know its qualified name.
    """
    if len(members) != 1 or members[0][0] not in _AXES:
        return None
    axis, member = members[0]
    kind = _AXES[axis]
    prefix, _, local = member.partition(":")
    if prefix == "country":
        country = _COUNTRIES.get(local)
        printed = country is not None and any(country.lower() in text.lower() for text in texts)
        return Part("place", country) if country is not None and printed else None
    words = camel_words(re.sub(r"Member$", "", local))
    for candidate in _shorter(words):
        found = _printed(candidate, texts)
        if found is not None:
            name = _SEGMENT_WORD.sub("", found)
            return None if name.lower() in _VAGUE else Part(kind, name)
    return None


def _shorter(words: list[str]) -> list[list[str]]:
    """The words, and the words without "segment", "revenue" and the like at the end."""
    candidates = [words]
    while candidates[-1] and candidates[-1][-1].lower() in (
        "segment", "segments", "revenue", "revenues", "product", "products", "service", "services", "sales", "business",
    ):  # fmt: skip
        candidates.append(candidates[-1][:-1])
    return [candidate for candidate in candidates if sum(map(len, candidate)) >= 3]


def _printed(words: Sequence[str], texts: Sequence[str]) -> str | None:
    """The most frequent printed form of the member's words, with any separators ("and" may be "&")."""
    parts = ["(?:and|&)" if word.lower() == "and" else re.escape(word) for word in words]
    pattern = re.compile(rf"(?<![A-Za-z0-9]){_GAP.join(parts)}(?![A-Za-z0-9])", re.IGNORECASE)
    seen = Counter(" ".join(match[0].split()) for text in texts for match in pattern.finditer(text))
    shown = [(count, name) for name, count in seen.items() if "|" not in name and name != name.upper()] or [
        (count, name) for name, count in seen.items() if "|" not in name
    ]
    return max(shown)[1] if shown else None
