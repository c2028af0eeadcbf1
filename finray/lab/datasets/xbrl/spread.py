"""A seeded order in which different measures come before different periods of the same one."""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")

RECENT = (0.6, 0.3, 0.1)
"""How often people ask for the filing's own period, the one a year before, and older ones."""


def spread(
    found: Sequence[T], measure: Callable[[T], Hashable], back: Callable[[T], int], rng: random.Random
) -> Iterator[T]:
    """Every item once: one of each ``measure``, then a second one of each that has more, and so on. ``back`` is how
    many years before the filing's own period an item is about."""
    groups: dict[Hashable, list[T]] = {}
    for item in found:
        groups.setdefault(measure(item), []).append(item)
    order = list(groups.values())
    rng.shuffle(order)
    while order:
        for group in order:
            weights = [RECENT[min(back(item), len(RECENT) - 1)] for item in group]
            chosen = rng.choices(range(len(group)), weights)[0]
            yield group.pop(chosen)
        order = [group for group in order if group]
