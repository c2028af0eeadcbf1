"""Finds the cells of tables that the gold evidence of a question quotes."""

from __future__ import annotations

from finray.answering.cells.page_cells import PageCell
from finray.core.digits import significant_digits
from finray.core.questions import Question
from finray.question.synonyms import words_of

_NAMED = 0.5
"""Share of a row's words that must be in the text that quotes it."""
_FEW_DIGITS = 3
"""A figure with fewer digits may stand elsewhere by chance, so it must be on a gold page."""


def is_evidence(question: Question, cell: PageCell) -> bool:
    """Whether the gold evidence quotes the row and figure of ``cell``, on a gold page unless the figure is too long to
    be quoted by chance. Evidence without a text quotes its whole page."""
    place = (cell.filing.doc_name, cell.item.page)
    for each in question.evidence:
        if not each.text:
            if place in each.places:
                return True
            continue
        label, quoted = set(words_of(cell.item.label)), set(words_of(each.text))
        named = not label or len(label & quoted) >= _NAMED * len(label)
        prints = cell.item.text.strip("$ ()%") in each.text
        if named and prints and (place in each.places or len(significant_digits(cell.item.text)) >= _FEW_DIGITS):
            return True
    return False
