"""The facts of a filing for questions in many wordings: by people's names or by their printed row, pairs, ratios."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from decimal import Decimal

from finray.lab.datasets.wordings.patterns import NamedConcept, named_concepts
from finray.lab.datasets.xbrl.asked import Candidate, candidates
from finray.lab.datasets.xbrl.multistep import Pair, Ratio, pairs, ratios
from finray.lab.datasets.xbrl.periods import Period, period_of
from finray.lab.datasets.xbrl.tagged import Fact, FactKey, TaggedFiling

_UNITS = ("usd", "usd/shares", "shares")
_LABEL = re.compile(r"[A-Za-z][A-Za-z ,’'&/-]{8,70}")
_MISLEADING = re.compile(
    r"\b(?:beginning|end of|balances?|less|other|increases?|decreases?|change|basic|diluted|weighted|deferred)\b", re.I
)
"""Rows that mean little without their heading, or whose sign or period may be misread."""
_MOVEMENT = "IncreaseDecrease"
"""Concepts of cash flow rows that have the name of the balance that moved."""
_MIN_PRINTED = 0.5
"""Share of the concept's words that its row must print."""
_CAMEL = re.compile(r"[A-Z][a-z]{3,}")


@dataclass(frozen=True, slots=True)
class Row:
    """A fact by the label of its row."""

    fact: Fact
    period: Period
    label: str


@dataclass(frozen=True, slots=True)
class Askable:
    """``values`` are of the whole company, ``parts`` of a segment, product or place."""

    values: tuple[Candidate, ...]
    parts: tuple[Candidate, ...]
    rows: tuple[Row, ...]
    pairs: tuple[Pair, ...]
    ratios: tuple[Ratio, ...]

    @property
    def facts(self) -> int:
        """The number of distinct facts."""
        facts = [*(each.fact for each in (*self.values, *self.parts)), *(row.fact for row in self.rows)]
        return len({fact.key for fact in facts})


def askable(tagged: TaggedFiling, settled: Collection[FactKey]) -> Askable:
    """Positive facts that have one meaning in the filing, and for which it is the right source (``settled``)."""
    values = {fact.key: fact.value for fact in tagged.facts}
    found = [
        each
        for each in candidates(tagged, settled, named_concepts())
        if each.fact.value > 0
        and isinstance(each.concept, NamedConcept)
        and not _ambiguous(each.fact, each.concept, values)
    ]
    return Askable(
        values=tuple(each for each in found if each.part is None),
        parts=tuple(each for each in found if each.part is not None),
        rows=_rows(tagged, settled),
        pairs=tuple(pairs(found)),
        ratios=tuple(ratios(found)),
    )


def _ambiguous(fact: Fact, concept: NamedConcept, values: Mapping[FactKey, Decimal]) -> bool:
    """Whether the filing has another value for a concept that the same words may mean."""
    return any(values.get((other, *fact.key[1:]), fact.value) != fact.value for other in concept.unless)


def _rows(tagged: TaggedFiling, settled: Collection[FactKey]) -> tuple[Row, ...]:
    """Rows whose label has one value in their period and prints the words of its concept."""
    meanings: dict[object, set[Decimal]] = defaultdict(set)
    rows: list[Row] = []
    for fact in tagged.facts:
        period = period_of(fact, tagged.filing)
        if fact.members or period is None or fact.unit not in _UNITS:
            continue
        for label in dict.fromkeys(place.label for place in fact.places if f"({place.printed}" not in place.line):
            row = Row(fact, period, label)
            meanings[_meaning(row)].add(fact.value)
            rows.append(row)
    return tuple(
        row
        for row in rows
        if len(meanings[_meaning(row)]) == 1
        and row.fact.key in settled
        and row.fact.value > 0
        and _names_its_concept(row)
    )


def _meaning(row: Row) -> object:
    return row.label.lower(), row.period.kind, row.period.fiscal_year, row.period.quarter


def _names_its_concept(row: Row) -> bool:
    label = row.label
    if " " not in label or _MOVEMENT in row.fact.concept or not _LABEL.fullmatch(label) or _MISLEADING.search(label):
        return False
    words = {word.lower() for word in _CAMEL.findall(row.fact.concept.rpartition(":")[2])}
    return sum(word[:5] in label.lower() for word in words) >= _MIN_PRINTED * max(len(words), 1)
