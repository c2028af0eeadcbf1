"""Groups that are held out."""

from __future__ import annotations

from finray.lab.training.group_folds import folds_by_group


def test_groups_are_held_out_once_each() -> None:
    groups = [name for name in "abcdefg" for _ in range(3)]
    parts = folds_by_group(range(len(groups)), groups.__getitem__)
    assert sorted(at for _, own in parts for at in own) == list(range(len(groups)))
    for rest, own in parts:
        assert not {groups[at] for at in rest} & {groups[at] for at in own}
    assert folds_by_group(["a", "a"], str) == []
