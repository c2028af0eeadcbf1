"""The wordings that ship as TOML files, one for each part of the split, and people's names for us-gaap concepts.

``develop.toml`` holds wordings for every part, ``validate.toml`` and ``final.toml`` those that occur only there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal, get_args

from finray.core.data_files import shipped_data
from finray.lab.datasets.xbrl.concepts import Concept, load_concepts

Part = Literal["develop", "validate", "final"]
PARTS: Final[tuple[Part, ...]] = get_args(Part)


@dataclass(frozen=True, slots=True)
class Wordings:
    """``patterns`` by kind ("value", "change", "before", …), ``periods`` by the kind of period; ``listed`` name a
    company by its ticker."""

    patterns: Mapping[str, tuple[str, ...]]
    periods: Mapping[str, tuple[str, ...]]
    dates: tuple[str, ...]
    listed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NamedConcept(Concept):
    """A concept with names of this package. ``for_parts`` suit a segment, product or place; the same words may mean the
    concepts in ``unless``."""

    for_parts: tuple[str, ...] = ()
    unless: frozenset[str] = frozenset()
    means: str = ""

    @property
    def part_names(self) -> tuple[str, ...]:
        return self.for_parts


@cache
def load_wordings(part: Part) -> Wordings:
    content = shipped_data(__package__, f"{part}.toml")
    periods = {kind: tuple(forms) for kind, forms in content.pop("periods").items()}
    listed = tuple(content.pop("companies")["listed"])
    return Wordings({kind: tuple(each) for kind, each in content.items()}, periods, periods.pop("dates"), listed)


@cache
def named_concepts() -> Mapping[str, Concept]:
    """The concepts that have names here, by qualified name."""
    known = load_concepts()
    found: dict[str, Concept] = {}
    for local, entry in shipped_data(__package__, "names.toml").items():
        concept = known[f"us-gaap:{local}"]
        found[concept.concept] = NamedConcept(
            concept=concept.concept,
            period=concept.period,
            names=tuple(entry["names"]),
            of_parts="parts" in entry,
            percent=concept.percent,
            for_parts=tuple(entry.get("parts", ())),
            unless=frozenset(f"us-gaap:{other}" for other in entry.get("unless", ())),
            means=entry.get("means", ""),
        )
    return found


@cache
def fixed_parts() -> Mapping[str, Part]:
    """The part of each company that another question set has placed, by CIK."""
    placed = shipped_data(__package__, "companies.toml")["parts"]
    return {str(cik): part for part in PARTS for cik in placed[part]}


@cache
def exchanges() -> Mapping[str, str]:
    """The exchange of each known ticker."""
    found: Mapping[str, str] = shipped_data(__package__, "companies.toml")["exchanges"]
    return found
