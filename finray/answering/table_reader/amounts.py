"""The number that a cell stands for in a computation."""

from __future__ import annotations

import math
from collections.abc import Sequence

from finray.answering.cells.operands import printed_amount
from finray.answering.cells.page_cells import measure_of
from finray.answering.cells.printed_sign import SignedRow, is_deducted
from finray.answering.table_reader.operations import Operation, added_places
from finray.core.filing import LineItem
from finray.core.plan import Phrase
from finray.core.query import PIECES, Query
from finray.question.synonyms import words_of


def phrase_of_row(item: LineItem) -> Phrase:
    """The row's own label as what is looked up."""
    return Phrase(item.label, words_of(item.label), (), measure_of(item) or "money")


def asked_for(query: Query) -> str:
    """The words of the question that name its figures."""
    return " ".join(query.quantities).replace(PIECES, " ")


def amount_of(item: LineItem, phrase: Phrase | None = None, asked: str = "") -> float:
    """In base units, percent as a fraction; positive in a row whose parentheses mean paid or deducted. ``asked`` names
    what a question asks for, if that is this row."""
    value = printed_amount(phrase or Phrase(item.label, (), (), measure_of(item) or "money"), item)
    return -value if value < 0 and is_deducted(SignedRow.of(item, asked)) else value


def signed_amount(item: LineItem, phrase: Phrase | None = None) -> float:
    """The same with the printed sign."""
    return math.copysign(amount_of(item, phrase), item.value)


def operands_of(operation: Operation, amounts: Sequence[float], signed: Sequence[float]) -> Sequence[float]:
    """What ``operation`` computes with: ``amounts``, but proceeds and (repayments) are added up with their signs."""
    added = set(added_places(operation, len(signed)))
    signs = {value < 0 for place, value in enumerate(signed) if place in added and value}
    if len(signs) < 2:
        return amounts
    return [signed[place] if place in added else amount for place, amount in enumerate(amounts)]
