"""The roles of the ``local`` preset that need no model: query transformation and evidence curation by rules."""

from __future__ import annotations

import re
from collections.abc import Sequence

from finray.answering.coverage import cover, missing_filing, plan_for, printing
from finray.answering.operands import has_filing
from finray.core.journal import Journal
from finray.core.query import Period, Query
from finray.core.roles import Curation
from finray.core.types import Passage
from finray.filings.canonical import canonical_items
from finray.index.facts import FilingFacts
from finray.question.companies import CompanyCatalog, Mentions
from finray.question.definitions import defined_formula, defined_name
from finray.question.forms import forms_asked
from finray.question.formulas import formulas
from finray.question.mentions import mentions
from finray.question.periods import last_years_in, periods_in
from finray.question.plan import Operand
from finray.question.wording import statements_named, unexplained_words, without_instructions
from finray.retrieval.filing_match import period_fit
from finray.retrieval.unidentified import UnidentifiedFilings

_STATEMENT_NAME = {
    "income": "income statement",
    "balance": "balance sheet",
    "cash_flow": "cash flow statement",
    "comprehensive_income": "statement of comprehensive income",
    "equity": "statement of stockholders' equity",
}


class PlainTransformer:
    """The ablation without query transformation: the question as asked, no structure."""

    async def transform(self, question: str, journal: Journal) -> Query:
        return Query(question=question, text=question)


class RuleTransformer:
    """Companies from the index's own catalog, periods, forms, metrics and the statements that hold them."""

    def __init__(self, catalog: CompanyCatalog, unidentified: UnidentifiedFilings | None = None) -> None:
        self._catalog = catalog
        self._unidentified = unidentified

    async def transform(self, question: str, journal: Journal) -> Query:
        text = without_instructions(question)
        named = statements_named(question)
        items = canonical_items()
        metrics = tuple(dict.fromkeys(mention.key for mention in mentions(question)))
        lines = tuple(
            dict.fromkeys(
                line for key in metrics for line in (formulas()[key].line_items if key in formulas() else (key,))
            )
        )
        implied = tuple(dict.fromkeys(items[line].statement for line in lines))
        searched = text
        companies = self._mentions(text)
        if not companies.known and text != question:
            searched, companies = question, self._mentions(question)
        named_here = companies.spans if searched == text else ()
        spans = [*named_here, *((mention.start, mention.end) for mention in mentions(text)), *_defined(question, text)]
        query = Query(
            question=question,
            text=text,
            companies=companies.known,
            unknown_companies=companies.unknown,
            periods=periods_in(question),
            last_years=last_years_in(text),
            forms=forms_asked(question),
            metrics=metrics,
            statements=tuple(dict.fromkeys((*named, *implied))),
            statements_named=named,
            names=tuple(searched[start:end] for start, end in companies.spans),
            unexplained=unexplained_words(text, spans),
            terms=tuple(items[line].names[0] for line in lines),
        )
        journal.note(
            f"transform: companies {list(query.companies)}, periods {[str(p) for p in query.periods]}, "
            f"forms {list(query.forms)}, metrics {list(query.metrics)}, statements {list(query.statements)}, "
            f"unexplained {list(query.unexplained)}"
        )
        return query


    def _mentions(self, text: str) -> Mentions:
        mentions = self._catalog.mentions(text)
        return mentions if self._unidentified is None else self._unidentified.known_after_all(mentions, text)


def _defined(question: str, text: str) -> list[tuple[int, int]]:
    """Where ``text`` says the name of a metric that the question defines itself."""
    name = defined_name(question)
    if name is None or defined_formula(question) is None:
        return []
    return [match.span() for match in re.finditer(re.escape(name), text, re.I)]


def _in_words(period: Period) -> str:
    """As ``periods_in`` reads it."""
    if period.date is not None:
        return f"the {period.months} months ended {period.date}" if period.months else str(period.date)
    if period.part in (None, "FY"):
        return f"FY{period.year}"
    return f"the {period.months} months of FY{period.year}" if period.months else f"{period.part} {period.year}"


class RuleCurator:
    """Which (company, period, line item) slots the passages cover; asks for those they do not.

    A question that asks for no known metric is judged by its filings alone: its passages are kept while they come
    from a filing of the period asked for.
    """

    def __init__(self, facts: FilingFacts, max_kept: int) -> None:
        self._facts = facts
        self._max_kept = max_kept

    async def curate(self, query: Query, passages: Sequence[Passage], journal: Journal) -> Curation:
        if not passages:
            return Curation((), answerable=False, missing=missing_filing(query))
        plan = plan_for(query, passages, self._facts)
        if plan is None:
            kept = tuple(p for p in passages if period_fit(self._facts.filing(p.filing_id), query.periods)[0] > 0)
            missing = () if kept else missing_filing(query)
            return Curation(kept[: self._max_kept], answerable=bool(kept), missing=missing)
        found, absent = cover(query, plan, passages, self._facts)
        places = {(item.filing.filing_id, item.line_item.page) for item in found.values()}
        kept = tuple(p for p in passages if (p.filing_id, p.page) in places)
        at_hand = {(p.filing_id, p.page) for p in passages}
        looked_up = (
            printing(item, passages, self._facts)
            for item in found.values()
            if (item.filing.filing_id, item.line_item.page) not in at_hand
        )
        kept = (*kept, *dict.fromkeys(p for p in looked_up if p is not None))
        journal.note(f"curate: {len(found)} of {len(plan.operands)} operands found on {len(places)} pages")
        if not absent:
            return Curation(kept[: self._max_kept], answerable=True)
        missing = tuple(self._describe(operand) for operand in absent)
        if all(operand.phrase is not None and self._has_filing(operand, passages) for operand in absent):
            # Its filings were searched whole: another page of them would not help, a sentence of these may.
            fitting = tuple(p for p in passages if period_fit(self._facts.filing(p.filing_id), query.periods)[0] > 0)
            return Curation(fitting[: self._max_kept], answerable=bool(fitting), missing=missing)
        return Curation(kept[: self._max_kept], answerable=False, missing=missing, complementary=self._ask(absent))

    def _describe(self, operand: Operand) -> str:
        return f"{operand.wording} of {self._facts.company_name(operand.company)} for {operand.period}"

    def _has_filing(self, operand: Operand, passages: Sequence[Passage]) -> bool:
        filings = [self._facts.filing(filing_id) for filing_id in dict.fromkeys(p.filing_id for p in passages)]
        return has_filing(operand, [f for f in filings if self._facts.company_of(f.filing_id) == operand.company])

    def _ask(self, absent: Sequence[Operand]) -> str:
        """One question for every missing slot of the first missing company."""
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
