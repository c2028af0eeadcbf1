"""Finds the names in a question, and where texts print them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from finray.question.companies.company_groups import core_name
from finray.question.words import word_list

_MOST = 6
"""Names that are searched for, at most."""
_NAME = re.compile(r"(?<![\w-])(?:[A-ZÀ-ÖØ-ÞİŞĞČŠŽ][\w&.’'-]*|[a-z][A-Z][\w-]*)")
_SENTENCE_START = re.compile(r"(?:^|[.?!:]\s++|[“\"(]\s*+)$")
_POSSESSIVE = re.compile(r"['’]s?$")
_NUMBERED = re.compile(r"(?:19|20)\d\d|^(?:FY|Q\d|H\d|F\d|\d)")
_LOWER = 0.2
"""A word that more than this share of texts print in lower case is not a name."""
_NOT_A_NAME = word_list("not_a_name")
_ROLES = word_list("company_roles")


def names_in(text: str, unknown: Sequence[str]) -> dict[str, bool]:
    """Names in ``text``: ``unknown``, and runs of capitalized words that are not common in questions.

    Possessives are cut off; at most the six longest are returned. The value is True for a single word that opens a
    sentence, which may not be a name.
    """
    runs: list[tuple[list[str], bool]] = []
    end = -1
    for match in _NAME.finditer(text):
        word = bare(match.group().rstrip(".,"))
        plain = len(word) < 2 or word.lower() in _NOT_A_NAME or _NUMBERED.search(word) is not None
        opens = _SENTENCE_START.search(text[max(0, match.start() - 10) : match.start()]) is not None
        if not plain:
            if runs and end >= 0 and not text[end : match.start()].strip(" &") and not _POSSESSIVE.search(text[:end]):
                runs[-1] = [*runs[-1][0], word], False
            else:
                runs.append(([word], opens))
        end = -1 if plain else match.end()
    found = dict.fromkeys(map(bare, unknown), False)
    for words, opens in runs:
        found.setdefault(" ".join(words), opens)
    distinct = [name for name in found if name and not any(name != other and name in other for other in found)]
    return {name: found[name] for name in sorted(distinct, key=len, reverse=True)[:_MOST]}


def pattern_of(name: str) -> re.Pattern[str]:
    """Matches ``name`` in any case, with any punctuation between its words."""
    return re.compile(in_any_spacing(core_name(name) or (name.lower(),)), re.I)


def in_any_spacing(words: Iterable[str]) -> str:
    """A regular expression for ``words`` in a row, with any punctuation between them."""
    return r"\b" + r"[\W_]{0,3}".join(map(re.escape, words)) + r"\b"


def prints(text: str, name: str, pattern: re.Pattern[str]) -> bool:
    """Whether ``text`` prints ``name``, which ``pattern`` matches; capitalized if ``name`` is."""
    return any(not name[0].isupper() or not match[0][0].islower() for match in pattern.finditer(text))


def is_common(name: str, texts: Iterable[str]) -> bool:
    """Whether ``texts`` often print ``name`` in lower case, so that it is not a name."""
    lower = [re.search(rf"\b{re.escape(name.lower())}", text) is not None for text in texts]
    return sum(lower) > _LOWER * len(lower)


def is_described(text: str) -> bool:
    """Whether ``text`` has a word for a company in some role: owner, maker, buyer."""
    return not _ROLES.isdisjoint(re.findall(r"[a-z]+", text))


def bare(name: str) -> str:
    """``name`` without a possessive."""
    return _POSSESSIVE.sub("", name.strip())
