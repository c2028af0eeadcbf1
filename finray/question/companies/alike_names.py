"""How alike words of a question and names of companies are: tickers in lower case, short names, abbreviations,
misspellings. Too weak to be read as a name, but evidence beside what filings say."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache

from rapidfuzz.distance import OSA

from finray.question.companies.catalog import CompanyCatalog
from finray.question.companies.company_groups import core_name
from finray.question.companies.name_runs import built_from_prefixes
from finray.question.words import word_list

LEAST = 0.7
"""A lower likeness counts as none."""
_SAME = 1.0
"""The likeness of a ticker or a short name in any case."""
_ABBREVIATED = 0.95
_LETTERS = 3
"""Fewest letters of a word that is compared."""
_WINDOW = 3
"""Most words that are compared as one."""
_WORD = re.compile(r"[A-Za-z0-9&]+(?:['’.\-][A-Za-z0-9&]+)*")
_POSSESSIVE = re.compile(r"['’]s?$")
_GLUED = re.compile(r"[A-Z][a-z]{2,}(?=(?:Co|Corp|Com)\b)")
_NOT_A_NAME = word_list("not_a_name") | word_list("common")


class AlikeNames:
    """Compares words with the names of the companies of a catalog."""

    def __init__(self, catalog: CompanyCatalog) -> None:
        self._exact: dict[str, dict[str, None]] = defaultdict(dict)
        self._near: dict[str, list[tuple[str, str]]] = defaultdict(list)
        self._cores: dict[str, list[tuple[tuple[str, ...], str]]] = defaultdict(list)
        for company in catalog.companies.values():
            for ticker in company.tickers:
                if len(ticker) >= _LETTERS:
                    self._exact[ticker.lower()].setdefault(company.key)
            for name in company.names:
                core = core_name(name)
                if not core:
                    continue
                self._cores[core[0][0]].append((core, company.key))
                glued = (match.lower() for match in _GLUED.findall(name))
                for short in dict.fromkeys(("".join(core), core[0], *glued)):
                    if len(short) >= _LETTERS and short not in _NOT_A_NAME:
                        self._exact[short].setdefault(company.key)
                        self._near[short[0]].append((short, company.key))
        self._likeness = lru_cache(maxsize=4096)(self._compared)

    def companies(self, text: str) -> tuple[str, ...]:
        """The companies whose names are like a word of ``text``."""
        return tuple(dict.fromkeys(key for window in _windows(text) for key in self._likeness(window)))

    def to(self, company: str, text: str) -> float:
        """The largest likeness of a word of ``text`` to a name of ``company``: 1 for its ticker or short name in any
        case, 0 below LEAST."""
        return max((self._likeness(window).get(company, 0.0) for window in _windows(text)), default=0.0)

    def _compared(self, window: str) -> dict[str, float]:
        """The likeness of ``window`` to each company, if it is at least LEAST."""
        if len(window) < _LETTERS or window in _NOT_A_NAME:
            return {}
        found = dict.fromkeys(self._exact.get(window, ()), _SAME)
        for core, key in self._cores.get(window[0], ()):
            if built_from_prefixes(window, core, least=2):
                found[key] = max(found.get(key, 0.0), _ABBREVIATED)
        for short, key in self._near.get(window[0], ()):
            likeness = OSA.normalized_similarity(window, short, score_cutoff=LEAST)
            if likeness >= LEAST:
                found[key] = max(found.get(key, 0.0), likeness)
        return found


def _windows(text: str) -> Iterator[str]:
    """Joined runs of one to three words, in lower case."""
    words = [re.sub(r"[^a-z0-9]", "", _POSSESSIVE.sub("", word).lower()) for word in _WORD.findall(text)]
    for start in range(len(words)):
        for end in range(start + 1, min(start + _WINDOW, len(words)) + 1):
            yield "".join(words[start:end])
