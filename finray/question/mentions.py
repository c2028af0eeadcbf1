"""Metrics that a text mentions: named formulas and canonical line items, the longest name first."""

from __future__ import annotations

import re
from functools import cache

from finray.core.query import Span
from finray.filings.canonical import canonical_items
from finray.question.formulas import formulas


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
    alternatives = sorted(keys, key=len, reverse=True)
    body = "|".join(re.escape(name).replace(r"\ ", r"[\s\-–]+") for name in alternatives)
    plurals = {f"{name}{ending}": key for name, key in keys.items() for ending in ("es", "s")}
    return re.compile(rf"(?<![\w&])(?:{body})(?:e?s)?(?![\w&])", re.I), plurals | keys


def _normal(name: str) -> str:
    return re.sub(r"[\s\-–]+", " ", name.lower()).strip()
