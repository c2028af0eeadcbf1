"""Names that tables shorten to their initials: "NAB" in the rows, "North America Beverages" in the question, or the
other way around."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from finray.core.filing import LineItem
from finray.core.query import Query

_WORD = re.compile(r"[^\W\d_]+")
_INITIALS = re.compile(r"(?<![\w&])[A-Z]{2,6}(?![\w&])")
_ALONE = re.compile(r"\s*([A-Z]{2,6})(?:\s*\([a-z0-9]{1,2}\))*\s*")
"""A head or row that is nothing but initials and footnote marks."""
_SKIPPED: Final = frozenset({"and", "of", "the", "for", "in"})
_BETWEEN = re.compile(rf"(?:[\s&-]|\b(?:{'|'.join(sorted(_SKIPPED))})\b)*", re.I)
_NOT_NAMES: Final = frozenset({"NA", "NM"})
"""Marks of what is not available or not meaningful."""
_FEWEST, _FEWEST_LOWER = 3, 4
"""Least letters of initials in a longer text, and of those whose words are not capitalized."""
_MOST = 8
"""Names in one question that are replaced."""


def in_printed_words(query: Query, items: Iterable[LineItem]) -> Query:
    """``query`` with each name as the rows and heads of ``items`` print it, if they have it in one form only. Companies
    keep their names, and a word that is also printed in lower case ("TAX", "Tax") is not a name."""
    texts = dict.fromkeys(text for item in items for text in (item.label, item.section, item.column_label) if text)
    ordinary = {word.upper() for text in texts for word in _WORD.findall(text) if not word.isupper()}
    shortened = {initials for text in texts for initials in _printed_initials(text)} - ordinary - _NOT_NAMES
    printed = "\n".join(texts).casefold()
    names = {
        name: initials
        for name, initials in _names(query.question, shortened)
        if len(initials) >= (2 if _is_capitalized(name) else _FEWEST_LOWER) and name.casefold() not in printed
    }
    names |= _written_out(_initials(query.question) - shortened, texts)
    companies = " ".join(query.names).casefold()
    longest = sorted(names, key=lambda name: (-len(name), name))
    kept = [name for name in longest if name.casefold() not in companies][:_MOST]
    return _renamed(query, {name: names[name] for name in kept}) if kept else query


def _printed_initials(text: str) -> set[str]:
    """The text itself if it is nothing but initials, else those in it."""
    alone = _ALONE.fullmatch(text)
    return {alone[1]} if alone else _initials(text)


def _initials(text: str) -> set[str]:
    """Those in ``text``; none if it is all in capitals."""
    if text.upper() == text:
        return set()
    return {found for found in _INITIALS.findall(text) if len(found) >= _FEWEST}


def _names(text: str, wanted: Collection[str]) -> Iterator[tuple[str, str]]:
    """(name, initials) of every run of words in ``text`` whose initials are ``wanted``."""
    words = [word for word in _WORD.finditer(text) if word[0].lower() not in _SKIPPED]
    letters = "".join(word[0][0] for word in words).upper()
    if len(letters) != len(words):  # a letter with no single capital
        return
    for initials in wanted:
        start = letters.find(initials)
        while start >= 0:
            run = words[start : start + len(initials)]
            gaps = (text[left.end() : right.start()] for left, right in itertools.pairwise(run))
            if all(map(_BETWEEN.fullmatch, gaps)):
                yield text[run[0].start() : run[-1].end()], initials
            start = letters.find(initials, start + 1)


def _is_capitalized(name: str) -> bool:
    return all(word[0].isupper() for word in _WORD.findall(name) if word.lower() not in _SKIPPED)


def _written_out(wanted: Collection[str], texts: Iterable[str]) -> Mapping[str, str]:
    """The name in ``texts`` with each of the initials ``wanted``, if only one has them."""
    if not wanted:
        return {}
    found: dict[str, dict[str, str]] = {}
    for text in texts:
        for name, initials in _names(text, wanted):
            if _is_capitalized(name):
                found.setdefault(initials, {}).setdefault(name.casefold(), name)
    return {initials: next(iter(names.values())) for initials, names in found.items() if len(names) == 1}


def _renamed(query: Query, names: Mapping[str, str]) -> Query:
    """``query`` with each of ``names``, the longest first, replaced by its value."""
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, names))})(?!\w)")

    def renamed(text: str) -> str:
        return pattern.sub(lambda match: names[match[0]], text)

    quantities = tuple(map(renamed, query.quantities))
    return replace(query, question=renamed(query.question), text=renamed(query.text), quantities=quantities)
