"""Finds the metrics, formulas and canonical line items, that a text names."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from functools import cache, lru_cache

from finray.core.query import Span
from finray.filings.tables.canonical import canonical_items
from finray.question.measures.formulas import formulas


@lru_cache(maxsize=1024)  # a question is searched several times
def mentions(text: str) -> tuple[Span, ...]:
    """Formulas and canonical line items in reading order. The longest name wins: "net income", not "income"."""
    pattern, keys = _pattern()
    # re.IGNORECASE also matches letters that lower() keeps (ſ for s, ı for i), which are in no name.
    found = ((keys.get(_normal(match.group())), match) for match in pattern.finditer(text))
    return tuple(Span("metric", match.start(), match.end(), key) for key, match in found if key is not None)


@cache
def _pattern() -> tuple[re.Pattern[str], dict[str, str]]:
    keys: dict[str, str] = {}
    for formula in formulas().values():
        keys |= {_normal(name): formula.key for name in formula.names}
    for item in canonical_items().values():
        for name in item.names:
            keys.setdefault(_normal(name), item.key)
    body = _any_of(sorted(keys, key=len, reverse=True))
    plurals = {f"{name}{ending}": key for name, key in keys.items() for ending in ("es", "s")}
    return re.compile(rf"(?<![\w&]){body}(?:e?s)?(?![\w&])", re.I), plurals | keys


def _any_of(names: Iterable[str], letters: int = 3) -> str:
    """An alternation of ``names`` in their order, as a tree of their first ``letters``: much faster to search than a
    flat list of hundreds of names."""
    by_letter: dict[str, list[str]] = defaultdict(list)
    for name in names:
        by_letter[name[:1]].append(name[1:])
    alternatives = []
    for letter, rests in by_letter.items():
        first = _name_pattern(letter)
        if letters > 1 and len(rests) > 1:
            alternatives.append(first + _any_of(rests, letters - 1))
        else:
            alternatives.append(f"{first}(?:{'|'.join(map(_name_pattern, rests))})")
    return f"(?:{'|'.join(alternatives)})"


def _name_pattern(name: str) -> str:
    return re.escape(name).replace(r"\ ", r"[\s\-–]++")


def _normal(name: str) -> str:
    return re.sub(r"[\s\-–]+", " ", name.lower()).strip()
