"""Splits examples so that no model is tested on a group, such as a company, that it was trained on."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import TypeVar

Example = TypeVar("Example")
FOLDS = 5


def folds_by_group(
    examples: Sequence[Example], group: Callable[[Example], str], folds: int = FOLDS
) -> list[tuple[list[Example], list[Example]]]:
    """(training, held out) of each fold. Each ``group`` is held out once; its fold depends only on the set of groups.
    Folds with an empty side are omitted."""
    names = sorted(set(map(group, examples)))
    random.Random(0).shuffle(names)
    fold_of = {name: number % folds for number, name in enumerate(names)}
    parts = [
        (
            [example for example in examples if fold_of[group(example)] != fold],
            [example for example in examples if fold_of[group(example)] == fold],
        )
        for fold in range(folds)
    ]
    return [(rest, own) for rest, own in parts if rest and own]
