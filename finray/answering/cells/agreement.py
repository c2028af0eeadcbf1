"""Whether the qualifiers of a phrase and of a table cell agree: current or deferred, foreign or domestic.

A set of words becomes a mask with one bit for each side of each line of opposed qualifiers, so that a comparison is a
few operations on integers, and equal ones are computed once.
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
    """Counts of qualifiers: asked for and ``missing`` everywhere, ``contradicted`` by row or column, or not asked for:
    in row or column, or in the heading, also of a row that lacks a word of the phrase."""

    missing: int
    contradicted: int
    unasked_near: int
    unasked_heading: int
    unasked_heading_lent: int


def agreement(asked: frozenset[str], label: frozenset[str], words: Words, note: bool) -> Agreement:
    """How the words ``asked`` agree with a cell whose row has the words ``label``. ``note``: the heading of its table
    qualifies it too."""
    near = qualifier_mask(label) | qualifier_mask(words.column)
    section = qualifier_mask(words.section)
    heading = section | qualifier_mask(words.caption & _OF_WHOLE_TABLE) if note else 0
    return _counted(
        qualifier_mask(asked), near, near | section | qualifier_mask(words.caption), heading, not asked <= label
    )


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
    """The sides that each word is in."""
    bits: dict[str, int] = {}
    sides = [side for line in qualifiers() for side in line]
    for number, side in enumerate(sides):
        for word in side:
            bits[word] = bits.get(word, 0) | 1 << number
    return bits


@cache
def _lines() -> tuple[tuple[int, tuple[int, ...]], ...]:
    """Each line as the mask of its sides, and the sides in order."""
    lines = []
    number = 0
    for line in qualifiers():
        sides = tuple(1 << number + at for at in range(len(line)))
        lines.append((sum(sides), sides))
        number += len(line)
    return tuple(lines)
