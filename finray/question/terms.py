"""Words as comparable terms: lower-case English Snowball stems, without function words."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache, lru_cache

import numpy as np
import numpy.typing as npt
import Stemmer

from finray.question.words import word_list

_WORD = re.compile(r"[A-Za-z][A-Za-z&'’]+")
_WORD_OR_BREAK = re.compile(r"[A-Za-z][A-Za-z&'’]+|\n")
_POSSESSIVE = re.compile(r"['’]s?$")
_STOP = word_list("stop")
_NO_TERM, _BREAK = 0, 2
Codes = npt.NDArray[np.int64]


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


def term_code(term: str) -> int:
    """A number for ``term`` that is the same as long as this process lives."""
    return hash(term) | 1


@lru_cache(maxsize=65_536)
def _token_code(token: str) -> int:
    """The code of a lower-case word's term, which is odd; an even number for a line break or a word without a term."""
    if token == "\n":
        return _BREAK
    term = _term(token)
    return _NO_TERM if term is None else term_code(term)


def term_lines(text: str) -> tuple[Codes, Codes]:
    """The :func:`term_code` of each of the ``content_terms`` of ``text``, and for each of its lines the number of the
    line's first term."""
    tokens = _WORD_OR_BREAK.findall(text.lower())
    codes = np.fromiter(map(_token_code, tokens), np.int64, len(tokens))
    is_term = codes & 1 == 1
    breaks = np.cumsum(is_term)[codes == _BREAK]
    return codes[is_term], np.concatenate([np.zeros(1, np.int64), breaks])
