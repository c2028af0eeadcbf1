"""The words of a question in the forms in which names of companies are compared, and which of them are common."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from itertools import islice

from finray.models.static_encoder import shipped_vocabulary
from finray.question.companies.company_groups import unaccented
from finray.question.words import word_list

SUFFIXES = word_list("legal_suffixes")
_WORD = re.compile(r"[^\W_]+(?:['’&.\-][^\W_]+)*")
_PLAIN = re.compile(r"[a-z0-9]+")
_POSSESSIVE = re.compile(r"['’]s?$", re.I)
_COMMON = 3_500
"""How many words are common. "ford" and "target" are among the first 3,500, "apple" and "visa" are not."""


@dataclass(frozen=True, slots=True)
class NameWord:
    """``plain`` is the word's lower-case letters and digits; ``is_name_like`` if it has capitals, as names do."""

    text: str
    start: int
    end: int
    possessive: bool
    plain: str
    is_name_like: bool

    @property
    def is_legal_suffix(self) -> bool:
        return self.is_name_like and self.text.lower().rstrip(".") in SUFFIXES


def name_words(text: str) -> list[NameWord]:
    """The words of ``text``, without possessive endings."""
    words = []
    for match in _WORD.finditer(text):
        raw = match.group()
        bare = _POSSESSIVE.sub("", raw)
        follows = text[match.end() : match.end() + 2]
        possessive = bare != raw or follows[:1] in ("'", "’")
        if bare:
            plain = "".join(_PLAIN.findall(unaccented(bare).lower()))
            capitals = any(map(str.isupper, bare)) and not bare.isdigit()
            words.append(NameWord(bare, match.start(), match.start() + len(bare), possessive, plain, capitals))
    return words


@cache
def common_words() -> frozenset[str]:
    """Words so common that without a capital they hardly name a company: "cost", "target", "block".

    They are the first of MiniLM's vocabulary, which lists whole words by their frequency in English text. Raises
    ModelUnavailableError.
    """
    words = (token for token in shipped_vocabulary() if token.isascii() and token.isalpha() and len(token) > 1)
    return frozenset(islice(words, _COMMON))
