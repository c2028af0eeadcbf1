"""Answers with one cell of the retrieved pages if no plan gives a figure and the choice is sure enough."""

from __future__ import annotations

import re
from dataclasses import replace

from finray.answering.cell_choice import CellModel, Choice, question_signals, shipped_cell_model
from finray.answering.cell_features import CellCandidates, cell_candidates
from finray.answering.computed import Computation
from finray.answering.coverage import fitting_period
from finray.answering.operands import found_in
from finray.answering.page_cells import PageCell, PageCells, measure_of
from finray.answering.sentence_features import Floats, asked_words
from finray.answering.table_reader.amounts import amount_of
from finray.answering.units import answers_unit, result_unit
from finray.answering.wording import asked_value
from finray.core.journal import Journal
from finray.core.period import Period
from finray.core.plan import Coverage, Measure, Operand, Phrase, Plan
from finray.core.query import AskedUnit, Query
from finray.core.question_fields import excerpt
from finray.core.roles import Curation
from finray.core.types import Answer, Filing, LineItem
from finray.index.facts import FilingFacts
from finray.question.arithmetic import ProgramError
from finray.question.synonyms import words_of

_MEASURES: dict[AskedUnit | None, Measure] = {"per share": "per share", "shares": "shares", "percent": "percent"}
_LABEL = 120
_HELD = 0.7
"""Share of the question's words that a row of a primary statement must have."""
_TOTAL = re.compile(r"\b(?:totals?|aggregate|combined|consolidated|overall|cumulative|sum)\b", re.I)


class CellAnswerer:
    """Chooses by ``model``, by default the one that comes with finray."""

    def __init__(self, facts: FilingFacts, model: CellModel | None = None) -> None:
        self._facts = facts
        self._cells = PageCells(facts)
        self._model = model

    def answer(self, query: Query, curation: Curation, journal: Journal) -> Answer | None:
        """The figure with its cell; None if no cell surely has it."""
        model = self._model or shipped_cell_model()
        found, asked = self.candidates(query, curation)
        choice = model.choose(found, asked)
        if choice is None:
            return None
        item = choice.cell.item
        journal.note(f"answer: of {len(found.cells)} cells {item.label!r}, {item.text!r} with {choice.probability:.2f}")
        if choice.probability < model.threshold or not (is_asked_total(query, item) and holds_narrower(query, item)):
            return None
        return figure_of(choice, query, curation, self._facts)

    def candidates(self, query: Query, curation: Curation) -> tuple[CellCandidates, Floats]:
        """The cells that compete, none if the question asks for more than one value, and what the question tells about
        them (``question_signals``)."""
        passages = fitting_period(query, curation.kept, self._facts) if asks_one_value(query) else ()
        found = cell_candidates(query, self._cells.read(passages), self._facts)
        operands = len(curation.plans[0].operands) if curation.plans else 0
        return found, question_signals(query, found.unprinted, operands)


def asks_one_value(query: Query) -> bool:
    """Whether the answer may be one cell, as far as rules and the trained reader can tell: no change, share or sum."""
    moves = query.intents & {"growth", "change", "difference"}
    return query.operation in ("", "value") and len(query.quantities) <= 1 and not moves


def is_asked_total(query: Query, item: LineItem) -> bool:
    """False for a cell that says nothing of a total though the question asks for one: it may mean a sum of several."""
    around = " ".join(filter(None, (item.label, item.column_label, item.section)))
    return "total" not in query.intents or _TOTAL.search(around) is not None


def holds_narrower(query: Query, item: LineItem) -> bool:
    """Whether a row of a primary statement, or with a tag without a part, has most of the words asked for: both are
    about the whole company. Revenue is not "revenue in Europe", depreciation is not "adjusted EBITDA"."""
    asked = asked_words(query)
    around = words_of(" ".join(filter(None, (item.label, item.column_label, item.section))))
    held = sum(word in around for word in asked)
    tagged_whole = item.concept is not None and "[" not in (item.column_label or "")
    return not (item.statement is not None or tagged_whole) or held >= _HELD * len(asked)


def figure_of(choice: Choice, query: Query, curation: Curation, facts: FilingFacts) -> Answer | None:
    """The chosen cell as an answer; None if its unit is not what the question asks for."""
    coverage = _coverage(choice.cell, query, facts)
    if not answers_unit(query, coverage):
        return None
    try:
        answer = Computation(query, coverage, curation.kept, facts).answer()
    except ProgramError:
        return None
    if answer.status != "answered":
        return None
    item = choice.cell.item
    named = ", ".join(filter(None, (item.label, item.column_label)))
    return replace(answer, text=f"{answer.text} ({excerpt(named, _LABEL)})", confidence=round(choice.probability, 3))


def value_of(cell: PageCell, query: Query, facts: FilingFacts) -> tuple[float, str] | None:
    """(value, unit) that an answer with ``cell`` states; None if its unit is not what the question asks for."""
    coverage = _coverage(cell, query, facts)
    if not answers_unit(query, coverage):
        return None
    found = next(iter(coverage.found.values()))
    shape = replace(query.shape, currency=found.currency if found.unit.startswith("USD") else "USD")
    return asked_value(found.value, result_unit(query, coverage), shape)


def _coverage(cell: PageCell, query: Query, facts: FilingFacts) -> Coverage:
    """A plan of one value, and the cell as its only operand."""
    item, filing = cell.item, cell.filing
    measure = measure_of(item) or _MEASURES.get(query.shape.unit, "money")
    phrase = Phrase(item.label, words_of(item.label), (), measure)
    operand = Operand(phrase.name, facts.company_of(filing.filing_id), phrase.name, _period(filing), item.label, phrase)
    plan = Plan("value", operand.name, "USD", item.label, (operand,), spelled=True)
    found = found_in(operand, filing, item, amount_of(item, phrase))
    return Coverage(plan, {operand.name: found}, ())


def _period(filing: Filing) -> Period:
    known = filing.period_end
    year = filing.fiscal_year if filing.fiscal_year is not None else known.year if known is not None else 0
    return Period(year, filing.fiscal_period)
