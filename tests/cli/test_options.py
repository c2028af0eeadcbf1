"""Options that are shorthands for settings."""

from __future__ import annotations

from typing import Any

import pytest

from finray.cli.options import pool_of
from finray.core.errors import UsageError
from finray.core.settings import load_settings


@pytest.mark.parametrize(
    ("workers", "show", "expected"),
    [(None, False, (0, 0, False)), ("3", True, (3, 3, True)), ("1:8", False, (1, 8, False))],
)
def test_workers_and_show_ray_are_settings(workers: str | None, show: bool, expected: tuple[Any, ...]) -> None:
    made = load_settings(overrides=pool_of(workers, show), environment={}).index_job
    assert (made.embed_workers_min, made.embed_workers_max, made.show_ray) == expected


@pytest.mark.parametrize("workers", ["", "0", "many", "8:1", ":4", "1:2:3", "-1"])
def test_an_impossible_number_of_workers_is_refused_with_an_example(workers: str) -> None:
    with pytest.raises(UsageError, match="MIN:MAX such as 1:8"):
        pool_of(workers, False)
