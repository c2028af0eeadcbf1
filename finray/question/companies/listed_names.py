"""Large companies that a question may name although the index has no filing of them.

``listed_names.txt`` has the names of some 560 companies listed in the United States, one per line, without those that
are common words ("Target", "Gap") or stand in filings of others (Nasdaq, Moody's). They reveal a name that no grammar
does: "Cigna sales the six months ended July 27, 2025".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from finray.core.data_files import shipped
from finray.question.companies.company_groups import core_name
from finray.question.companies.name_words import NameWord

_MOST_WORDS = 5


def listed_names(question: str, words: Sequence[NameWord]) -> tuple[str, ...]:
    """The listed names among the ``words`` of ``question``, as it writes them, each with a capital or a digit."""
    found: dict[str, None] = {}
    position = 0
    while position < len(words):
        length = _length(words, position)
        if length:
            found.setdefault(question[words[position].start : words[position + length - 1].end])
        position += length or 1
    return tuple(found)


def _length(words: Sequence[NameWord], position: int) -> int:
    """How many words from ``position`` on are a listed name; 0 if they are none."""
    if not words[position].is_name_like:
        return 0
    for length in range(min(_MOST_WORDS, len(words) - position), 0, -1):
        if "".join(word.plain for word in words[position : position + length]) in _joined():
            return length
    return 0


@cache
def nicknames() -> Mapping[str, tuple[str, ...]]:
    """The joined names of companies by the joined names that people give them: former names, and names that no filing
    uses ("Coke"). ``nicknames.txt`` has one a line, with the company's name after " = "."""
    found: dict[str, tuple[str, ...]] = {}
    for line in shipped("finray.question.companies", "nicknames.txt").splitlines():
        nickname, _, name = line.partition(" = ")
        key = "".join(core_name(nickname))
        found[key] = (*found.get(key, ()), "".join(core_name(name)))
    return found


@cache
def _joined() -> frozenset[str]:
    names = shipped("finray.question.companies", "listed_names.txt").splitlines()
    return frozenset("".join(core_name(name)) for name in names if name)
