"""Looks up the question's quantities by their words alone: a second opinion beside the row reader's.

The measure tagger marks the words that name each quantity. They are looked up among all rows of the retrieved filings,
like an operand of a plan, and compared with each row that the row reader reads.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from finray.answering.asked_items import asked_items
from finray.answering.asked_words import asked_words
from finray.answering.cells.filing_cells import FilingCells
from finray.answering.cells.operands import find_operand, find_phrase
from finray.answering.cells.page_cells import PageCell
from finray.answering.plans.coverage import latest_period
from finray.answering.qualifiers import sides_of
from finray.core.arrays import Floats
from finray.core.filing import LineItem
from finray.core.passages import Passage
from finray.core.period import Period
from finray.core.plan import Found, Operand, Phrase
from finray.core.query import Query
from finray.filings.tables.canonical import DATE_TOLERANCE_DAYS, canonical_items
from finray.index.reading.facts import FilingFacts, kept_with
from finray.question.measures.mentions import mentions
from finray.question.measures.named import quantity_phrases
from finray.question.synonyms import words_of

_MOVING: Final = frozenset({"growth", "difference"})
_MOST_PERIODS = 4
_SAME_VALUE = 0.0005
"""Relative tolerance."""
_NAMED, _HELD = 0.6, 0.7
"""Least shares of the words of a quantity, and of a question without one, in a row about the whole company."""


@dataclass(frozen=True, slots=True)
class Sought:
    """``phrases`` name the question's quantities, in its order; ``found`` are the cells that surely print one of them
    in a period asked for, out of ``wanted``."""

    phrases: tuple[Phrase, ...]
    found: tuple[Found, ...]
    wanted: int

    @property
    def share(self) -> float:
        """Share of the wanted cells that were found."""
        return len(self.found) / self.wanted if self.wanted else 0.0


@dataclass(frozen=True, slots=True)
class Matches:
    """How cells agree with what was sought, float64 [cells, phrases]: ``words`` is the fitted match of a cell with a
    phrase, ``held`` the share of the phrase's words in the row and its heads, ``spare`` the share of the row's words
    that the phrase lacks. ``found`` [cells] is the number of the found cell with the same figure, or -1."""

    words: Floats
    held: Floats
    spare: Floats
    found: tuple[int, ...]


def sought(query: Query, passages: Sequence[Passage], facts: FilingFacts) -> Sought:
    """Looks up the quantities of ``query`` in the filings of ``passages``."""
    phrases = quantity_phrases(query)
    if not phrases or not passages:
        return Sought(phrases, (), 0)
    company = query.companies[0] if query.companies else facts.company_of(passages[0].filing_id)
    ranks: dict[tuple[str, int], int] = {}
    for passage in passages:
        if facts.company_of(passage.filing_id) == company:
            ranks.setdefault((passage.filing_id, passage.page), len(ranks))
    items = asked_items(query, facts.line_items({filing_id for filing_id, _ in ranks}))
    filings = [facts.filing(filing_id) for filing_id in items]
    found: list[Found] = []
    periods = _periods(query, passages, company, facts)
    for phrase in phrases:
        metric, asked = _metric(phrase), sides_of(query, phrase.text, alone=len(phrases) == 1)
        for period in periods:
            operand = Operand(phrase.name, company, metric or phrase.name, period, phrase.text, phrase)
            hit = find_operand(operand, filings, items, called=phrase.text, asked=asked) if metric else None
            hit = hit or find_phrase(operand, phrase, filings, items, ranks, ahead=bool(query.source), asked=asked)
            if hit is not None:
                found.append(hit)
    return Sought(phrases, tuple(found), len(phrases) * len(periods))


def _metric(phrase: Phrase) -> str:
    """The canonical line item that the whole phrase names; "" if there is none."""
    named = (m.value for m in mentions(phrase.text) if (m.start, m.end) == (0, len(phrase.text)))
    return next((value for value in named if value in canonical_items()), "")


def _periods(query: Query, passages: Sequence[Passage], company: str, facts: FilingFacts) -> Sequence[Period]:
    """The periods asked for, else the latest one; with the year before a single one if a change is asked for."""
    periods = list(query.asked[:_MOST_PERIODS])
    if not periods and (latest := latest_period(passages, {company}, facts)) is not None:
        periods = [latest]
    if len(periods) == 1 and query.operation in _MOVING:
        periods.append(periods[0].years_before(1))
    return periods


def matches(found: Sought, cells: Sequence[PageCell], facts: FilingFacts) -> Matches:
    """How each of ``cells`` agrees with what was sought."""
    size = len(found.phrases)
    words, held, spare = (np.zeros((len(cells), size)) for _ in range(3))
    items = facts.line_items({cell.filing.filing_id for cell in cells})
    filings = {filing_id: kept_with(own, FilingCells) for filing_id, own in items.items()}
    for number, phrase in enumerate(found.phrases):
        asked = frozenset(phrase.words)
        matchers = {filing_id: own.matcher(phrase) for filing_id, own in filings.items()}
        known: dict[tuple[object, ...], tuple[float, float, float]] = {}
        for at, cell in enumerate(cells):
            item = cell.item
            key = (*cell.row, item.column_label, item.section, item.concept)
            if key not in known:
                label = frozenset(words_of(item.label))
                around = label | frozenset(words_of(f"{item.section or ''} {item.column_label or ''}"))
                known[key] = (
                    matchers[cell.filing.filing_id].fit(item, cell.around).score,
                    len(asked & around) / len(asked),
                    len(label - asked) / len(label) if label else 1.0,
                )
            words[at, number], held[at, number], spare[at, number] = known[key]
    return Matches(words, held, spare, tuple(_number(cell, found.found) for cell in cells))


def names_all(query: Query, cell: PageCell, facts: FilingFacts) -> bool:
    """Whether a row about the whole company (of a primary statement, or tagged without a part) has most of the words of
    a quantity, or their synonyms: goodwill is not "goodwill impairment". True for other rows."""
    item = cell.item
    if item.statement is None and (item.concept is None or "[" in (item.column_label or "")):
        return True
    phrases = quantity_phrases(query)
    if not phrases:
        asked = asked_words(query)
        around = words_of(" ".join(filter(None, (item.label, item.section, item.column_label))))
        return sum(word in around for word in asked) >= _HELD * len(asked)
    filing_id = cell.filing.filing_id
    cells = kept_with(facts.line_items({filing_id})[filing_id], FilingCells)
    return any(cells.matcher(phrase).fit(item).coverage >= _NAMED for phrase in phrases)


def _number(cell: PageCell, found: Sequence[Found]) -> int:
    """The number of the found cell that prints the figure of ``cell`` for the same period, or -1."""
    return next((number for number, each in enumerate(found) if _same(cell.item, each.line_item)), -1)


def _same(a: LineItem, b: LineItem) -> bool:
    if a.period_end is not None and b.period_end is not None:
        days = (a.period_end - b.period_end).days
        if abs(days) > DATE_TOLERANCE_DAYS:
            return False
    return a.unit == b.unit and math.isclose(abs(a.value), abs(b.value), rel_tol=_SAME_VALUE)
