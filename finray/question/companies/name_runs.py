"""Which runs of a question's words look like a company name, in the catalog or not."""

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
_AND = re.compile(r"&|(?<=[A-Z])n(?=[A-Z])|\band\b")
"""How initials join the two sides of "Johnson & Johnson"."""
_BEFORE_NAME = word_list("before_name")


def all_name_like(window: Sequence[NameWord]) -> bool:
    """Whether each word may be part of a name."""
    return all(word.is_name_like and word.text.lower() not in NOT_A_NAME for word in window)


def without_suffixes(window: Sequence[NameWord]) -> str:
    """The joined words without legal suffixes if the last word contains one, as in "Amazon.com"; else ""."""
    return "".join(core_name(" ".join(word.text for word in window))) if "." in window[-1].text else ""


def is_one_letter_ticker(words: Sequence[NameWord], position: int) -> bool:
    """Whether a single capital letter is a ticker: "V's margin", "the revenue of T"; "I", "A" and "Q" are not."""
    word = words[position]
    after_preposition = position > 0 and words[position - 1].text.lower() in ("of", "for", "by", "did", "does", "has")
    return word.text not in ("A", "I", "Q") and (word.possessive or after_preposition)


def name_continues(words: Sequence[NameWord], position: int) -> bool:
    """Whether the name before ``position`` continues there: "Acme Software" is not "Acme Stores"."""
    if position >= len(words) or words[position - 1].possessive:
        return False
    word = words[position]
    adjacent = word.start - words[position - 1].end == 1
    plain = word.text.lower() in ANY_SUFFIX or _is_plain(word)
    return adjacent and word.is_name_like and not plain


def continues_name(words: Sequence[NameWord], position: int) -> bool:
    """Whether the word at ``position`` may belong to a name that ends before it, whatever it means: "Acme Group"."""
    word, before = words[position], words[position - 1]
    return word.start - before.end == 1 and not before.possessive and word.is_name_like and not _is_plain(word)


def _is_plain(word: NameWord) -> bool:
    """Whether ``word`` names a period, or is a word of questions that names no company."""
    return word.text.lower() in NOT_A_NAME or _PERIOD_WORD.fullmatch(word.text) is not None


def abbreviates(text: str, core: Sequence[str], *, joined: bool) -> bool:
    """Whether ``text`` is made of the words of a name, ``core``: its initials ("IBM", "BofA", and of a name that is
    ``joined`` by "and" or "&" also "J&J" and "JnJ"), or the beginnings, of two letters or more, of its first words
    ("Amex"). The beginning of one word is another company's ticker as often as not."""
    letters = re.sub(r"[^a-z0-9]", "", _AND.sub("", text).lower())
    initials = {"".join(word[0] for word in core if word not in left_out) for left_out in (("and",), ("and", "of"))}
    initials.add("".join(word if word == "of" else word[0] for word in core if word != "and"))
    least = 2 if joined and _AND.search(text) else 3
    if len(letters) >= least and letters in initials:
        return True
    return len(letters) >= 4 and _begins(letters, core)


def _begins(letters: str, words: Sequence[str]) -> bool:
    """Whether ``letters`` joins beginnings of two letters or more of the first two or more of ``words``."""
    reached = {0}
    for count, word in enumerate(words, start=1):
        reached = {start + size for start in reached for size in range(2, 1 + _shared(word, letters, start))}
        if count >= 2 and len(letters) in reached:
            return True
    return False


def built_from_prefixes(letters: str, words: Sequence[str], *, least: int = 1) -> bool:
    """Whether ``letters`` joins non-empty prefixes of the first words of ``words``, ``least`` or more, in order:
    "amex", "bofa"."""
    reached = {0}
    for count, word in enumerate(words, start=1):
        reached = {start + size for start in reached for size in range(1, 1 + _shared(word, letters, start))}
        if count >= least and len(letters) in reached:
            return True
    return False


def _shared(word: str, letters: str, start: int) -> int:
    """Length of the longest prefix of ``word`` in ``letters`` at ``start``."""
    size = 0
    while size < len(word) and letters.startswith(word[size], start + size):
        size += 1
    return size


def name_like_runs(question: str, words: Sequence[NameWord], used: Sequence[Span]) -> tuple[str, ...]:
    """Runs of capitalized words outside ``used`` that look like a name: possessives, and those after "for", "of", "did"
    and the like."""
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
        if inside or _is_plain(word) or not word.is_name_like:
            close(index)
            continue
        if run and question[run[-1].end : word.start].strip(" &"):
            close(index)
        run.append(word)
    close(len(words))
    return tuple(dict.fromkeys(found))
