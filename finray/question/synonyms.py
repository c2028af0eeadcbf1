"""General accounting synonyms (synonyms.toml): the wordings of a phrase in questions and tables."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from finray.core.data_files import shipped_data
from finray.question.terms import stem

MAX_VARIANTS = 24
_WORD = re.compile(r"[a-z0-9&]+")
_US = re.compile(r"\bu\.\s?s\.?(?!\w)")
_NON = re.compile(r"\bnon[\s-]+(?=[a-z])")
_TERM = re.compile(r"\b(long|short)[\s-]?term\b")


def words_of(text: str) -> tuple[str, ...]:
    """Words of ``text`` for comparison: lower-case stems without function words. "non-current" equals "noncurrent",
    "U.S." equals "us"."""
    text = text.lower()
    if "u." in text:
        text = _US.sub("us", text)
    text = text.replace("’", "'").replace("'s", "").replace("'", "")
    if "non" in text:
        text = _NON.sub("non", text)
    if "term" in text:
        text = _TERM.sub(r"\1term", text)
    function_words = _function_words()
    return tuple([stem(word) for word in _WORD.findall(text) if word not in function_words])


@lru_cache(maxsize=16_384)
def word_set(text: str) -> frozenset[str]:
    """The words of ``text``, cached: rows, headings and sentences recur between the stages of a question."""
    return frozenset(words_of(text))


@dataclass(frozen=True, slots=True)
class Wordings:
    """Phrases that mean the same, as words: ``groups`` of them, the numbers of the groups that each is in
    (``group_of``), and the most words of a phrase (``longest``)."""

    groups: tuple[tuple[tuple[str, ...], ...], ...]
    group_of: dict[tuple[str, ...], tuple[int, ...]]
    longest: int


@cache
def wordings() -> Wordings:
    """The synonyms that come with finray."""
    groups = tuple(tuple(dict.fromkeys(words_of(phrase) for phrase in group)) for group in _data()["groups"])
    group_of: dict[tuple[str, ...], tuple[int, ...]] = {}
    for number, group in enumerate(groups):
        for phrase in group:
            group_of[phrase] = (*group_of.get(phrase, ()), number)
    return Wordings(groups, group_of, max(map(len, group_of)))


@cache
def qualifiers() -> tuple[tuple[frozenset[str], ...], ...]:
    """Lines of sets of words that exclude each other: (current, non-current), (federal, state) …"""
    lines = _data()["qualifiers"].values()
    return tuple(tuple(frozenset(word for text in side for word in words_of(text)) for side in line) for line in lines)


def variants(words: tuple[str, ...]) -> list[tuple[str, ...]]:
    """``words``, then the same with phrases replaced by synonyms; at most MAX_VARIANTS."""
    found: list[tuple[str, ...]] = [words]
    seen = {words}
    for start, stop, numbers in _phrases(words):
        if len(found) == MAX_VARIANTS:
            break
        for base in list(found):
            # Replacements further right leave this place where it is; an overlapping one may have changed it.
            if base[start:stop] != words[start:stop]:
                continue
            for number in numbers:
                for other in wordings().groups[number]:
                    changed = (*base[:start], *other, *base[stop:])
                    if changed not in seen and len(found) < MAX_VARIANTS:
                        seen.add(changed)
                        found.append(changed)
    return found


def _phrases(words: tuple[str, ...]) -> list[tuple[int, int, tuple[int, ...]]]:
    """(start, stop, numbers of its groups) of the phrases in ``words``, from right to left, the longest at each place,
    without overlap."""
    found = []
    stop = len(words)
    while stop > 0:
        for start in range(max(0, stop - wordings().longest), stop):
            numbers = wordings().group_of.get(words[start:stop])
            if numbers is not None:
                found.append((start, stop, numbers))
                stop = start
                break
        else:
            stop -= 1
    return found


@cache
def _function_words() -> frozenset[str]:
    return frozenset(_data()["function_words"].split())


@cache
def _data() -> Any:
    return shipped_data("finray.question", "synonyms.toml")
