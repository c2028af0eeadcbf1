"""Adds the plans and their coverage to curations, for an answerer of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from finray.answering.plans.coverage import cover, plans_for
from finray.answering.plans.units import answers_unit
from finray.core.journal import Journal
from finray.core.plan import Coverage, Plan
from finray.core.predictions import Answer
from finray.core.query import Query
from finray.core.roles import Answerer, Curation
from finray.index.reading.facts import FilingFacts


class PlannedAnswerer:
    """Adds plans if the curator made none, as for the last retrieval, which is not curated. Searches whole filings for
    operands that are not in the passages, and keeps the coverage of a curator that found every operand."""

    def __init__(self, inner: Answerer, facts: FilingFacts) -> None:
        self._inner = inner
        self._facts = facts

    async def answer(self, query: Query, curation: Curation, journal: Journal) -> Answer:
        plans = curation.plans or plans_for(query, curation.kept, self._facts)
        coverage = curation.coverage
        if plans and (coverage is None or coverage.absent or not answers_unit(query, coverage)):
            coverage = self._covered(query, plans, curation)
        return await self._inner.answer(query, replace(curation, plans=plans, coverage=coverage), journal)

    def _covered(self, query: Query, plans: Sequence[Plan], curation: Curation) -> Coverage:
        """The first plan with all operands and the unit asked for, else the first with all operands, else the first."""
        tried: list[Coverage] = []
        for plan in plans:
            tried.append(cover(query, plan, curation.kept, self._facts, anywhere=True))
            if not tried[-1].absent and answers_unit(query, tried[-1]):
                return tried[-1]
        return next((coverage for coverage in tried if not coverage.absent), tried[0])
