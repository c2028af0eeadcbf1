"""Metrics that a text mentions: named formulas and canonical line items, the longest name first."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from functools import cache, lru_cache

from finray.core.query import Span
from finray.filings.canonical import canonical_items
from finray.question.formulas import formulas


@lru_cache(maxsize=1024)  # a question is looked through again for each of its readings
def mentions(text: str) -> tuple[Span, ...]:
    """Formulas and canonical line items by their names, in reading order; a name inside a longer one ("income" in "net
    income") does not count."""
    pattern, keys = _pattern()
    # Case-blind patterns also match letters that lower() leaves as they are (ſ for s, ı for i): no name has those.
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
    """An alternation of ``names`` in their order, by their first ``letters``: a search that tried each of hundreds of
    names at each word would take as long as all else together."""
    by_letter: dict[str, list[str]] = defaultdict(list)
    for name in names:
        by_letter[name[:1]].append(name[1:])
    alternatives = []
    for letter, rests in by_letter.items():
        first = _spelled(letter)
        if letters > 1 and len(rests) > 1:
            alternatives.append(first + _any_of(rests, letters - 1))
        else:
            alternatives.append(f"{first}(?:{'|'.join(map(_spelled, rests))})")
    return f"(?:{'|'.join(alternatives)})"


def _spelled(name: str) -> str:
    return re.escape(name).replace(r"\ ", r"[\s\-–]++")


def _normal(name: str) -> str:
    return re.sub(r"[\s\-–]+", " ", name.lower()).strip()
