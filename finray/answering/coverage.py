"""What a set of passages covers of what a question needs: shared by the rule-based curator and answerer."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from finray.answering.grounding import prints
from finray.answering.operands import Found, find_operand, find_phrase, in_row_of
from finray.core.query import Period, Query
from finray.core.types import LineItem, Passage
from finray.index.facts import FilingFacts
from finray.question.arithmetic import ProgramError
from finray.question.measures import Measures, is_narrowed, named_measures, spelled_measures, spells_definition
from finray.question.phrase import phrase_of
from finray.question.plan import (
    Operand,
    Plan,
    asks_for_aggregate,
    asks_for_average,
    asks_for_change,
    asks_which,
    build_plan,
)

_ASKS_FOR_WORDS = re.compile(
    r"\b(?:why|what drove|what (?:has )?driv\w+|what caused|what (?:were|are|was) the (?:main |key |primary )?"
    r"(?:reasons?|drivers?|factors?)|"
    r"explain|describe|discuss|reasons? for|drivers? of|attributed to|how does|how do|who|where|which|whose)\b",
    re.I,
)
_NO_AMOUNT = re.compile(
    r"^\W*(?:as of [^,]{4,30},\s*)?(?:does|do|did|has|have|had|is|are|was|were|among|if|can(?! you)|should|would|list|"
    r"name|identify|summari[sz]e)\b|"
    r"\b(?:what|which)\s+(?:\w+\s+){0,2}(?:products?|services|geograph\w+|regions?|segments?|compan\w+|industr\w+|"
    r"types?|kinds?|securities|events?|reasons?|factors?|risks?|acquisitions?|agreements?|debt instruments?)\b(?!['’])|"
    r"\b(?:highest|largest|greatest|biggest|most|lowest|smallest|least|best|worst|agenda|event|nature|purpose|outcome|"
    r"reasons?)\b|,\s*(?:did|does|do|is|are|was|were|has|have|had)\s+(?!\w+ed\b)|"
    r"\bhow many (?!shares|common|preferred|weighted|dollars)",
    re.I,
)
"""Questions for names, reasons, yes or no, or counts of things: no cell of a table is the answer."""
_IS_AVERAGE = re.compile(r"\b(?:rates?|prices?|yield|terms?|life|lives|maturit\w+|per|shares?|cost of)\b|%", re.I)
MAX_PLANS = 8
_COMPARES = re.compile(r"\b(?:between|compar\w+|versus|vs\.?|than|among)\b", re.I)


def plan_for(query: Query, passages: Sequence[Passage], facts: FilingFacts) -> Plan | None:
    """The likeliest of :func:`plans_for`, None where there is none."""
    return next(iter(plans_for(query, passages, facts)), None)


def plans_for(query: Query, passages: Sequence[Passage], facts: FilingFacts) -> tuple[Plan, ...]:
    """The question's plans, the likeliest first: which one holds, the tables decide. Where it names no company, that
    of the best passage, and where it names no period, the latest that the company's passages come from, years before
    quarters."""
    if asks_for_words(query):
        return ()
    companies = query.companies or (facts.company_of(passages[0].filing_id),)
    filings = (facts.filing(p.filing_id) for p in passages if facts.company_of(p.filing_id) in companies)
    dated = [(f.fiscal_period == "FY", f.fiscal_year, f.fiscal_period) for f in filings if f.fiscal_year is not None]
    newest = max(dated, key=lambda period: period[:2], default=None)
    latest = Period(newest[1], newest[2]) if newest is not None else None
    measured: list[Measures] = []
    if not query.unexplained and not is_narrowed(query):
        measured.append(named_measures(query))
    which = asks_which(query)
    if latest is not None and (which or not _NO_AMOUNT.search(query.text)):
        moving = asks_for_change(query) or which
        spelled = list(spelled_measures(query, moving=moving, aggregate=asks_for_aggregate(query)))
        measured = spelled + measured if spells_definition(query) else measured + spelled
    plans: list[Plan] = []
    for measures in measured:
        for years in _years(query, latest):
            try:
                plan = build_plan(query, measures, companies, latest, years)
            except ProgramError:  # what the question spells out is too long or too deep to be computed
                continue
            if plan is not None and plan not in plans:
                plans.append(plan)
    return tuple(plans[:MAX_PLANS])


def _years(query: Query, latest: Period | None) -> list[tuple[Period, ...]]:
    """The years to compute over where the question leaves them open: an average without a year is that of all that
    a statement prints, three or two; else nothing."""
    if query.last_years or latest is None or not asks_for_average(query) or len(query.periods) > 1:
        return [()]
    if query.periods:
        # the average of one year is that of its beginning and its end; a rate or a price is an average already
        (period,) = query.periods
        return [()] if _IS_AVERAGE.search(query.text) else [(period.years_before(1), period)]
    return [tuple(Period(latest.year - back, "FY") for back in reversed(range(count))) for count in (3, 2)]


def cover(
    query: Query, plan: Plan, passages: Sequence[Passage], facts: FilingFacts, *, anywhere: bool = False
) -> tuple[dict[str, Found], list[Operand]]:
    """Operands found, by name, and those that are not there: phrases anywhere in the passages' filings, named metrics
    on the passages' pages; with ``anywhere`` named metrics in the whole filings too, outside the statements last."""
    ranks: dict[tuple[str, int], int] = {}
    for passage in passages:
        ranks.setdefault((passage.filing_id, passage.page), len(ranks))
    line_items = facts.line_items({p.filing_id for p in passages})
    amended = any(form.endswith("/A") for form in query.forms)
    found: dict[str, Found] = {}
    absent: list[Operand] = []
    # A formula mixes rows of one statement; a row of some note among them would be of another kind.
    plain = plan.spelled or len({operand.item for operand in plan.operands}) == 1
    for operand in plan.operands:
        filings = [
            facts.filing(filing_id) for filing_id in line_items if facts.company_of(filing_id) == operand.company
        ]
        if operand.phrase is not None:
            hit = find_phrase(operand, operand.phrase, filings, line_items, ranks, amended=amended)
        else:
            hit = find_operand(operand, filings, line_items, ranks.keys(), amended=amended)
            if hit is None and anywhere:
                hit = find_operand(operand, filings, line_items, amended=amended)
            if hit is None and anywhere and plain and (phrase := phrase_of(operand.wording)) is not None:
                hit = find_phrase(operand, phrase, filings, line_items, ranks, amended=amended)
        if hit is None:
            absent.append(operand)
        else:
            found[operand.name] = hit
    return in_one_row(plan, found, absent, line_items)


def in_one_row(
    plan: Plan, found: dict[str, Found], absent: list[Operand], line_items: Mapping[str, Sequence[LineItem]]
) -> tuple[dict[str, Found], list[Operand]]:
    """The same with the periods of one phrase read from one row, where one filing prints them: a row that is sure for
    one year is sure for the year beside it, and a dash there is a zero."""
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
            and each.operand.phrase is not None
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
    twice = [o for o in plan.operands if o.phrase is not None and o.name in result and cells[_cell(result[o.name])] > 1]
    # One cell cannot be the figure of two periods: the periods of its table were not understood.
    return {name: each for name, each in result.items() if each.operand not in twice}, [*missing, *twice]


def _cell(found: Found) -> tuple[str, int, int, int]:
    return found.filing.filing_id, found.line_item.page, found.line_item.row, found.line_item.column


def printing(found: Found, passages: Sequence[Passage], facts: FilingFacts) -> Passage | None:
    """The passage that prints the found row: one of ``passages``, else one read from the index."""
    place = (found.filing.filing_id, found.line_item.page)
    at_hand = [p for p in passages if (p.filing_id, p.page) == place]
    passages_there = at_hand or facts.passages_of(*place)
    label = " ".join(found.line_item.label.split())[:30]
    telling = [p for p in passages_there if prints(p.text, found.line_item.text)]
    sentence = (found.line_item.caption or "")[:40]
    both = [p for p in telling if label in " ".join(p.text.split()) or (sentence and sentence in p.text)]
    others = facts.passages_of(*place) if at_hand and not telling else []
    return next(
        iter([*both, *telling, *(p for p in others if prints(p.text, found.line_item.text)), *passages_there]), None
    )


def missing_filing(query: Query) -> tuple[str, ...]:
    """What to say is missing when no filing fits."""
    if query.unknown_companies and not query.companies:
        return tuple(f"filings of {name}" for name in query.unknown_companies)
    of = f" of {' and '.join(dict.fromkeys(query.names))}" if query.names else ""
    periods = ", ".join(str(period) for period in query.periods)
    return (f"a filing{of} for {periods}" if periods else f"a filing{of} on this subject",)


def asks_for_words(query: Query) -> bool:
    """Whether the answer is an explanation or a name rather than a number; a company of several is computed."""
    if asks_which(query):
        return False
    return _ASKS_FOR_WORDS.search(query.text) is not None and len(query.companies) < 2


def asks_for_amount(query: Query) -> bool:
    """Whether a cell of a table, or what is computed from some, is the answer."""
    return not asks_for_words(query) and _NO_AMOUNT.search(query.text) is None


def absent_company(query: Query) -> str | None:
    """A company that a comparison needs and the index does not hold."""
    if query.unknown_companies and (not query.companies or _COMPARES.search(query.text)):
        return query.unknown_companies[0]
    return None
