"""Questions that need a calculation with two tagged facts: changes, differences and ratios."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from finray.core.data_files import shipped_data
from finray.lab.datasets.xbrl.amounts import Amount, dollars, percentage, ratio
from finray.lab.datasets.xbrl.asked import Candidate

REVENUES = (
    "Revenues",
    "RevenueFromContractWithCustomerExcludingAssessedTax",
    "RevenueFromContractWithCustomerIncludingAssessedTax",
    "SalesRevenueNet",
)
_MAX_GROWTH = 10
"""A measure that grew tenfold was almost zero before, so its percentage means little."""

Comparison = Literal["change", "difference", "average", "total"]
_Span = tuple[dt.date | None, dt.date]
"""Start (None for an instant) and end."""


@dataclass(frozen=True, slots=True)
class Pair:
    """One measure in two periods, the earlier first."""

    before: Candidate
    after: Candidate

    def answer(self, comparison: Comparison) -> tuple[Amount, str]:
        """The gold answer and its program."""
        before, after = self.before.fact, self.after.fact
        match comparison:
            case "change":
                percent = percentage((after.value / before.value - 1) * 100)
                return percent, f"({after.operand} / {before.operand} - 1) * 100"
            case "difference":
                return dollars(after.value - before.value), f"{after.operand} - {before.operand}"
            case "average":
                return dollars((after.value + before.value) / 2), f"({after.operand} + {before.operand}) / 2"
            case "total":
                return dollars(after.value + before.value), f"{after.operand} + {before.operand}"


@dataclass(frozen=True, slots=True)
class Ratio:
    name: str
    definition: str
    form: Literal["percent", "ratio"]
    over: Candidate
    under: Candidate

    def answer(self) -> tuple[Amount, str]:
        """The gold answer and its program."""
        over, under = self.over.fact, self.under.fact
        quotient, program = over.value / under.value, f"{over.operand} / {under.operand}"
        if self.form == "percent":
            return percentage(quotient * 100), f"{program} * 100"
        return ratio(quotient), program


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
    facts: dict[tuple[str, _Span], Candidate] = {}
    for candidate in found:
        if candidate.part is None and candidate.concept is not None and candidate.fact.precise:
            facts[candidate.fact.concept.rpartition(":")[2], (candidate.fact.start, candidate.fact.end)] = candidate
    spans = dict.fromkeys(span for _, span in facts)
    found_ratios = []
    for entry in _load_ratios():
        divisors = REVENUES if entry["under"] == "revenue" else entry["under"]
        for span in spans:
            over, under = _one(facts, entry["over"], span), _one(facts, divisors, span)
            if over is not None and under is not None:
                found_ratios.append(Ratio(entry["name"], entry["definition"], entry["as"], over, under))
    return found_ratios


@cache
def _load_ratios() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = shipped_data(__package__, "ratios.json")
    return found


def _one(facts: Mapping[tuple[str, _Span], Candidate], names: Sequence[str], span: _Span) -> Candidate | None:
    """The fact of one of the concepts ``names`` in ``span``; None unless it is positive and all have its value."""
    there = [facts[name, span] for name in names if (name, span) in facts]
    values = {candidate.fact.value for candidate in there}
    return there[0] if len(values) == 1 and there[0].fact.value > 0 else None
