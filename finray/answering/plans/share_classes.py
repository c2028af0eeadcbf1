"""Classes of shares: each has its own earnings, dividends and shares outstanding. A question that names none of several
is answered with all, for the figure of one is not that of another."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from finray.answering.plans.computed import cited, evidence_of, shape_of
from finray.answering.plans.wording import shown
from finray.core.filing import Filing, LineItem
from finray.core.passages import Passage
from finray.core.period import Period
from finray.core.plan import Found, Operand, Plan
from finray.core.predictions import Answer
from finray.core.query import Query
from finray.filings.prose.shares import shares_in_sentences
from finray.filings.tables.canonical import DATE_TOLERANCE_DAYS
from finray.index.reading.facts import FilingFacts

_CLASS: Final = re.compile(r"\b(class|series)[\s-]([a-z])(?![\w’'])", re.I)
_KIND_OF_SHARE: Final = re.compile(
    r"\b(?:common|ordinary|capital|shares?|stock|of|the|registrant['’]s|par value.*)\b|\W", re.I
)
_ASKED: Final = re.compile(r"\bshares?\b.{0,100}\boutstanding\b|\boutstanding\b.{0,40}\bshares?\b", re.I)
_OTHER_COUNT: Final = re.compile(
    r"\b(?:weighted|average|dilut\w+|basic|authorized|issued|treasury|preferred|options?|awards?|units?|warrants?|value|"
    r"repurchas\w+|held|price|cost|percent\w*|ratio|restricted|unvested|granted)\b",
    re.I,
)
_ALL: Final = re.compile(r"\b(?:total|all classes|altogether|combined|both classes|overall)\b", re.I)
_CONCEPT: Final = "dei:EntityCommonStockSharesOutstanding"


def classes_in(text: str) -> frozenset[str]:
    """The classes of shares that ``text`` names: "class a" in "Common Class A"."""
    return frozenset(f"{kind} {letter}".lower() for kind, letter in _CLASS.findall(text))


def shares_outstanding(query: Query, passages: Sequence[Passage], facts: FilingFacts) -> Answer | None:
    """The number of shares that the cover of the latest filing among ``passages`` states; None if the question asks for
    something else, or for another day, or no cover states it."""
    text = query.text
    if len(query.companies) != 1 or not _ASKED.search(text) or _OTHER_COUNT.search(text):
        return None
    if any(period.date is None for period in query.periods):
        return None  # of a year's end: the balance sheet
    own = dict.fromkeys(p.filing_id for p in passages if facts.company_of(p.filing_id) in query.companies)
    asked = classes_in(text)
    for filing in sorted(
        map(facts.filing, own), key=lambda each: str(each.filed_at or each.closes or ""), reverse=True
    ):
        counted = [item for item in _on_cover(filing, facts) if _is_of(item, query.periods)]
        counted = [item for item in counted if not asked or asked & _classes_of(item)]
        found = {f"shares_{number}": _found(item, filing, query) for number, item in enumerate(counted, 1)}
        if len(found) == 1 or (found and (_ALL.search(text) or len(asked) > 1)):
            return _sum(found, passages, facts)
        if found:
            return each_class(query, found, passages, facts)
    return None


def with_other_classes(query: Query, plan: Plan, found: Found, items: Iterable[LineItem]) -> Mapping[str, Found] | None:
    """The figures of all classes beside ``found``, which the question asks for without a class; None if it names one,
    or if there is none with another figure."""
    item = found.line_item
    if plan.kind != "value" or len(plan.operands) != 1 or classes_in(query.question):
        return None
    others = [
        other
        for other in items
        if _place(other) == _place(item) and _classes_of(other) != _classes_of(item) and other.value != item.value
    ]
    by_class = {_name(each): replace(found, line_item=each, value=each.value) for each in others}
    return {found.operand.name: found, **by_class} if by_class else None


def each_class(query: Query, found: Mapping[str, Found], passages: Sequence[Passage], facts: FilingFacts) -> Answer:
    """The answer that gives the figure of each class, and so no single one."""
    shape = shape_of(query, found.values())
    told = "; ".join(
        f"{_exactly(each) or shown(each.value, each.unit, shape)} ({_name(each.line_item)})" for each in found.values()
    )
    evidence, grounded = evidence_of(found.values(), passages, facts)
    cells = tuple(cited(name, each) for name, each in found.items())
    return Answer(told, "answered", evidence=evidence, operands=cells, grounded=grounded, settled=True)


def _sum(found: Mapping[str, Found], passages: Sequence[Passage], facts: FilingFacts) -> Answer:
    total = sum(each.value for each in found.values())
    evidence, grounded = evidence_of(found.values(), passages, facts)
    cells = tuple(cited(name, each) for name, each in found.items())
    day = next(iter(found.values())).line_item.period_end
    text = f"{total:,.0f} shares" + (f" as of {day:%B} {day.day}, {day.year}" if day is not None else "")
    if len(found) > 1:
        text += f" ({'; '.join(f'{_exactly(each)} {_name(each.line_item)}' for each in found.values())})"
    return Answer(
        text, "answered", total, "shares", " + ".join(found), evidence, cells, grounded=grounded, settled=True
    )


def _on_cover(filing: Filing, facts: FilingFacts) -> Sequence[LineItem]:
    """The counts of shares on the cover of ``filing``, each class once: tagged, else of tables, else of sentences."""
    items = facts.line_items([filing.filing_id])[filing.filing_id]
    pages = facts.pages([(filing.filing_id, page) for page in range(2)])
    covers = {number: page for (_, number), page in pages.items() if page.place == "cover" or number == 0}
    ways: Iterator[Iterable[LineItem]] = iter(
        (
            (item for item in items if item.concept == _CONCEPT),
            (item for item in items if item.page in covers and item.unit == "shares"),
            (item for page in covers.values() for item in shares_in_sentences(page)),
        )
    )
    for way in ways:
        distinct = {(_classes_of(item), item.value): item for item in way}
        if distinct:
            return tuple(distinct.values())
    return ()


def _is_of(item: LineItem, periods: Sequence[Period]) -> bool:
    days = [period.date for period in periods if period.date is not None]
    if not days:
        return True
    return item.period_end is not None and any(abs((item.period_end - day).days) <= DATE_TOLERANCE_DAYS for day in days)


def _found(item: LineItem, filing: Filing, query: Query) -> Found:
    end = item.period_end
    period = Period(end.year if end is not None else 0, None, end)
    operand = Operand("shares", query.companies[0], "shares", period, "shares outstanding")
    return Found(operand, filing, item, item.value, "shares", "")


def _classes_of(item: LineItem) -> frozenset[str]:
    return classes_in(" ".join(filter(None, (item.label, item.section, item.column_label))))


def _place(item: LineItem) -> tuple[object, ...]:
    """Equal for the figures of the classes of one line item."""
    words = (_KIND_OF_SHARE.sub("", _CLASS.sub("", text or "")).lower() for text in (item.label, item.section))
    return item.page, item.statement, item.period_end, item.months, item.unit, item.registrant, *words


def _name(item: LineItem) -> str:
    """The class of a figure, for people."""
    own = item.label if classes_in(item.label) else item.column_label or item.label
    return own.strip(" []:,")


def _exactly(found: Found) -> str:
    return f"{found.value:,.0f}" if found.unit == "shares" else ""
