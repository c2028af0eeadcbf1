"""Names that tables shorten to their initials: "NAB" in the rows, "North America Beverages" in the question, or the
other way around."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from finray.core.filing import LineItem
from finray.core.query import Query

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]{1,2})?")
_INITIALS = re.compile(r"(?<![\w&])[A-Z]{2,6}(?![\w&])")
_SKIPPED: Final = frozenset({"and", "of", "the", "for", "in"})
_NOT_NAMES: Final = frozenset({"NA", "NM", "US", "UK", "EU"})
_FEWEST_LOWER = 3
"""Initials of words in lower case are a name from so many letters on."""
_LONGEST = 8
"""Words of a name, with those that have no initial."""


def in_printed_words(query: Query, items: Iterable[LineItem]) -> Query:
    """``query`` with each name as the rows and heads of ``items`` print it, if they have it in one form only."""
    texts = {text for item in items for text in (item.label, item.section, item.column_label) if text}
    shortened = {found for text in texts for found in _INITIALS.findall(text)} - _NOT_NAMES
    printed = "\n".join(texts).casefold()
    names = {
        name: initials
        for name, initials in _names(query.question)
        if initials in shortened and name.casefold() not in printed
    }
    own = set(_INITIALS.findall(query.question)) - shortened - _NOT_NAMES
    if own:
        names |= _written_out(own, texts)
    for name in sorted(names, key=len, reverse=True):
        query = _renamed(query, name, names[name])
    return query


def _names(text: str) -> Iterator[tuple[str, str]]:
    """(name, initials) of every run of words in ``text`` that may be a name."""
    words = list(_WORD.finditer(text))
    for start, first in enumerate(words):
        if first[0].lower() in _SKIPPED:
            continue
        initials, end = "", first.start()
        for last in words[start : start + _LONGEST]:
            if re.search(r"[^\s&,-]", text[end : last.start()]):
                break
            end = last.end()
            if last[0].lower() in _SKIPPED:
                continue
            initials += last[0][0].upper()
            name = text[first.start() : last.end()]
            capital = all(word[0].isupper() for word in _WORD.findall(name) if word.lower() not in _SKIPPED)
            if len(initials) > 1 and (capital or len(initials) >= _FEWEST_LOWER):
                yield name, initials


def _written_out(wanted: set[str], texts: Iterable[str]) -> Mapping[str, str]:
    """The name that ``texts`` have for each of the initials ``wanted``, if it is one."""
    found: dict[str, dict[str, str]] = {}
    for text in texts:
        for name, initials in _names(text):
            if initials in wanted and name[0].isupper():
                found.setdefault(initials, {})[name.casefold()] = name
    return {initials: next(iter(names.values())) for initials, names in found.items() if len(names) == 1}


def _renamed(query: Query, old: str, new: str) -> Query:
    pattern = re.compile(rf"(?<!\w){re.escape(old)}(?!\w)", re.I)
    question, text = (pattern.sub(new, each) for each in (query.question, query.text))
    return replace(
        query, question=question, text=text, quantities=tuple(pattern.sub(new, each) for each in query.quantities)
    )
