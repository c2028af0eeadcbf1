"""A seeded order in which different measures come before other periods of the same measure."""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")

RECENT = (0.6, 0.3, 0.1)
"""Weights of the filing's own period, the one a year before, and older ones."""


def spread(
    found: Sequence[T], measure: Callable[[T], Hashable], back: Callable[[T], int], rng: random.Random
) -> Iterator[T]:
    """Every item once: one of each ``measure``, then a second one of each, and so on. ``back`` is the number of years
    between an item's period and the filing's own."""
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
