"""Which operands of a question's plans the passages cover. Shared by the rule-based curator and answerer."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from finray.answering.cells.derived_periods import with_derived
from finray.answering.cells.operands import find_operand, find_phrase, in_row_of
from finray.core.filing import Filing, LineItem
from finray.core.passages import Passage
from finray.core.period import Period
from finray.core.plan import Coverage, Found, Operand, Plan
from finray.core.query import Query
from finray.filings.tables.canonical import DATE_TOLERANCE_DAYS
from finray.index.reading.facts import FilingFacts
from finray.question.measures.phrase import phrase_of
from finray.question.plans.operations import plans_of
from finray.retrieval.filing_match import period_fit


def plans_for(query: Query, passages: Sequence[Passage], facts: FilingFacts) -> tuple[Plan, ...]:
    """The plans of ``query`` for the companies and periods of ``passages``, preferably from filings of its period.

    If the question names no company, the best passage's company is meant; if it names no period, the latest one of the
    company's passages, years before quarters.
    """
    fitting = fitting_period(query, passages, facts) or passages
    if not fitting or not query.measures:
        return ()
    companies = query.companies or (facts.company_of(fitting[0].filing_id),)
    return plans_of(query, companies, latest_period(fitting, companies, facts))


def latest_period(passages: Sequence[Passage], companies: Collection[str], facts: FilingFacts) -> Period | None:
    """The latest period of the passages' filings of ``companies``, years before quarters."""
    filings = (facts.filing(p.filing_id) for p in passages if facts.company_of(p.filing_id) in companies)
    dated = [(f.fiscal_period == "FY", f.fiscal_year, f.fiscal_period) for f in filings if f.fiscal_year is not None]
    newest = max(dated, key=lambda period: period[:2], default=None)
    return Period(newest[1], newest[2]) if newest is not None else None


def fitting_period(query: Query, passages: Sequence[Passage], facts: FilingFacts) -> tuple[Passage, ...]:
    """The passages from filings that may print figures of the period asked for."""
    return tuple(p for p in passages if period_fit(facts.filing(p.filing_id), query.filed)[0] > 0)


def cover(
    query: Query, plan: Plan, passages: Sequence[Passage], facts: FilingFacts, *, anywhere: bool = False
) -> Coverage:
    """The operands of ``plan`` that the passages cover: phrases anywhere in the passages' filings, named metrics on the
    passages' pages. With ``anywhere`` named metrics in the whole filings too, outside the statements last."""
    ranks: dict[tuple[str, int], int] = {}
    for passage in passages:
        ranks.setdefault((passage.filing_id, passage.page), len(ranks))
    line_items = facts.line_items({p.filing_id for p in passages})
    # A formula combines rows of the statements; a row of a note does not fit among them.
    plain = plan.spelled or len({operand.item for operand in plan.operands}) == 1
    search = _Search(query, ranks, anywhere=anywhere, plain=plain)
    found: dict[str, Found] = {}
    absent: list[Operand] = []
    for operand in plan.operands:
        filings = [
            facts.filing(filing_id) for filing_id in line_items if facts.company_of(filing_id) == operand.company
        ]
        hit = search.find(operand, filings, line_items)
        if hit is None:
            absent.append(operand)
        else:
            found[operand.name] = hit
    coverage = _in_one_row(plan, found, absent, line_items)
    if not anywhere or not coverage.absent:
        return coverage

    def in_filings_of(operand: Operand, year: int) -> Found | None:
        filings = [each for each in facts.filings_of(operand.company) if each.fiscal_year == year]
        return search.find(operand, filings, facts.line_items({each.filing_id for each in filings}))

    return with_derived(coverage, in_filings_of)


class _Search:
    """Finds operands in filings. ``ranks`` has the passages' pages, ``plain`` operands may be rows of notes."""

    def __init__(self, query: Query, ranks: Mapping[tuple[str, int], int], *, anywhere: bool, plain: bool) -> None:
        self._query, self._ranks, self._anywhere, self._plain = query, ranks, anywhere, plain
        self._amended = any(form.endswith("/A") for form in query.forms)

    def find(
        self, operand: Operand, filings: Sequence[Filing], line_items: Mapping[str, Sequence[LineItem]]
    ) -> Found | None:
        named = [filing for filing in filings if is_source(filing, self._query.source)]
        ahead, filings = bool(named), named or filings
        phrase, ranks, amended = operand.phrase, self._ranks, self._amended
        if phrase is None:
            called = _called(self._query, operand.item)
            hit = find_operand(operand, filings, line_items, ranks.keys(), amended=amended, called=called)
            if hit is None and self._anywhere:
                hit = find_operand(operand, filings, line_items, amended=amended, called=called)
            phrase = phrase_of(operand.wording) if hit is None and self._anywhere and self._plain else None
            if phrase is None:
                return hit
            phrase = replace(phrase, stated=True)  # revenue is money: a percentage is another figure
        return find_phrase(operand, phrase, filings, line_items, ranks, amended=amended, ahead=ahead)


def _called(query: Query, item: str) -> str:
    """The question's words for a line item; "" if it names only a metric made of it, or the item in several ways."""
    words = {query.text[span.start : span.end] for span in query.spans if span.kind == "metric" and span.value == item}
    return words.pop() if len(words) == 1 else ""


def is_source(filing: Filing, source: Sequence[Period]) -> bool:
    """Whether ``filing`` is one that the question names by one of ``source``."""
    for period in source:
        if period.date is not None:
            days = [each for each in (filing.period_end, filing.filed_at) if each is not None]
            if any(abs((day - period.date).days) <= DATE_TOLERANCE_DAYS for day in days):
                return True
        elif filing.fiscal_year == period.year:
            annual = period.part in (None, "FY")
            if filing.fiscal_period in (("FY", "Q4") if annual else (period.part,)):
                return True
    return False


def _in_one_row(
    plan: Plan, found: dict[str, Found], absent: list[Operand], line_items: Mapping[str, Sequence[LineItem]]
) -> Coverage:
    """``found`` with the periods of a phrase read from one row, if one filing prints them: a row that is sure for one
    year is sure for the year beside it, and a dash there is a zero."""
    result: dict[str, Found] = dict(found)
    missing: list[Operand] = []
    for operand in plan.operands:
        if operand.phrase is None:
            if operand in absent:
                missing.append(operand)
            continue
        own = found.get(operand.name)
        anchors = [
            each
            for each in found.values()
            if each.operand.phrase == operand.phrase
            and each.operand.company == operand.company
            and each.operand.period != operand.period
        ]
        anchor = max(anchors, key=lambda each: each.score, default=None)
        elsewhere = own is not None and anchor is not None and own.filing.filing_id != anchor.filing.filing_id
        if anchor is not None and not elsewhere and (own is None or own.score < anchor.score):
            beside = in_row_of(anchor, operand, line_items[anchor.filing.filing_id])
            if beside is not None:
                result[operand.name] = beside
                continue
        if own is None:
            missing.append(operand)
    cells = Counter(_cell(each) for each in result.values())
    of_item = Counter((_cell(each), each.operand.item) for each in result.values())
    twice = [
        operand
        for operand in plan.operands
        if (own := result.get(operand.name)) is not None
        and (of_item[_cell(own), operand.item] > 1 or (operand.phrase is not None and cells[_cell(own)] > 1))
    ]
    # One cell cannot be the figure of two periods: the periods of its table were misread.
    sure = {name: each for name, each in result.items() if each.operand not in twice}
    return Coverage(plan, sure, (*missing, *twice))


def _cell(found: Found) -> tuple[str, int, int, int]:
    return found.filing.filing_id, found.line_item.page, found.line_item.row, found.line_item.column


def missing_filing(query: Query) -> tuple[str, ...]:
    """Describes the missing filing if none fits."""
    if query.unknown_companies and not query.companies:
        return tuple(f"filings of {name}" for name in query.unknown_companies)
    owner = f" of {' and '.join(dict.fromkeys(query.names))}" if query.names else ""
    periods = ", ".join(str(period) for period in query.filed)
    return (f"a filing{owner} for {periods}" if periods else f"a filing{owner} on this subject",)


def absent_company(query: Query) -> str | None:
    """A company that the question needs and the index lacks: any if it names none that the index has, else one that it
    compares with these."""
    if not query.companies:
        return query.unknown_companies[0] if query.unknown_companies else None
    if "between" not in query.intents:
        return None
    return next((name for name in query.unknown_companies if _is_compared(query, name)), None)


def _is_compared(query: Query, name: str) -> bool:
    """Whether ``name`` is set beside a company, as in "Acme and Widget", "than that of Widget" or "Widget's". Mexico is
    not in "Acme's sales in Mexico rose between 2016 and 2017"."""
    found = re.escape(name)
    if re.search(rf"{found}['’]|\b(?:that|those|the one) of {found}|\b(?:than|versus|vs\.?) {found}", query.text, re.I):
        return True
    companies = "|".join(re.escape(query.text[s.start : s.end]) for s in query.spans if s.kind == "company")
    beside = r"(?:['’]s?)?(?:, | and | or | with | to |, and )(?:that of )?"
    return bool(companies) and (
        re.search(rf"(?:{companies}){beside}{found}|{found}{beside}(?:{companies})", query.text, re.I) is not None
    )
