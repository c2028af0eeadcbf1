"""Which runs of a question's words look like the name of a company, in the catalog or not."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from operator import attrgetter

from finray.core.query import Span
from finray.question.companies.company_groups import core_name
from finray.question.companies.name_words import SUFFIXES, NameWord
from finray.question.words import word_list

NOT_A_NAME = word_list("not_a_name")
ANY_SUFFIX = SUFFIXES | word_list("other_suffixes")
_PERIOD_WORD = re.compile(r"(?:FY|Q[1-4]|[1-4]Q)?['’]?\d*(?:Q\d)?")
_BEFORE_NAME = word_list("before_name")


def all_name_like(window: Sequence[NameWord]) -> bool:
    """Whether each word may be of a name."""
    return all(word.is_name_like and word.text.lower() not in NOT_A_NAME for word in window)


def without_suffixes(window: Sequence[NameWord]) -> str:
    """The joined words without suffixes if the last word holds its suffix, as in "Amazon.com"; else an empty string."""
    return "".join(core_name(" ".join(word.text for word in window))) if "." in window[-1].text else ""


def is_one_letter_ticker(words: Sequence[NameWord], position: int) -> bool:
    """Whether a single capital letter is a ticker: "V's margin", "the revenue of T"; "I", "A" and "Q" are not."""
    word = words[position]
    after_preposition = position > 0 and words[position - 1].text.lower() in ("of", "for", "by", "did", "does", "has")
    return word.text not in ("A", "I", "Q") and (word.possessive or after_preposition)


def name_continues(words: Sequence[NameWord], position: int) -> bool:
    """Whether the name continues at ``position``: "Acme Software" is not "Acme Stores"."""
    if position >= len(words) or words[position - 1].possessive:
        return False
    word = words[position]
    known = word.text.lower() in NOT_A_NAME or word.text.lower() in ANY_SUFFIX
    adjacent = word.start - words[position - 1].end == 1
    return adjacent and word.is_name_like and not known and _PERIOD_WORD.fullmatch(word.text) is None


def built_from_prefixes(letters: str, words: Sequence[str]) -> bool:
    """Whether ``letters`` joins non-empty prefixes of the first of ``words``, in order."""
    reached = {0}
    for word in words:
        reached = {start + size for start in reached for size in range(1, 1 + _shared(word, letters, start))}
        if len(letters) in reached or not reached:
            return bool(reached)
    return False


def _shared(word: str, letters: str, start: int) -> int:
    """Length of the longest prefix of ``word`` in ``letters`` at ``start``."""
    size = 0
    while size < len(word) and letters.startswith(word[size], start + size):
        size += 1
    return size


def name_like_spans(question: str, words: Sequence[NameWord], used: Sequence[Span]) -> tuple[str, ...]:
    """Runs of capitalized words that look like a name: a possessive, or after "for", "of", "did" and the like."""
    found: list[str] = []
    run: list[NameWord] = []

    def close(index: int) -> None:
        if run:
            before = words[index - len(run) - 1].text.lower() if index > len(run) else ""
            if run[-1].possessive or before in _BEFORE_NAME:
                found.append(question[run[0].start : run[-1].end])
        run.clear()

    for index, word in enumerate(words):
        at = bisect_right(used, word.start, key=attrgetter("start")) - 1
        inside = at >= 0 and word.start < used[at].end
        plain = word.text.lower() in NOT_A_NAME or _PERIOD_WORD.fullmatch(word.text)
        if inside or plain or not word.is_name_like:
            close(index)
            continue
        if run and question[run[-1].end : word.start].strip(" &"):
            close(index)
        run.append(word)
    close(len(words))
    return tuple(dict.fromkeys(found))
