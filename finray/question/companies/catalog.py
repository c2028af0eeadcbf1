"""Finds the companies that a question names, in a catalog built from the index alone.

The catalog groups filings by CIK, Commission file number, ticker and name, so former names ("Wal-Mart Stores, Inc.")
and current names lead to the same filings. It compares names without case, punctuation, spaces and legal suffixes:
"Coca Cola", "COCA-COLA CO" and "CocaCola" are equal.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from rapidfuzz.distance import OSA

from finray.core.filing import UNIDENTIFIED, Filing
from finray.core.query import Span
from finray.core.sorted_keys import ArrowColumn, KeyedValues
from finray.question.companies.common_words import common_words
from finray.question.companies.company_groups import core_name, group_filings
from finray.question.companies.name_runs import (
    ANY_SUFFIX,
    NOT_A_NAME,
    all_name_like,
    built_from_prefixes,
    is_one_letter_ticker,
    name_continues,
    name_like_spans,
    without_suffixes,
)
from finray.question.companies.name_words import NameWord, name_words

_GLUED_SUFFIX = re.compile(r"[A-Z][a-z]{3,}(?=(?:Co|Corp|Com)\b)")
"""The name in front of a suffix without a space: "Pepsi" of "PepsiCo"."""
_MISSPELLED_LETTERS = 6
_TWO_MISTAKES_LETTERS = 10
"""How long a name must be to be recognized with one mistake, and with two."""
_TYPED_TICKER = 3
"""Letters that a ticker in lower case must have."""


@dataclass(frozen=True, slots=True)
class Company:
    """One company of the index. ``names`` are all names in its filings, newest first; a filing without a name is a
    company by itself."""

    key: str
    name: str
    names: tuple[str, ...]
    tickers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Mentions:
    """Companies that a question names: catalog keys in reading order, and names that are not in the catalog."""

    known: tuple[str, ...]
    unknown: tuple[str, ...]
    spans: tuple[Span, ...] = ()


class CompanyCatalog:
    """The companies of an index by the names that people use."""

    def __init__(self, filings: Iterable[Filing]) -> None:
        groups = group_filings(filings)
        companies = [_company(newest_first) for newest_first in groups.members]
        self.companies: dict[str, Company] = {company.key: company for company in companies}
        self._numbers = {key: number for number, key in enumerate(self.companies)}
        renumbered = np.asarray([self._numbers[company.key] for company in companies], dtype=np.int32)
        self._ids = groups.ids
        self._owners = renumbered[groups.owners]
        self._by_owner = np.argsort(self._owners, kind="stable").astype(np.int32)
        self._starts = np.searchsorted(self._owners[self._by_owner], np.arange(len(self.companies) + 1))
        keys = pa.DictionaryArray.from_arrays(self._owners, pa.array(list(self.companies), pa.string()))
        self.company_of_filing: Mapping[str, str] = KeyedValues(self._ids, ArrowColumn(keys))
        self._names, self._shortened = self._joined_names()
        self._first_words = self._distinctive_first_words()
        self._tickers = {t.upper(): c.key for c in self.companies.values() for t in c.tickers}
        self._by_initials = self._names_by_initials()
        self._by_length: dict[tuple[str, int], list[tuple[str, tuple[str, ...]]]] = defaultdict(list)
        for table in (self._names, self._shortened, {name: (key,) for name, key in self._first_words.items()}):
            for name, keys in table.items():
                self._by_length[name[0], len(name)].append((name, keys))

    def filings_of(self, company: str) -> list[str]:
        """Ids of the filings of a company of the catalog, in order; none for another company."""
        number = self._numbers.get(company)
        if number is None:
            return []
        return [self._ids[position] for position in self._by_owner[self._starts[number] : self._starts[number + 1]]]

    def mentions(self, question: str) -> Mentions:
        """The companies that ``question`` names; the longest reading of each stretch of words wins."""
        words = name_words(question)
        known: dict[str, None] = {}
        used: list[Span] = []
        position = 0
        while position < len(words):
            length, keys = self._longest_match(words, position)
            for key in keys:
                known.setdefault(key)
            while length and position + length < len(words) and words[position + length].is_legal_suffix:
                length += 1
            if length:
                end = words[position + length - 1].end
                used.append(Span("company", words[position].start, end, " ".join(keys)))
            position += length or 1
        if not known:
            used = self._misspelled_spans(words) or self._uncapitalized_spans(words)
            known = dict.fromkeys(span.value for span in used)
        unknown = name_like_spans(question, words, used)
        return Mentions(tuple(known), unknown, tuple(used))

    def _misspelled_spans(self, words: Sequence[NameWord]) -> list[Span]:
        """Capitalized words that are a company's name but for a mistake, two in a long name: a letter wrong, missing or
        too many, or two neighbors swapped. The first letter must be right, and no other company may fit."""
        spans: list[Span] = []
        position = 0
        while position < len(words):
            for length in range(min(4, len(words) - position), 0, -1):
                window = words[position : position + length]
                key = self._misspelled("".join(word.plain for word in window)) if all_name_like(window) else None
                if key is not None and not name_continues(words, position + length):
                    spans.append(Span("company", window[0].start, window[-1].end, key))
                    position += length - 1
                    break
            position += 1
        return spans

    def _uncapitalized_spans(self, words: Sequence[NameWord]) -> list[Span]:
        """Names, their beginnings and tickers that are typed in lower case, but for common words: "what did apple
        earn", "orcl in 2024"."""
        spans: list[Span] = []
        position = 0
        while position < len(words):
            length = next(
                (n for n in range(min(4, len(words) - position), 0, -1) if self._typed(words, position, n)), 0
            )
            if length:
                key = self._typed(words, position, length)
                spans.append(Span("company", words[position].start, words[position + length - 1].end, key))
            position += length or 1
        return spans

    def _typed(self, words: Sequence[NameWord], position: int, length: int) -> str:
        """The only company that ``length`` words in lower case may name; "" if there is none."""
        window = words[position : position + length]
        joined = "".join(word.plain for word in window)
        if any(word.is_name_like for word in window) or joined in common_words():
            return ""
        keys = self._names.get(joined) or self._shortened.get(joined) or ()
        if not keys and joined not in NOT_A_NAME:
            ticker = self._tickers.get(joined.upper()) if length == 1 and len(joined) >= _TYPED_TICKER else None
            keys = tuple(filter(None, (ticker or self._first_words.get(joined),)))
        return keys[0] if len(keys) == 1 else ""

    def _misspelled(self, joined: str) -> str | None:
        if len(joined) < _MISSPELLED_LETTERS:
            return None
        mistakes = 1 if len(joined) < _TWO_MISTAKES_LETTERS else 2
        near = {
            key
            for letters in range(len(joined) - mistakes, len(joined) + mistakes + 1)
            for own, keys in self._by_length.get((joined[0], letters), ())
            if OSA.distance(joined, own, score_cutoff=mistakes) <= mistakes
            for key in keys
        }
        return near.pop() if len(near) == 1 else None

    def _longest_match(self, words: Sequence[NameWord], position: int) -> tuple[int, tuple[str, ...]]:
        for length in range(min(6, len(words) - position), 0, -1):
            window = words[position : position + length]
            joined = "".join(word.plain for word in window)
            named = any(word.is_name_like for word in window) or len(joined) > 6
            if named and (keys := self._names.get(joined) or self._names.get(without_suffixes(window))):
                return length, keys
            if named and (keys := self._shortened.get(joined)) and not name_continues(words, position + length):
                return length, keys
        word = words[position]
        if not word.is_name_like or word.text.lower() in NOT_A_NAME:
            return 0, ()
        if (key := self._tickers.get(word.text)) and (len(word.text) >= 2 or is_one_letter_ticker(words, position)):
            return 1, (key,)
        first = self._first_words.get(word.plain)
        if first and not name_continues(words, position + 1):
            return 1, (first,)
        if key := self._abbreviation(word.text):
            return 1, (key,)
        return 0, ()

    def _joined_names(self) -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
        """Joined full names, and names shortened by "Group" or the like that are no company's full name."""
        own: dict[str, dict[str, None]] = defaultdict(dict)
        shortened: dict[str, dict[str, None]] = defaultdict(dict)
        for company in self.companies.values():
            for name in company.names:
                core = core_name(name)
                own["".join(core)].setdefault(company.key)
                while len(core) > 1 and core[-1] in ANY_SUFFIX:
                    core = core[:-1]
                    shortened["".join(core)].setdefault(company.key)
                for glued in _GLUED_SUFFIX.findall(name):
                    shortened[glued.lower()].setdefault(company.key)
        for name in own:
            shortened.pop(name, None)
        return _usable(own), _usable(shortened)

    def _distinctive_first_words(self) -> dict[str, str]:
        """First words, and first pairs, that only one company of the index has."""
        owners: dict[str, set[str]] = defaultdict(set)
        for company in self.companies.values():
            for name in company.names:
                core = core_name(name)
                for length in (1, 2):
                    if len(core) > length - 1:
                        owners["".join(core[:length])].add(company.key)
        return {
            word: next(iter(keys))
            for word, keys in owners.items()
            if len(keys) == 1 and len(word) >= 4 and word not in NOT_A_NAME
        }

    def _names_by_initials(self) -> dict[str, list[tuple[tuple[str, ...], str]]]:
        """(core name, company) by the first two letters that an abbreviation of the name may have."""
        names: dict[str, list[tuple[tuple[str, ...], str]]] = defaultdict(list)
        for company in self.companies.values():
            for core in dict.fromkeys(map(core_name, company.names)):
                first = "".join(core[:1])
                for pair in {first[:2], first[:1] + "".join(core[1:2])[:1]}:
                    names[pair].append((core, company.key))
        return dict(names)

    def _abbreviation(self, text: str) -> str | None:
        """The only company of whose name ``text`` joins the beginnings of words: AMEX, BofA."""
        letters = re.sub(r"[^A-Za-z]", "", text)
        if len(letters) < 3 or sum(c.isupper() for c in letters) < 2:
            return None
        letters = letters.lower()
        hits = {key for core, key in self._by_initials.get(letters[:2], ()) if built_from_prefixes(letters, core)}
        return hits.pop() if len(hits) == 1 else None


def _usable(table: Mapping[str, Mapping[str, None]]) -> dict[str, tuple[str, ...]]:
    return {name: tuple(keys) for name, keys in table.items() if len(name) >= 2 and name not in NOT_A_NAME}


def _company(newest_first: Sequence[Filing]) -> Company:
    names = dict.fromkeys(filing.company for filing in newest_first if filing.company != UNIDENTIFIED)
    names |= dict.fromkeys(alias for filing in newest_first for alias in filing.aliases)
    tickers = dict.fromkeys(filing.ticker for filing in newest_first if filing.ticker)
    cik = next((filing.cik for filing in newest_first if filing.cik), None)
    name = next(iter(names), f"{newest_first[0].doc_name} ({UNIDENTIFIED})")
    key = f"cik{cik.lstrip('0')}" if cik else "-".join(core_name(name))
    if not names:
        key = f"{UNIDENTIFIED}-{newest_first[0].filing_id}"
    return Company(key, name, tuple(names), tuple(tickers))
