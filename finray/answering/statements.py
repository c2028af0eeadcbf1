"""The ``local`` preset's answerer: computes numbers from line items or quotes sentences, each with its page."""

from __future__ import annotations

from finray.answering.computed import Computation
from finray.answering.coverage import fitting_period
from finray.answering.quoted import quoted
from finray.core.journal import Journal
from finray.core.plan import Coverage
from finray.core.query import Query
from finray.core.roles import Curation
from finray.core.types import Answer
from finray.index.facts import FilingFacts
from finray.models.encoder import Encoder
from finray.question.arithmetic import ProgramError


class StatementAnswerer:
    """Computes numbers by the program of a plan, and quotes for other questions. Refuses if an operand is missing.

    Plans and their coverage come with the curation (:class:`PlannedAnswerer`). :class:`GuardedAnswerer` checks before
    that the index has the company and the period.
    """

    def __init__(self, facts: FilingFacts, encoder: Encoder) -> None:
        self._facts = facts
        self._encoder = encoder

    async def answer(self, query: Query, curation: Curation, journal: Journal) -> Answer:
        coverage = curation.coverage
        if coverage is None:
            return self._quoted(query, curation, journal)
        if not coverage.absent:
            return self._computed(query, coverage, curation)
        plan, absent = coverage.plan, coverage.absent
        journal.note("answer: no value for " + ", ".join(operand.name for operand in absent))
        if len(plan.operands) == 1 and absent[0].phrase is not None:
            computed = plan.kind != "value" or any(each.spelled for each in curation.plans)
            return self._quoted(query, curation, journal, amount=bool(query.periods) or computed)
        return Answer.refused(*(o.described(self._facts.company_name(o.company)) for o in absent))

    def _computed(self, query: Query, coverage: Coverage, curation: Curation) -> Answer:
        found = coverage.found.values()
        currencies = sorted({item.currency for item in found if item.currency and item.unit.startswith("USD")})
        if len(currencies) > 1:
            return Answer.refused(f"the figures in one currency: they are in {', '.join(currencies)}")
        try:
            return Computation(query, coverage, curation.kept, self._facts).answer()
        except ProgramError as error:
            return Answer.refused(f"a defined result: {error}")

    def _quoted(self, query: Query, curation: Curation, journal: Journal, *, amount: bool = False) -> Answer:
        passages = fitting_period(query, curation.kept, self._facts)
        return quoted(query, passages, self._facts, self._encoder, journal, amount=amount)
