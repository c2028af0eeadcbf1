"""Splits examples so that no model is tested on a group, such as a company, that it was trained on."""

from __future__ import annotations

import random
from collections.abc import Sequence


def folds_by_group(groups: Sequence[str], folds: int) -> list[tuple[list[int], list[int]]]:
    """(training, held out) as indexes into ``groups``. Each group is held out once; its fold depends only on the set of
    groups. Folds with an empty side are omitted."""
    names = sorted(set(groups))
    random.Random(0).shuffle(names)
    fold_of = {name: number % folds for number, name in enumerate(names)}
    parts = [
        (
            [at for at, group in enumerate(groups) if fold_of[group] != fold],
            [at for at, group in enumerate(groups) if fold_of[group] == fold],
        )
        for fold in range(folds)
    ]
    return [(rest, own) for rest, own in parts if rest and own]
