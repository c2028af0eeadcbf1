"""Word lists (words.toml) for reading questions."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources


@cache
def word_list(name: str) -> frozenset[str]:
    """The list ``name`` of words.toml, lower case. Raises KeyError for an unknown name."""
    text = (resources.files("finray.question") / "words.toml").read_text(encoding="utf-8")
    words: str = tomllib.loads(text)[name]
    return frozenset(words.split())
