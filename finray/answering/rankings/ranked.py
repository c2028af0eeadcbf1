"""Ranks the members of a block by a figure, or by its change between two slots, from the highest or the lowest."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, get_args

from finray.answering.rankings.blocks import BEFORE, Block, Slot

Measured = Literal["value", "difference", "growth"]
MEASURED: Final[tuple[Measured, ...]] = get_args(Measured)
_LEAST_DAYS, _MOST_DAYS = 80, 6 * 366
_MOST_PAIRS = 8


@dataclass(frozen=True, slots=True)
class Ranking:
    """``block`` ranked by what is ``measured``: the figure in ``slot``, or its change from ``base`` to ``slot``. If
    ``lowest``, the smallest figure or the largest fall wins. ``at`` are the numbers of the ranked members, ``figures``
    theirs in base units, growth as a fraction."""

    block: Block
    measured: Measured
    lowest: bool
    slot: Slot
    base: Slot | None
    at: tuple[int, ...]
    figures: tuple[float, ...]

    @property
    def order(self) -> tuple[int, ...]:
        """Places in ``at``, the winner's first."""
        sign = 1 if self.lowest else -1
        return tuple(sorted(range(len(self.at)), key=lambda number: sign * self.figures[number]))

    @property
    def winner(self) -> int:
        """The number of the member that wins."""
        return self.at[self.order[0]]

    @property
    def tied(self) -> bool:
        """Whether two members share the first place."""
        first, second = self.order[:2]
        return self.figures[first] == self.figures[second]


def rankings_of(block: Block) -> Iterator[Ranking]:
    """All rankings of ``block`` with at least two figures and one winner."""
    for slot in block.slots:
        if slot.months == BEFORE:
            continue
        at = [n for n, member in enumerate(block.members) if slot in member.cells]
        figures = [block.members[n].amounts[slot] for n in at]
        yield from _rankings(block, "value", slot, None, at, figures)
    for slot, base in itertools.islice(_pairs(block), _MOST_PAIRS):
        both = [n for n, member in enumerate(block.members) if slot in member.cells and base in member.cells]
        amounts = [(block.members[n].amounts[slot], block.members[n].amounts[base]) for n in both]
        yield from _rankings(block, "difference", slot, base, both, [new - old for new, old in amounts])
        grown = [(n, new / old - 1) for n, (new, old) in zip(both, amounts, strict=True) if old > 0]
        yield from _rankings(block, "growth", slot, base, [n for n, _ in grown], [figure for _, figure in grown])


def _rankings(
    block: Block, measured: Measured, slot: Slot, base: Slot | None, at: list[int], figures: list[float]
) -> Iterator[Ranking]:
    """From the highest and from the lowest."""
    if len(at) < 2 or len(set(figures)) < 2:
        return
    for lowest in (False, True):
        ranking = Ranking(block, measured, lowest, slot, base, tuple(at), tuple(figures))
        if not ranking.tied:
            yield ranking


def _pairs(block: Block) -> Iterator[tuple[Slot, Slot]]:
    """Each slot with each earlier one of the same part and length, the closest periods first."""
    if block.axis == "periods":
        yield from ((slot, base) for slot, base in itertools.permutations(block.slots, 2) if base.months == BEFORE)
        return
    dated = [slot for slot in block.slots if slot.end is not None]
    found = []
    for slot, base in itertools.permutations(dated, 2):
        if slot.end is None or base.end is None or (slot.part, slot.months) != (base.part, base.months):
            continue
        days = (slot.end - base.end).days
        if _LEAST_DAYS <= days <= _MOST_DAYS:
            found.append((days, slot, base))
    yield from ((slot, base) for _, slot, base in sorted(found, key=lambda each: each[0]))
