"""The number that a cell stands for in a computation."""

from __future__ import annotations

import math
from collections.abc import Sequence

from finray.answering.cells.operands import found_in, printed_amount
from finray.answering.cells.page_cells import PageCell, measure_of
from finray.answering.cells.printed_sign import SignedRow, is_deducted
from finray.answering.table_reader.operations import Operation
from finray.core.filing import Filing, LineItem
from finray.core.period import Period
from finray.core.plan import Found, Operand, Phrase, Unit
from finray.core.query import PIECES, Query
from finray.index.reading.facts import FilingFacts
from finray.question.measures.named import UNIT_OF
from finray.question.synonyms import words_of


def quantity_words(query: Query) -> str:
    """The words of the question that name its figures."""
    return " ".join(query.quantities).replace(PIECES, " ")


def unit_of_cell(item: LineItem) -> Unit:
    """The unit of the figure; plain numbers count as money, as :func:`measure_of` cannot tell what they are."""
    return UNIT_OF[measure_of(item) or "money"]


def amount_of(item: LineItem, asked: str = "") -> float:
    """The figure in base units, percent as a fraction; positive if its parentheses mean paid or deducted. ``asked`` is
    what the question asks for, if that is this row."""
    value = printed_amount(Phrase(item.label, (), (), measure_of(item) or "money"), item)
    return -value if value < 0 and is_deducted(SignedRow.of(item, asked)) else value


def signed_amount(item: LineItem) -> float:
    """:func:`amount_of` with the printed sign."""
    return math.copysign(amount_of(item), item.value)


def added_with_signs(operation: Operation, amounts: Sequence[float], signed: Sequence[float]) -> Sequence[float]:
    """Returns what ``operation`` computes with: ``amounts``, but a sum adds up the ``signed`` ones if their signs
    differ, such as proceeds and (repayments)."""
    signs = {amount < 0 for amount in signed if amount}
    return signed if operation == "sum" and len(signs) > 1 else amounts


def phrase_of_row(item: LineItem) -> Phrase:
    """The row's label as a phrase to look up."""
    return Phrase(item.label, words_of(item.label), (), measure_of(item) or "money")


def operand_of(cell: PageCell, name: str, amount: float, facts: FilingFacts) -> Found:
    """``cell`` as the operand ``name`` of a program, with the value ``amount``."""
    filing, item = cell.filing, cell.item
    company = facts.company_of(filing.filing_id)
    operand = Operand(name, company, name, _period(filing), item.label, phrase_of_row(item))
    return found_in(operand, filing, item, amount)


def _period(filing: Filing) -> Period:
    end = filing.closes
    year = filing.fiscal_year if filing.fiscal_year is not None else end.year if end is not None else 0
    return Period(year, filing.fiscal_period)
