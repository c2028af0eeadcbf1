"""Questions that need a calculation with two tagged facts: changes, differences and ratios."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from importlib import resources
from typing import Literal

from finray.lab.datasets.xbrl.asked import Candidate
from finray.lab.datasets.xbrl.tagged import Fact

REVENUES = (
    "Revenues",
    "RevenueFromContractWithCustomerExcludingAssessedTax",
    "RevenueFromContractWithCustomerIncludingAssessedTax",
    "SalesRevenueNet",
)
_MAX_GROWTH = 10
"""A measure that grew tenfold was almost zero before, so its percentage means little."""


@dataclass(frozen=True, slots=True)
class Pair:
    """One measure in two periods, the earlier first."""

    before: Candidate
    after: Candidate


@dataclass(frozen=True, slots=True)
class Ratio:
    name: str
    definition: str
    form: Literal["percent", "ratio"]
    over: Candidate
    under: Candidate


def pairs(found: Sequence[Candidate]) -> list[Pair]:
    """Positive, precise dollar amounts of the whole company for a period and the same period a year earlier."""
    amounts = {
        (candidate.fact.concept, candidate.period.kind, candidate.period.fiscal_year): candidate
        for candidate in found
        if candidate.concept is not None and candidate.part is None
        and candidate.fact.unit == "usd" and candidate.fact.value > 0 and candidate.fact.precise
    }  # fmt: skip
    return [
        Pair(before, after)
        for (concept, kind, year), after in amounts.items()
        if (before := amounts.get((concept, kind, year - 1))) is not None
        and before.fact.value != after.fact.value
        and max(before.fact.value, after.fact.value) < _MAX_GROWTH * min(before.fact.value, after.fact.value)
    ]


def ratios(found: Sequence[Candidate]) -> list[Ratio]:
    """Known ratios of two facts of the same period. Ratios are skipped if a measure is ambiguous in the filing (total
    revenue and revenue from customers)."""
    facts: dict[tuple[str, object], Candidate] = {}
    for candidate in found:
        if candidate.part is None and candidate.concept is not None and candidate.fact.precise:
            facts[candidate.fact.concept.rpartition(":")[2], _span(candidate.fact)] = candidate
    spans = dict.fromkeys(span for _, span in facts)
    result = []
    for entry in load_ratios():
        under = REVENUES if entry["under"] == "revenue" else tuple(entry["under"])
        for span in spans:
            over_fact, under_fact = (_one(facts, names, span) for names in (tuple(entry["over"]), under))
            if over_fact is not None and under_fact is not None:
                form: Literal["percent", "ratio"] = "ratio" if entry["as"] == "ratio" else "percent"
                result.append(Ratio(entry["name"], entry["definition"], form, over_fact, under_fact))
    return result


@cache
def load_ratios() -> list[dict[str, str]]:
    found: list[dict[str, str]] = json.loads((resources.files(__package__) / "ratios.json").read_text(encoding="utf-8"))
    return found


def _one(facts: dict[tuple[str, object], Candidate], names: Sequence[str], span: object) -> Candidate | None:
    there = [facts[name, span] for name in names if (name, span) in facts]
    values: set[Decimal] = {candidate.fact.value for candidate in there}
    return there[0] if len(values) == 1 and there[0].fact.value > 0 else None


def _span(fact: Fact) -> object:
    return fact.start, fact.end
