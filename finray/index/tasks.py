"""Independent tasks of upkeep: in parallel on a cluster, one after another on a single machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

T = TypeVar("T")


class Run(Protocol):
    """Runs tasks, possibly on other machines, and returns their results in order. Raises what a task raises."""

    def __call__(self, tasks: Sequence[Callable[[], T]], /) -> list[T]: ...


def in_turn(tasks: Sequence[Callable[[], T]], /) -> list[T]:
    """Run one task after another in this process."""
    return [task() for task in tasks]
