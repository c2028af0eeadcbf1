"""Candidates for questions: facts of a filing for which a question has exactly one right answer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from finray.lab.datasets.xbrl.concepts import Concept, humanized, load_concepts
from finray.lab.datasets.xbrl.members import Part, part_of
from finray.lab.datasets.xbrl.periods import Period, period_of
from finray.lab.datasets.xbrl.tagged import Fact, FactKey, TaggedFiling, by_key

_LABELLED_UNITS = ("usd", "usd/shares", "shares")
_NO_LABEL = (
    "IncreaseDecrease", "ProceedsFromPayments", "PaymentsForProceeds", "ParOrStated", "Adjustment", "Reconciliation",
    "NetOfTax", "Reclassification", "Year", "DebtInstrument", "LineOfCredit", "LongTermDebt", "NotesPayable",
    "BusinessCombination", "BusinessAcquisition", "LossContingency", "ShareBasedCompensationArrangement",
)  # fmt: skip
"""Parts of names with an ambiguous sign or meaning, or about one of several loans, deals or cases."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A fact for a question, by any of ``names`` or ``asks`` (whole questions without their period). ``concept`` is
    None if only the words of its XBRL tag name it."""

    fact: Fact
    period: Period
    names: tuple[str, ...]
    concept: Concept | None = None
    part: Part | None = None
    asks: tuple[str, ...] = ()

    @property
    def percent(self) -> bool:
        return self.concept is not None and self.concept.percent


def candidates(
    tagged: TaggedFiling,
    settled: Collection[FactKey] | None = None,
    concepts: Mapping[str, Concept] | None = None,
) -> list[Candidate]:
    """Facts of the company or one part of it whose name and period are unambiguous in this filing.

    ``settled`` are the facts for which this filing is the right source; None means all of them. ``concepts`` replace
    the shipped ones and their names.
    """
    known = load_concepts() if concepts is None else concepts
    facts = by_key(tagged.facts)
    clear = _unmistakable([found for fact in facts.values() if (found := _candidate(tagged, fact, known)) is not None])
    # Check names among all facts first: a fact that another filing settles can still make a name ambiguous here.
    return [found for found in clear if settled is None or found.fact.key in settled]


def _candidate(tagged: TaggedFiling, fact: Fact, concepts: Mapping[str, Concept]) -> Candidate | None:
    period = period_of(fact, tagged.filing)
    concept = concepts.get(fact.concept)
    if period is None or (concept is not None and (fact.start is None) != (concept.period == "instant")):
        return None
    if fact.unit == "usd/shares" and fact.start is not None and not any(place.label for place in fact.places):
        return None  # dividends in prose are often a quarter's, but tagged with the year
    if not fact.members:
        names = concept.names if concept is not None else _label(fact)
        asks = concept.asks if concept is not None else ()
        return Candidate(fact, period, names, concept, asks=asks) if names else None
    if concept is None or not concept.of_parts or fact.value <= 0:
        return None
    part = part_of(fact.members, [tagged.pages[page].text for page in fact.pages])
    return Candidate(fact, period, concept.part_names, concept, part) if part is not None else None


def _label(fact: Fact) -> tuple[str, ...]:
    if fact.unit not in _LABELLED_UNITS or not fact.concept.startswith("us-gaap:"):
        return ()
    if any(piece in fact.concept for piece in _NO_LABEL):
        return ()
    name = humanized(fact.concept)
    return (name,) if name else ()


def _unmistakable(found: Sequence[Candidate]) -> list[Candidate]:
    """Each candidate with the names for which the filing has no other value of the same period and part."""
    values: dict[object, set[Decimal]] = defaultdict(set)
    for candidate in found:
        for name in candidate.names:
            values[_meaning(candidate, name)].add(candidate.fact.value)
    clear = []
    for candidate in found:
        names = tuple(name for name in candidate.names if len(values[_meaning(candidate, name)]) == 1)
        # A free wording may mean any of the names: "bring in" may be any revenue.
        whole = names == candidate.names and candidate.fact.value > 0
        if names:
            clear.append(replace(candidate, names=names, asks=candidate.asks if whole else ()))
    return clear


def _meaning(candidate: Candidate, name: str) -> object:
    period = candidate.period
    part = candidate.part.name.lower() if candidate.part else None
    return name.lower(), part, period.kind, period.fiscal_year, period.quarter


def settled_facts(filings: Iterable[TaggedFiling]) -> Mapping[str, frozenset[FactKey]]:
    """By filing id, the facts for which that filing is the right source, although others of the company print them.

    A fact belongs to the filing of its own period: last year's balance to last year's 10-K, although this year's
    reports print it too. A fact with different values in two filings (restated) belongs to none.
    """
    printed: dict[tuple[str, FactKey], list[tuple[TaggedFiling, Fact]]] = defaultdict(list)
    for tagged in filings:
        company = tagged.filing.cik or tagged.filing.company.lower()
        for key, fact in by_key(tagged.facts).items():
            printed[company, key].append((tagged, fact))
    settled: dict[str, set[FactKey]] = defaultdict(set)
    for (_, key), places in printed.items():
        if len({fact.value for _, fact in places}) == 1:
            home, fact = min(places, key=lambda place: _distance(*place))
            settled[home.filing.filing_id].add(key)
    return {filing_id: frozenset(keys) for filing_id, keys in settled.items()}


def _distance(tagged: TaggedFiling, fact: Fact) -> tuple[int, bool, bool, str]:
    filing = tagged.filing
    days = abs((filing.period_end - fact.end).days) if filing.period_end else 10**6
    return days, filing.is_amendment, not filing.form.startswith("10-K"), filing.filing_id
