"""Finds the companies that a question names, in a catalog built from the index alone.

The catalog groups filings by CIK, Commission file number, ticker and name, so former names ("Wal-Mart Stores, Inc.")
and current names lead to the same filings. It compares names without case, punctuation, spaces and legal suffixes:
"Coca Cola", "COCA-COLA CO" and "CocaCola" are equal.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from rapidfuzz.distance import OSA

from finray.core.filing import UNIDENTIFIED, Filing
from finray.core.period import Period
from finray.core.query import OwnName, Span
from finray.core.sorted_keys import ArrowColumn, KeyedValues
from finray.filings.tables.canonical import DATE_TOLERANCE_DAYS
from finray.question.companies.company_groups import core_name, group_filings
from finray.question.companies.listed_names import listed_names, nicknames
from finray.question.companies.name_runs import (
    ANY_SUFFIX,
    NOT_A_NAME,
    abbreviates,
    all_name_like,
    is_one_letter_ticker,
    name_continues,
    name_like_runs,
    without_suffixes,
)
from finray.question.companies.name_words import NameWord, common_words, name_words

_GLUED_SUFFIX = re.compile(r"[A-Z][a-z]{3,}(?=(?:Co|Corp|Com)\b)")
"""The name in front of a suffix without a space: "Pepsi" of "PepsiCo"."""
_JOINED = re.compile(r"&|\band\b", re.I)
_INITIALS = re.compile(r"[A-Z]n[A-Z]")
"""Initials joined by "n", as in JnJ."""
_MOST_WORDS = 6
"""Most words of a question that are looked up as one name."""
_MOST_GUESSED_WORDS = 4
"""The same for names with a mistake or without capitals."""
_MISSPELLED_LETTERS = 6
_TWO_MISTAKES_LETTERS = 10
"""How long a name must be to be recognized with one mistake, and with two."""
_LOWER_CASE_TICKER = 3
"""Fewest letters of a ticker in lower case."""


@dataclass(frozen=True, slots=True)
class Company:
    """One company of the index. ``names`` are all names in its filings, newest first. Each filing without a name is a
    company by itself, without ``names``."""

    key: str
    name: str
    names: tuple[str, ...]
    tickers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Mentions:
    """Companies that a question names, in reading order: ``known`` by their catalog keys, ``unknown`` by names that the
    catalog lacks. ``spans`` are where the known ones stand. ``own_names`` led to known companies, and ``unclear`` is
    what the question leaves open."""

    known: tuple[str, ...]
    unknown: tuple[str, ...]
    spans: tuple[Span, ...] = ()
    own_names: tuple[OwnName, ...] = ()
    unclear: str = ""
    over_all: bool = False
    """The question is about all companies of the index."""


def _noting_transitions(filings: Iterable[Filing], reports: dict[str, Period]) -> Iterator[Filing]:
    """``filings``; the periods of transition reports go to ``reports``, by filing_id."""
    for filing in filings:
        if filing.transition_months and filing.period_end is not None:
            reports[filing.filing_id] = Period(
                filing.period_end.year, None, filing.period_end, filing.transition_months
            )
        yield filing


def _is_transition(transition: Period, named: Period) -> bool:
    """Whether a question that names a period may mean the ``transition`` period: it names its last day or its year."""
    if named.date is None or transition.date is None:
        return named.year == transition.year
    return abs((named.date - transition.date).days) <= DATE_TOLERANCE_DAYS and named.months in (None, transition.months)


class CompanyCatalog:
    """The companies of an index, found by the names that people use."""

    def __init__(self, filings: Iterable[Filing]) -> None:
        reports: dict[str, Period] = {}
        groups = group_filings(_noting_transitions(filings, reports))
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
        self._transitions: dict[str, list[Period]] = defaultdict(list)
        for filing_id, period in reports.items():
            self._transitions[self.company_of_filing[filing_id]].append(period)
        self._names, self._shortened = self._joined_names()
        self._first_words = self._distinctive_first_words()
        self._tickers = self._companies_by_ticker()
        self._by_initials = self._names_by_initials()
        self._by_length: dict[tuple[str, int], list[tuple[str, tuple[str, ...]]]] = defaultdict(list)
        for table in (self._names, self._shortened, {name: (key,) for name, key in self._first_words.items()}):
            for name, keys in table.items():
                self._by_length[name[0], len(name)].append((name, keys))

    def meant_periods(self, periods: tuple[Period, ...], companies: Sequence[str]) -> tuple[Period, ...]:
        """The transition periods of ``companies`` that a question means which says "transition period" and names
        ``periods``; these, if the companies have no transition report on them."""
        own = [each for company in companies for each in self._transitions.get(company, ())]
        named = [each for each in own if not periods or any(_is_transition(each, period) for period in periods)]
        return tuple(dict.fromkeys(named)) or periods

    def filings_of(self, company: str) -> list[str]:
        """Ids of the filings of ``company``, in order; empty if the catalog does not have it."""
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
            known |= dict.fromkeys(keys)
            while length and position + length < len(words) and words[position + length].is_legal_suffix:
                length += 1
            if length:
                end = words[position + length - 1].end
                used.append(Span("company", words[position].start, end, " ".join(keys)))
            position += length or 1
        if not known:
            used = self._guessed_spans(words, self._misspelled) or self._guessed_spans(words, self._uncapitalized)
            known = dict.fromkeys(span.value for span in used)
        runs = name_like_runs(question, words, used)
        listed = () if known else listed_names(question, words)
        further = (name for name in listed if not any(name in run for run in runs))
        unknown = (*(run for run in runs if not any(run in name for name in listed if name != run)), *further)
        return Mentions(tuple(known), unknown, tuple(used))

    def _guessed_spans(
        self, words: Sequence[NameWord], company_at: Callable[[Sequence[NameWord], int, int], str | None]
    ) -> list[Span]:
        """The longest runs of words, from left to right, that name a company by ``company_at``, which gets the words,
        the position of a run and its length."""
        spans: list[Span] = []
        position = 0
        while position < len(words):
            for length in range(min(_MOST_GUESSED_WORDS, len(words) - position), 0, -1):
                if key := company_at(words, position, length):
                    spans.append(Span("company", words[position].start, words[position + length - 1].end, key))
                    position += length - 1
                    break
            position += 1
        return spans

    def _misspelled(self, words: Sequence[NameWord], position: int, length: int) -> str | None:
        """The only company whose name the capitalized words are but for a mistake, or two in a long name: a letter
        wrong, missing or too many, or two neighbors swapped. The first letter must be right."""
        window = words[position : position + length]
        joined = "".join(word.plain for word in window)
        if len(joined) < _MISSPELLED_LETTERS or not all_name_like(window) or name_continues(words, position + length):
            return None
        ends_a_name = position > 0 and all_name_like(words[position - 1 : position]) and name_continues(words, position)
        if joined in common_words() or ends_a_name:
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

    def _uncapitalized(self, words: Sequence[NameWord], position: int, length: int) -> str | None:
        """The only company whose name, first words or ticker is typed in lower case and not a common word: "what did
        apple earn", "orcl in 2024"."""
        window = words[position : position + length]
        joined = "".join(word.plain for word in window)
        if any(word.is_name_like for word in window) or joined in common_words():
            return None
        keys = self._names.get(joined) or self._shortened.get(joined) or ()
        if not keys and joined not in NOT_A_NAME:
            keys = self._tickers.get(joined.upper(), ()) if length == 1 and len(joined) >= _LOWER_CASE_TICKER else ()
            if not keys:
                return self._first_words.get(joined) or (self._abbreviation(joined) if length == 1 else None)
        return keys[0] if len(keys) == 1 else None

    def _longest_match(self, words: Sequence[NameWord], position: int) -> tuple[int, tuple[str, ...]]:
        """How many words from ``position`` on name companies, and their keys; (0, ()) if none do."""
        for length in range(min(_MOST_WORDS, len(words) - position), 0, -1):
            window = words[position : position + length]
            joined = "".join(word.plain for word in window)
            named = any(word.is_name_like for word in window) or len(joined) > 6
            if named and (keys := self._names.get(joined) or self._names.get(without_suffixes(window))):
                return length, keys
            if named and (keys := self._nicknamed(joined)):
                return length, keys
            if named and (keys := self._shortened.get(joined)) and not name_continues(words, position + length):
                return length, keys
            if length == 2 and named and not name_continues(words, position + 2) and joined in self._first_words:
                return length, (self._first_words[joined],)
            if 1 < length < _MOST_GUESSED_WORDS and all_name_like(window) and (key := self._abbreviation(joined)):
                return length, (key,)
        word = words[position]
        if not word.is_name_like or word.text.lower() in NOT_A_NAME:
            return 0, ()
        if (keys := self._tickers.get(word.text)) and (len(word.text) >= 2 or is_one_letter_ticker(words, position)):
            return 1, keys
        first = self._first_words.get(word.plain)
        if first and not name_continues(words, position + 1):
            return 1, (first,)
        if key := self._abbreviation(word.text):
            return 1, (key,)
        return 0, ()

    def _nicknamed(self, joined: str) -> tuple[str, ...]:
        """The companies of the index that people call ``joined``, whatever their filings do."""
        names = (self._names.get(name, ()) for name in nicknames().get(joined, ()))
        return tuple(dict.fromkeys(key for keys in names for key in keys))

    def _companies_by_ticker(self) -> dict[str, tuple[str, ...]]:
        """Exchanges give the ticker of a company that left to another, so several may have had it."""
        owners: dict[str, dict[str, None]] = defaultdict(dict)
        for company in self.companies.values():
            for ticker in company.tickers:
                owners[ticker.upper()].setdefault(company.key)
        return {ticker: tuple(keys) for ticker, keys in owners.items()}

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
                    if len(core) >= length:
                        owners["".join(core[:length])].add(company.key)
        return {
            word: next(iter(keys))
            for word, keys in owners.items()
            if len(keys) == 1 and len(word) >= 4 and word not in NOT_A_NAME
        }

    def _names_by_initials(self) -> dict[str, list[tuple[tuple[str, ...], bool, str]]]:
        """(core name, whether "and" joins it, company) by the first two letters that an abbreviation of the name may
        have."""
        names: dict[str, list[tuple[tuple[str, ...], bool, str]]] = defaultdict(list)
        for company in self.companies.values():
            for name in company.names:
                core, joined = core_name(name), _JOINED.search(name) is not None
                if not core:
                    continue
                plain = [word for word in core if word != "and"]
                further = [word for word in plain[1:] if word != "of"]
                for pair in {core[0][:2], *(core[0][:1] + rest[0][:1] for rest in (plain[1:], further) if rest)}:
                    names[pair].append((core, joined, company.key))
        return dict(names)

    def _abbreviation(self, text: str) -> str | None:
        """The only company whose name ``text`` abbreviates: AMEX, BofA, J&J."""
        if len(text) < 3 or text.lower() in common_words():
            return None
        letters = re.sub(r"[^a-z0-9]", "", (text.replace("n", "") if _INITIALS.fullmatch(text) else text).lower())
        near = self._by_initials.get(letters[:2], ())
        hits = {key for core, joined, key in near if abbreviates(text, core, joined=joined)}
        return hits.pop() if len(hits) == 1 else None


def _usable(table: Mapping[str, Mapping[str, None]]) -> dict[str, tuple[str, ...]]:
    """``table`` without names that are too short or plain words."""
    return {name: tuple(keys) for name, keys in table.items() if len(name) >= 2 and name not in NOT_A_NAME}


def _company(newest_first: Sequence[Filing]) -> Company:
    """The company of filings that :func:`group_filings` found to be of one."""
    names = dict.fromkeys(filing.company for filing in newest_first if filing.company != UNIDENTIFIED)
    names |= dict.fromkeys(alias for filing in newest_first for alias in filing.aliases)
    tickers = dict.fromkeys(filing.ticker for filing in newest_first if filing.ticker)
    cik = next((filing.cik for filing in newest_first if filing.cik), None)
    name = next(iter(names), f"{newest_first[0].doc_name} ({UNIDENTIFIED})")
    key = f"cik{cik.lstrip('0')}" if cik else "-".join(core_name(name) or name.split())
    if not names:
        key = f"{UNIDENTIFIED}-{newest_first[0].filing_id}"
    return Company(key, name, tuple(names), tuple(tickers))
