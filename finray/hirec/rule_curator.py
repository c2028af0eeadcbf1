"""Evidence curation by rules: which operands of the plan the passages cover, and what to ask for next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from finray.answering.cells.operands import has_filing
from finray.answering.grounding import printing
from finray.answering.plans.coverage import cover, fitting_period, is_source, plans_for
from finray.answering.presence import missing_filing
from finray.core.journal import Journal
from finray.core.passages import Passage
from finray.core.period import Period
from finray.core.plan import Coverage, Operand
from finray.core.query import Query
from finray.core.roles import FIRST, Curation, Turn
from finray.filings.tables.canonical import canonical_items
from finray.index.reading.facts import FilingFacts

_STATEMENT_NAME = {
    "income": "income statement",
    "balance": "balance sheet",
    "cash_flow": "cash flow statement",
    "comprehensive_income": "statement of comprehensive income",
    "equity": "statement of stockholders' equity",
}


def _in_words(period: Period) -> str:
    """``period`` in words that ``periods_in`` can read."""
    if period.date is not None:
        return f"the {period.months} months ended {period.date}" if period.months else str(period.date)
    if period.part in (None, "FY"):
        return f"FY{period.year}"
    return f"the {period.months} months of FY{period.year}" if period.months else f"{period.part} {period.year}"


class RuleCurator:
    """Checks which operands (company, period, line item) the passages cover, and asks for the others.

    Without a known metric only the filings count: it keeps passages from filings of the period asked for.
    """

    def __init__(self, facts: FilingFacts, max_kept: int) -> None:
        self._facts = facts
        self._max_kept = max_kept

    async def curate(self, query: Query, passages: Sequence[Passage], journal: Journal, turn: Turn = FIRST) -> Curation:
        if not passages:
            return Curation((), answerable=False, missing=missing_filing(query))
        plans = plans_for(query, passages, self._facts)
        if not plans:
            kept = fitting_period(query, passages, self._facts)
            missing = () if kept else missing_filing(query)
            return Curation(kept[: self._max_kept], answerable=bool(kept), missing=missing)
        journal.note(f"curate: {plans[0]}")
        coverage = cover(query, plans[0], passages, self._facts)
        absent = coverage.absent
        kept = self._covering(coverage, passages)
        journal.note(f"curate: {len(coverage.found)} of {len(plans[0].operands)} operands found on {len(kept)} pages")
        planned = Curation(kept[: self._max_kept], answerable=not absent, plans=plans, coverage=coverage)
        if not absent or query.over_all:
            return planned
        planned = replace(planned, missing=tuple(o.described(self._facts.company_name(o.company)) for o in absent))
        if all(operand.phrase is not None and self._has_filing(query, operand, passages) for operand in absent):
            # Their filings were searched whole: other pages would not help, but a sentence of these may.
            fitting = fitting_period(query, passages, self._facts)
            return replace(planned, kept=fitting[: self._max_kept], answerable=bool(fitting))
        return replace(planned, complementary=self._ask(absent))

    def _covering(self, coverage: Coverage, passages: Sequence[Passage]) -> tuple[Passage, ...]:
        """The passages whose pages hold the operands; pages without a passage are read from the index."""
        places = {(item.filing.filing_id, item.line_item.page) for item in coverage.found.values()}
        at_hand = {(p.filing_id, p.page) for p in passages}
        looked_up = (
            printing(item, passages, self._facts)
            for item in coverage.found.values()
            if (item.filing.filing_id, item.line_item.page) not in at_hand
        )
        kept = (p for p in passages if (p.filing_id, p.page) in places)
        return (*kept, *dict.fromkeys(p for p in looked_up if p is not None))

    def _has_filing(self, query: Query, operand: Operand, passages: Sequence[Passage]) -> bool:
        """Whether the filing is there that may print the operand, or the one that the question names."""
        filings = [self._facts.filing(filing_id) for filing_id in dict.fromkeys(p.filing_id for p in passages)]
        own = [f for f in filings if self._facts.company_of(f.filing_id) == operand.company]
        return any(is_source(filing, query.source) for filing in own) or has_filing(operand, own)

    def _ask(self, absent: Sequence[Operand]) -> str:
        """One question for all missing operands of the first missing company."""
        company = absent[0].company
        mine = [operand for operand in absent if operand.company == company]
        items = canonical_items()
        lines = " and ".join(dict.fromkeys(operand.wording for operand in mine))
        periods = ", ".join(
            dict.fromkeys(_in_words(o.period) for o in sorted(mine, key=lambda o: (o.period.year, str(o.period))))
        )
        sheets = " and ".join(dict.fromkeys(_STATEMENT_NAME[items[o.item].statement] for o in mine if o.phrase is None))
        source = f" according to the {sheets}" if sheets else ""
        return f"What was the {lines} of {self._facts.company_name(company)} in {periods}{source}?"
