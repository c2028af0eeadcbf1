"""Rows and sentences about a part of a company: a brand, a subsidiary or a segment.

Its company's figures are not the part's, so only what prints the name of the part can answer a question about it.
"""

from __future__ import annotations

import re
from functools import lru_cache

from finray.core.filing import LineItem
from finray.core.predictions import Answer
from finray.core.query import Query
from finray.filings.tables.canonical import canonical_items
from finray.question.measures.formulas import line_items_of
from finray.question.synonyms import word_set
from finray.retrieval.own_names import printed_name
from finray.retrieval.question_names import prints

_LEAST_NAMED = 0.5
"""Share of the words of a phrase, besides the part's own, that a row or sentence about the part must have."""
_INITIALS = 6
"""A shorter name in capitals, such as AWS, is printed in capitals."""


def prints_part(query: Query, *texts: str | None) -> bool:
    """Whether one of ``texts`` prints the part of a company that ``query`` is about; True if it is about none."""
    names = query.part_names
    if not names:
        return True
    return any(_prints_one(names, text) for text in texts if text)


def has_part(query: Query, answer: Answer) -> bool:
    """Whether a cell of ``answer``, or a passage if it has no cell, prints the part that ``query`` names with its
    company."""
    named = (own for own in query.own_names if own.with_company and own.relation == "part")
    texts = ((cell.label, cell.section, cell.column_label, cell.registrant) for cell in answer.operands)
    printed = [text for own in texts for text in own if text]
    printed = printed or [passage.text for passage in answer.evidence]
    return all(any(_prints_one(own.spellings, text) for text in printed) for own in named)


def item_of_part(query: Query, item: LineItem) -> bool:
    return prints_part(query, item.label, item.section, item.column_label, item.caption, item.registrant)


def names_measure(query: Query, *texts: str | None) -> bool:
    """Whether one of ``texts`` names what ``query`` asks of a part: a metric that it names; or all together half the
    words of a phrase for it. True if it is about no part, or not about a figure."""
    if not query.part_names or "cause" in query.intents or not query.measures:
        return True
    of_each = [word_set(text) for text in texts if text]
    words = frozenset().union(*of_each)
    names = [name for key in line_items_of(query.metrics) for name in canonical_items()[key].names]
    if names:
        return any(word_set(name) <= own for name in names for own in of_each)
    own = frozenset().union(*map(word_set, query.part_names))
    phrases = [set(phrase.words) - own for each in query.measures for phrase in each.phrases.values()]
    return any(len(wanted & words) >= _LEAST_NAMED * len(wanted) for wanted in phrases)


@lru_cache(maxsize=4096)  # a caption stands above many cells
def _prints_one(names: tuple[str, ...], text: str) -> bool:
    return any(prints(text, name, pattern) for name, pattern in zip(names, _patterns(names), strict=True))


@lru_cache(maxsize=256)
def _patterns(names: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    return tuple(
        re.compile(rf"\b{re.escape(name)}\b") if name.isupper() and len(name) <= _INITIALS else printed_name(name)
        for name in names
    )
