"""What stands around the quantities of made-up questions: sentences, companies, periods and parts of a company."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from finray.core.data_files import shipped_data


@cache
def surroundings() -> Mapping[str, Sequence[str]]:
    """``before``, ``after``, ``companies``, ``periods`` and ``parts`` of surroundings.toml."""
    found: Mapping[str, Sequence[str]] = shipped_data("finray.lab.training.question", "surroundings.toml")
    return found
