"""Word lists (words.toml) for reading questions, and the blanking of words that are read."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from finray.core.data_files import shipped_data


@cache
def word_list(name: str) -> frozenset[str]:
    """The list ``name`` of words.toml, lower case. Raises KeyError for an unknown name."""
    return frozenset(shipped_data("finray.question", "words.toml")[name].split())


def blanked(text: str, places: Iterable[tuple[int, int]]) -> str:
    """``text`` with spaces in place of each (start, end), so that the rest stays where it is."""
    characters = list(text)
    for start, end in places:
        characters[start:end] = " " * (end - start)
    return "".join(characters)
