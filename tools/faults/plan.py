"""Draws the plan of one cycle of the long run from its seed."""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

from tools.faults.world import CHANGES, Change, Operation

Kind = Literal["kill", "edgar", "s3", "two", "damage"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
_WEIGHTS: Final[dict[Kind, int]] = {"kill": 4, "edgar": 3, "two": 3, "damage": 3, "s3": 1}
"""S3 cycles take several times longer."""
_OPERATIONS: Final[tuple[Operation, ...]] = ("sync", "sync", "sync", "index", "answer", "maintain", "repair")
_WITH_EDGAR: Final[tuple[Operation, ...]] = ("sync",)
_MOST_STEPS = 3


@dataclass(frozen=True, slots=True)
class Step:
    """One disturbed operation. Faults may coincide, such as a kill while EDGAR fails. ``second`` runs concurrently."""

    operation: Operation
    kinds: frozenset[Kind]
    second: Operation | None = None

    def __str__(self) -> str:
        both = f"{self.operation} beside {self.second}" if self.second else self.operation
        return f"{both}: {self.fault}"

    @property
    def fault(self) -> str:
        return "+".join(kind for kind in KINDS if kind in self.kinds)


@dataclass(frozen=True, slots=True)
class Plan:
    """Start with nothing (``fresh``) or a finished world; then EDGAR changes; then the steps run."""

    seed: int
    on_s3: bool
    fresh: bool
    change: Change
    steps: tuple[Step, ...]

    def __str__(self) -> str:
        start = "from nothing" if self.fresh else f"after {self.change}"
        return f"{'S3' if self.on_s3 else 'disk'}, {start}; " + "; ".join(map(str, self.steps))


def draw(seed: int, only: Collection[Kind] = KINDS) -> Plan:
    """The plan of ``seed``. The same seed and kinds give the same plan."""
    chance = random.Random(seed)
    kinds = [kind for kind in KINDS if kind in only]
    steps = [_step(chance, kinds) for _ in range(chance.randint(1, _MOST_STEPS))]
    on_s3 = any("s3" in step.kinds for step in steps)
    if on_s3:  # damage works only on local files
        steps = [step for step in steps if "damage" not in step.kinds]
    return Plan(seed, on_s3, chance.random() < 0.3, chance.choice(CHANGES), tuple(steps))


def _step(chance: random.Random, kinds: Sequence[Kind]) -> Step:
    kind = chance.choices(kinds, [_WEIGHTS[kind] for kind in kinds])[0]
    operation = chance.choice(_WITH_EDGAR if kind == "edgar" else _OPERATIONS)
    if kind == "damage":
        return Step(operation, frozenset({kind}))
    both: set[Kind] = {kind}
    if kind != "kill" and "kill" in kinds and chance.random() < 0.4:
        both.add("kill")
    return Step(operation, frozenset(both), chance.choice(_OPERATIONS) if kind == "two" else None)
