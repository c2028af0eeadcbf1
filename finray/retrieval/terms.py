"""Words as terms that can be compared: lower case, without endings (Snowball, English), without function words."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache, lru_cache

import Stemmer

from finray.retrieval.words import word_list

_WORD = re.compile(r"[A-Za-z][A-Za-z&'’]+")
_POSSESSIVE = re.compile(r"['’]s?$")
_STOP = word_list("stop")


@cache
def _stemmer() -> Stemmer.Stemmer:
    return Stemmer.Stemmer("english")


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """``word`` without its endings: "declared" and "declare" are one."""
    return str(_stemmer().stemWord(word))


def content_terms(text: str, without: Collection[str] = ()) -> list[str]:
    """Terms of ``text`` in reading order, function words and the lower-case words ``without`` left out."""
    words = (_POSSESSIVE.sub("", word) for word in _WORD.findall(text.lower()))
    return [stem(word) for word in words if len(word) > 2 and word not in _STOP and word not in without]
