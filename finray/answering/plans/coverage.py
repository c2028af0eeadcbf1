"""Finds the operands of a question's plans in the passages, for the rule-based curator and answerer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Self

from finray.answering.asked_items import asked_items, asked_version
from finray.answering.cells.derived_periods import with_derived
from finray.answering.cells.one_line import Series, in_one_line
from finray.answering.cells.operands import find_labeled, find_operand, find_phrase, in_row_of
from finray.answering.plans.in_place import InPlace, in_place_of
from finray.answering.plans.parts_of_year import PartsOfYear, parts_of_year
from finray.answering.qualifiers import sides_of
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

_LEAST_COMPARED = 2


def plans_for(query: Query, passages: Sequence[Passage], facts: FilingFacts) -> tuple[Plan, ...]:
    """The plans of ``query`` for the companies and periods of ``passages``, preferably from filings of its period.

    A question without a company means that of the best passage. One without a period means the latest of the company's
    passages, years before quarters.
    """
    fitting = fitting_period(query, passages, facts) or passages
    if not fitting or not query.measures:
        return ()
    companies = query.companies or (facts.company_of(fitting[0].filing_id),)
    if query.over_all:
        companies = facts.companies()
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
    """Finds the operands of ``plan``: phrases anywhere in the passages' filings, named metrics on the passages' pages.
    With ``anywhere``, named metrics in the whole filings too, with rows of notes as a last resort."""
    ranks: dict[tuple[str, int], int] = {}
    for passage in passages:
        ranks.setdefault((passage.filing_id, passage.page), len(ranks))
    line_items = asked_items(query, facts.line_items({p.filing_id for p in passages}))
    search = OperandSearch.of(plan, query, ranks, anywhere=anywhere or query.over_all)
    found: dict[str, Found] = {}
    for operand in plan.operands:
        own = [facts.filing(filing_id) for filing_id in line_items if facts.company_of(filing_id) == operand.company]
        items = line_items
        if query.over_all:
            own = [each for each in facts.filings_of(operand.company) if period_fit(each, [operand.period])[0] > 0]
            items = asked_items(query, facts.line_items([each.filing_id for each in own]))
        hit = search.find(operand, own, items)
        if hit is not None:
            found[operand.name] = hit
    if query.over_all:
        return _of_those_found(
            query, Coverage(plan, found, tuple(o for o in plan.operands if o.name not in found)), facts
        )
    plan, found = _in_one_line(plan, _in_one_row(plan, found, line_items), line_items, facts)
    coverage = _without_shared_cells(plan, found)
    if not anywhere or not coverage.absent:
        return coverage

    def in_filings_of(operand: Operand, year: int) -> Found | None:
        filings = [each for each in facts.filings_of(operand.company) if each.fiscal_year == year]
        items = facts.line_items({each.filing_id for each in filings})
        return search.find(operand, filings, asked_items(query, items))

    return with_derived(coverage, in_filings_of)


def printed_instead(
    coverage: Coverage, query: Query, passages: Sequence[Passage], facts: FilingFacts
) -> InPlace | PartsOfYear | None:
    """What the passages' filings print in place of the figure of an absent operand; None if they lack its row."""
    items = asked_items(query, facts.line_items({p.filing_id for p in passages}))
    search = OperandSearch.of(coverage.plan, query, {}, anywhere=True)

    def filings(operand: Operand) -> list[Filing]:
        return [facts.filing(filing_id) for filing_id in items if facts.company_of(filing_id) == operand.company]

    def find(operand: Operand) -> Found | None:
        return search.find(operand, filings(operand), items)

    for operand in coverage.absent:
        found = parts_of_year(query, operand, find, filings(operand), items) or in_place_of(operand, find, facts)
        if found is not None:
            return found
    return None


def _of_those_found(query: Query, coverage: Coverage, facts: FilingFacts) -> Coverage:
    """``coverage`` of a plan over all companies without those that lack an operand; the plan says which they are. Two
    companies at least are compared."""
    lacking = dict.fromkeys(operand.company for operand in coverage.absent)
    kept = [company for company in dict.fromkeys(o.company for o in coverage.plan.operands) if company not in lacking]
    if not lacking or len(kept) < _LEAST_COMPARED:
        return coverage
    same = (
        each for each in plans_of(query, kept, coverage.plan.operands[-1].period) if each.kind == coverage.plan.kind
    )
    plan = next((each for each in same if all(o.name in coverage.found for o in each.operands)), None)
    if plan is None:
        return coverage
    plan = replace(plan, lacking=tuple(map(facts.company_name, lacking)))
    return Coverage(plan, {o.name: coverage.found[o.name] for o in plan.operands}, ())


class OperandSearch:
    """Finds operands in filings. ``ranks`` are those of the passages' pages. If ``plain``, named metrics may also be
    rows of notes. If ``alone``, the question asks for a single figure: a row that is labeled by all of its words, and
    no others, is the one that it means."""

    def __init__(
        self,
        query: Query,
        ranks: Mapping[tuple[str, int], int],
        *,
        anywhere: bool,
        plain: bool,
        alone: bool = False,
        one_item: bool = True,
    ) -> None:
        self._query, self._ranks, self._anywhere, self._plain = query, ranks, anywhere, plain
        self._one_item = one_item
        version = asked_version(query.question)
        amended = any(form.endswith("/A") for form in query.forms)
        # A row of the question's own words is surer than one of a metric's usual name.
        labeled = alone and (anywhere or query.own_words)
        self._whole = phrase_of(query.own_words or query.question, query.names) if labeled else None
        self._amended = version == "restated" or (amended and version is None)

    @classmethod
    def of(cls, plan: Plan, query: Query, ranks: Mapping[tuple[str, int], int], *, anywhere: bool) -> Self:
        """A search for the operands of ``plan``. A formula combines rows of the statements; a row of a note does not
        fit among them."""
        one = len({operand.item for operand in plan.operands}) == 1
        plain = plan.spelled or one
        return cls(query, ranks, anywhere=anywhere, plain=plain, alone=plan.kind == "value", one_item=one)

    def find(
        self, operand: Operand, filings: Sequence[Filing], line_items: Mapping[str, Sequence[LineItem]]
    ) -> Found | None:
        named = [filing for filing in filings if is_source(filing, self._query.source)]
        filings = named or filings
        phrase, ranks, amended = operand.phrase, self._ranks, self._amended
        called = _called(self._query, operand.item) if phrase is None else phrase.text
        asked = sides_of(self._query, called or operand.wording, alone=self._one_item)
        if self._whole is not None:
            hit = find_labeled(operand, self._whole, filings, line_items, amended=amended, asked=asked)
            if hit is not None:
                return hit
        if phrase is None:
            hit = find_operand(operand, filings, line_items, ranks.keys(), amended=amended, called=called, asked=asked)
            if hit is None and self._anywhere:
                hit = find_operand(operand, filings, line_items, amended=amended, called=called, asked=asked)
            phrase = phrase_of(operand.wording) if hit is None and self._anywhere and self._plain else None
            if phrase is None:
                return hit
            phrase = replace(phrase, stated=True)  # revenue is money: a percentage is another figure
        return find_phrase(operand, phrase, filings, line_items, ranks, amended=amended, ahead=bool(named), asked=asked)


def _called(query: Query, item: str) -> str:
    """The question's words for a line item; "" if it only names a metric made of it, or the item in several ways."""
    words = {query.text[span.start : span.end] for span in query.spans if span.kind == "metric" and span.value == item}
    return words.pop() if len(words) == 1 else ""


def is_source(filing: Filing, source: Sequence[Period]) -> bool:
    """Whether ``filing`` is of one of the periods ``source`` by which the question names its filing."""
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
    plan: Plan, found: Mapping[str, Found], line_items: Mapping[str, Sequence[LineItem]]
) -> dict[str, Found]:
    """``found`` with the periods of a phrase read from one row, if one filing prints them: a row that is sure for one
    year is sure for the year beside it, and a dash there is a zero."""
    result = dict(found)
    for operand in plan.operands:
        if operand.phrase is None:
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
    return result


def _in_one_line(
    plan: Plan, found: Mapping[str, Found], items: Mapping[str, Sequence[LineItem]], facts: FilingFacts
) -> tuple[Plan, dict[str, Found]]:
    """(``plan``, ``found``) with the periods of each item read from one line; the plan says if the filings print them
    in rows that may be different lines."""
    result, notes = dict(found), list(plan.derived)
    for company, item in dict.fromkeys((operand.company, operand.item) for operand in plan.operands):
        operands = [each for each in plan.operands if (each.company, each.item) == (company, item)]
        series: Series = {each.period: found[each.name] for each in operands if each.name in found}
        own = [facts.filing(filing_id) for filing_id in items if facts.company_of(filing_id) == company]
        read, others = in_one_line(series, operands, own, items)
        for operand in operands:
            if operand.period in read:
                score = result[operand.name].score if operand.name in result else 1.0
                result[operand.name] = replace(read[operand.period], operand=operand, score=score)
        if others:
            rows = (f"{period} “{read[period].line_item.label}”" for period in read)
            notes.append(f"rows that may be different lines: {', '.join(rows)}")
    return replace(plan, derived=tuple(notes)), result


def _without_shared_cells(plan: Plan, found: Mapping[str, Found]) -> Coverage:
    """The coverage by ``found``, except for operands that share a cell. One cell cannot be the figure of two periods:
    the periods of its table were misread."""
    cells = Counter(_cell(each) for each in found.values())
    of_item = Counter((_cell(each), each.operand.item) for each in found.values())
    missing, shared = [], []
    for operand in plan.operands:
        own = found.get(operand.name)
        if own is None:
            missing.append(operand)
        elif of_item[_cell(own), operand.item] > 1 or (operand.phrase is not None and cells[_cell(own)] > 1):
            shared.append(operand)
    sure = {name: each for name, each in found.items() if each.operand not in shared}
    return Coverage(plan, sure, (*missing, *shared))


def _cell(found: Found) -> tuple[str, int, int, int]:
    return found.filing.filing_id, found.line_item.page, found.line_item.row, found.line_item.column
