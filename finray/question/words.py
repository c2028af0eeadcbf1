"""Word lists (words.toml) for reading questions."""

from __future__ import annotations

from functools import cache

from finray.core.data_files import shipped_data


@cache
def word_list(name: str) -> frozenset[str]:
    """The list ``name`` of words.toml, lower case. Raises KeyError for an unknown name."""
    return frozenset(shipped_data("finray.question", "words.toml")[name].split())
