"""Words as comparable terms: lower-case English Snowball stems, without function words."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache, lru_cache

import Stemmer

from finray.question.words import word_list

_WORD = re.compile(r"[A-Za-z][A-Za-z&'’]+")
_WORD_OR_BREAK = re.compile(r"[A-Za-z][A-Za-z&'’]+|\n")
_POSSESSIVE = re.compile(r"['’]s?$")
_STOP = word_list("stop")


@cache
def _stemmer() -> Stemmer.Stemmer:
    return Stemmer.Stemmer("english")


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """``word`` without its ending: "declared" and "declare" have the same stem."""
    return str(_stemmer().stemWord(word))


@lru_cache(maxsize=65_536)
def _term(word: str) -> str | None:
    """The term of a lower-case word; None if it is short or a stop word."""
    bare = _POSSESSIVE.sub("", word)
    return None if len(bare) <= 2 or bare in _STOP else stem(bare)


def content_terms(text: str, without: Collection[str] = ()) -> list[str]:
    """Terms of ``text`` in reading order, without function words and the lower-case words ``without``."""
    words = _WORD.findall(text.lower())
    if without:
        words = [word for word in words if _POSSESSIVE.sub("", word) not in without]
    return [term for word in words if (term := _term(word)) is not None]


def term_lines(text: str) -> tuple[list[str], list[int]]:
    """``content_terms`` of ``text``, and for each of its lines the number of the line's first term."""
    terms: list[str] = []
    lines = [0]
    for token in _WORD_OR_BREAK.findall(text.lower()):
        if token == "\n":
            lines.append(len(terms))
        elif (term := _term(token)) is not None:
            terms.append(term)
    return terms, lines
