"""Whether the qualifiers of a phrase and of a table cell agree: current or deferred, foreign or domestic.

Each line of opposed qualifiers has one bit per side, and a set of words becomes a mask of these bits. A comparison is
then a few integer operations, and repeated comparisons are looked up.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache, lru_cache
from typing import Final, NamedTuple

from finray.answering.cells.cell_words import Words
from finray.question.synonyms import qualifiers, words_of

_OF_WHOLE_TABLE: Final = frozenset(words_of("deferred unrecognized"))
"""Qualifiers that apply to every row if they are in the caption."""


class Agreement(NamedTuple):
    """Counts of qualifiers. Asked for: ``missing`` everywhere, or ``contradicted`` by row or column. Not asked for:
    ``near``, that is in row or column; in the heading; in the heading of a row that lacks a word of the phrase
    (``lent``)."""

    missing: int
    contradicted: int
    unasked_near: int
    unasked_heading: int
    unasked_heading_lent: int


def agreement(asked: frozenset[str], label: frozenset[str], words: Words, note: bool) -> Agreement:
    """How the words ``asked`` agree with a cell whose row has the words ``label``. With ``note`` the heading of its
    table qualifies it too."""
    near = qualifier_mask(label) | qualifier_mask(words.column)
    section = qualifier_mask(words.section)
    around = near | section | qualifier_mask(words.caption)
    heading = section | qualifier_mask(words.caption & _OF_WHOLE_TABLE) if note else 0
    return _counted(qualifier_mask(asked), near, around, heading, not asked <= label)


@lru_cache(maxsize=8192)
def _counted(asked: int, near: int, around: int, heading: int, lent: bool) -> Agreement:
    missing = contradicted = unasked_near = unasked_heading = 0
    for line, sides in _lines():
        first = next((side for side in sides if side & asked), 0)
        if first:
            others = line & ~first
            missing += not first & around
            contradicted += bool(others & near and not others & asked and not first & near)
        elif line & near:
            unasked_near += 1
        elif line & heading:
            unasked_heading += 1
    return Agreement(
        missing, contradicted, unasked_near, 0 if lent else unasked_heading, unasked_heading if lent else 0
    )


@lru_cache(maxsize=8192)
def qualifier_mask(words: Collection[str]) -> int:
    """The bits of the sides that have one of ``words``."""
    bits = _bits()
    mask = 0
    for word in words:
        mask |= bits.get(word, 0)
    return mask


@cache
def _bits() -> dict[str, int]:
    """The mask of the sides that each word is in."""
    bits: dict[str, int] = {}
    sides = [side for line in qualifiers() for side in line]
    for number, side in enumerate(sides):
        for word in side:
            bits[word] = bits.get(word, 0) | 1 << number
    return bits


@cache
def _lines() -> tuple[tuple[int, tuple[int, ...]], ...]:
    """(mask of all sides, masks of the sides in order) of each line."""
    lines = []
    number = 0
    for line in qualifiers():
        sides = tuple(1 << number + at for at in range(len(line)))
        lines.append((sum(sides), sides))
        number += len(line)
    return tuple(lines)
