"""How much words of a question are like the names of companies: tickers in lower case, short names, abbreviations,
misspellings. Not sure enough to be read as a name, but evidence beside what filings say."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache

from rapidfuzz.distance import OSA

from finray.question.companies.catalog import CompanyCatalog
from finray.question.companies.company_groups import core_name
from finray.question.words import word_list

LEAST = 0.7
"""Less likeness counts as none."""
_TICKER = 1.0
_SHORT = 1.0
_ABBREVIATED = 0.95
_LETTERS = 3
_WINDOW = 3
_WORD = re.compile(r"[A-Za-z0-9&]+(?:['’.\-][A-Za-z0-9&]+)*")
_POSSESSIVE = re.compile(r"['’]s?$")
_GLUED = re.compile(r"[A-Z][a-z]{2,}(?=(?:Co|Corp|Com)\b)")
_NOT_A_NAME = word_list("not_a_name") | word_list("common")


class AlikeNames:
    """Compares with the companies of a catalog."""

    def __init__(self, catalog: CompanyCatalog) -> None:
        self._exact: dict[str, set[str]] = defaultdict(set)
        self._near: dict[str, list[tuple[str, str]]] = defaultdict(list)
        self._cores: dict[str, list[tuple[tuple[str, ...], str]]] = defaultdict(list)
        for company in catalog.companies.values():
            for ticker in company.tickers:
                if len(ticker) >= _LETTERS:
                    self._exact[ticker.lower()].add(company.key)
            for name in company.names:
                core = core_name(name)
                if not core or not core[0]:
                    continue
                self._cores[core[0][0]].append((core, company.key))
                short = {"".join(core), core[0], *(glued.lower() for glued in _GLUED.findall(name))}
                for each in short:
                    if len(each) >= _LETTERS and each not in _NOT_A_NAME:
                        self._exact[each].add(company.key)
                        self._near[each[0]].append((each, company.key))
        self._likeness = lru_cache(maxsize=4096)(self._compared)

    def companies(self, text: str) -> tuple[str, ...]:
        """The companies that a word of ``text`` is like."""
        return tuple(dict.fromkeys(key for window in _windows(text) for key in self._likeness(window)))

    def to(self, company: str, text: str) -> float:
        """The largest likeness of a word of ``text`` to a name of ``company``: 1 for its ticker or short name in any
        case, 0 below LEAST."""
        return max((self._likeness(window).get(company, 0.0) for window in _windows(text)), default=0.0)

    def _compared(self, window: str) -> dict[str, float]:
        found: dict[str, float] = {}
        if len(window) < _LETTERS or window in _NOT_A_NAME:
            return found
        for key in self._exact.get(window, ()):
            found[key] = _SHORT
        for core, key in self._cores.get(window[0], ()):
            if len(core) > 1 and _abbreviates(window, core):
                found[key] = max(found.get(key, 0.0), _ABBREVIATED)
        for own, key in self._near.get(window[0], ()):
            likeness = OSA.normalized_similarity(window, own, score_cutoff=LEAST)
            if likeness >= LEAST:
                found[key] = max(found.get(key, 0.0), likeness)
        return found


def _windows(text: str) -> Iterator[str]:
    """Joined runs of one to three words, in lower case."""
    words = [re.sub(r"[^a-z0-9]", "", _POSSESSIVE.sub("", word).lower()) for word in _WORD.findall(text)]
    for start in range(len(words)):
        for size in range(1, min(_WINDOW, len(words) - start) + 1):
            yield "".join(words[start : start + size])


def _abbreviates(letters: str, core: tuple[str, ...]) -> bool:
    """Whether ``letters`` joins beginnings of at least two words of a name, in order: "amex", "bofa"."""
    reached = {0}
    for number, word in enumerate(core):
        after = set()
        for start in reached:
            size = 0
            while size < len(word) and letters.startswith(word[size], start + size):
                size += 1
                after.add(start + size)
        if len(letters) in after and number > 0:
            return True
        reached = after
    return False
