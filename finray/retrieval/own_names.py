"""What a filing says of a name that is not its registrant's: another name of the company, a part of it, or neither.

A former name is the company; a brand, a subsidiary or a segment is a part of it; a rival, a bank or a customer is
another company. Only the registrant's own words prove which. They are cues in the sentences that print the name, listed
in ``own_names.toml``: cues of ownership count for the name, cues of another's business against it.
"""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Literal

from finray.core.data_files import shipped
from finray.core.query import OwnName
from finray.index.reading.reader import IndexReader
from finray.question.companies.catalog import CompanyCatalog
from finray.question.companies.company_groups import core_name
from finray.question.companies.name_words import SUFFIXES
from finray.retrieval.question_names import in_any_spacing, prints

_KEPT = 256
_PAGES = 8
"""Pages that print a name and are looked through for statements of its own."""
_HITS = 200
"""Chunks of all filings that are read for a name."""
_AROUND = 240
"""Characters of its sentence that are read on each side of a name."""
_QUOTED = 300
_LEAST_OWN = 0.15
"""Share of the sentences with cues that must speak of a part. Brands compete, too, and are sold to customers."""
_LEAST_HEADS = 2
"""Rows, columns or headings with the name that show a part if no sentence speaks of another company."""
_LINE_START = re.compile(r"(?:^|[\n|])[ \t®™]*$")
_SENTENCE_END = re.compile(r"[.!?][”\"’')\]]*\s+(?=[A-Z“\"(•])|\s•\s|\n\s*\n")
_ABBREVIATION_AFTER = re.compile(r"\s?[®™]?\s?\([“\"']?([A-Z][\w&.’'-]{1,14})[”\"']?\)")
_SELF = re.compile(r"\b(?:we|our|us|the company|the registrant|the issuer|the partnership|the corporation)\b", re.I)
_SUBSIDIARIES = r"and its [\w ]{1,40}|and (?:consolidated )?subsidiaries"
_LEGAL = rf"(?:[,.]{{0,2}} (?:{'|'.join(sorted(SUFFIXES))}|{_SUBSIDIARIES})\b\.?){{0,3}}"
_LINE_END = re.compile(rf"{_LEGAL}[ \t®™]*(?:$|[\n|]|\(\w\)\s)", re.I)
_BEING = (
    r"(?:(?:was|were|is|are|has|have|had|been|originally|first|incorporated|organized|founded|formed|in \w+|on \w+ \d+)"
    r",? ){0,6}"
)
_DEFINES = re.compile(rf"{_LEGAL},? ?\((?:[^()]*[ ,])?[“\"']", re.I)
"""What stands between a registrant's name and a short one: ", Inc. (together with its subsidiaries, “"."""
_WRITTEN_OUT_BEFORE = re.compile(r"((?:[A-Z][\w&.’'-]*[, ]{1,2}(?:(?:and|of|the) )?){1,7})\([“\"']?$")


_COUNTERPARTY = re.compile(r"\b(?:to|by|from|between) (?:the )?[“\"']?$", re.I)
"""Before the name of whom a company deals with, not of what it buys or sells."""


@dataclass(frozen=True, slots=True)
class _Print:
    """One place that prints the name: the text ``before`` and ``after`` it, to the ends of its sentence."""

    filing_id: str
    page: int
    before: str
    name: str
    after: str
    heads: bool
    """Whether the name has a line to itself or begins a row: a heading, or the label of a row or a column."""

    @property
    def sentence(self) -> str:
        return " ".join(f"{self.before}{self.name}{self.after}".split())


@dataclass(frozen=True, slots=True)
class _Registrant:
    """Matches any name of a registrant without its legal form (``named``), and with a possessive (``owning``)."""

    named: re.Pattern[str]
    owning: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class _Cues:
    """Patterns of ``own_names.toml``; they match up to the name, from the name on, or anywhere in its sentence."""

    part_before: re.Pattern[str]
    dealt: re.Pattern[str]
    part_after: re.Pattern[str]
    others: re.Pattern[str]
    others_before: re.Pattern[str]
    others_after: re.Pattern[str]
    former: re.Pattern[str]


def printed_name(name: str) -> re.Pattern[str]:
    """Matches ``name`` without its legal suffix in any case, with "and" or any punctuation between its words."""
    words = re.findall(r"[^\W_]+", name)
    while len(words) > 1 and words[-1].lower() in SUFFIXES:
        words.pop()
    joined = r"(?:[\W_]{0,3}|\s+and\s+)".join(map(re.escape, words)) or r"(?!)"
    return re.compile(rf"\b{joined}\b", re.I)


class OwnNames:
    """Looks up in the text of an index whose own name a name is."""

    def __init__(self, reader: IndexReader, catalog: CompanyCatalog) -> None:
        self._reader = reader
        self._catalog = catalog
        self.owner = lru_cache(_KEPT)(self._owner)
        self._registrant = lru_cache(_KEPT)(self._names_of)

    def _owner(self, name: str) -> OwnName | None:
        """The company whose own name ``name`` is, with the sentence that shows it best; None if no filing shows it."""
        pattern = printed_name(name)
        shown: list[tuple[bool, int, OwnName]] = []
        for company, places in self._prints(name, pattern).items():
            registrant = self._registrant(company)
            former = next((place for place in places if _is_former(place, registrant)), None)
            votes = [_vote(place, registrant) for place in places]
            own, others = votes.count(1), votes.count(-1)
            heads = sum(place.heads for place in places)
            spellings = _spellings(name, places)
            shown_own = own > _LEAST_OWN * (own + others) or (heads >= _LEAST_HEADS and not others)
            shown_own = shown_own or self._is_registrant(name, places)
            if former is None and not shown_own:
                shown += [(False, 1, each) for each in self._by_abbreviation(name, company, spellings)]
                continue
            proof = former or next((place for place, vote in zip(places, votes, strict=True) if vote > 0), places[0])
            relation: Literal["company", "part"] = "part" if former is None else "company"
            quoted = proof.sentence[:_QUOTED]
            own_name = OwnName(name, company, relation, spellings, proof.filing_id, proof.page, quoted)
            shown.append((former is not None, own, own_name))
        return max(shown, key=lambda each: each[:2])[2] if shown else None

    def _is_registrant(self, name: str, places: Sequence[_Print]) -> bool:
        """Whether a combined report prints statements of ``name`` on one of the pages of ``places``."""
        pages = dict.fromkeys((place.filing_id, place.page) for place in places)
        items = (item for page in list(pages)[:_PAGES] for item in self._reader.line_items_of_page(*page))
        return any(item.registrant is not None and core_name(item.registrant) == core_name(name) for item in items)

    def _by_abbreviation(self, name: str, company: str, spellings: Sequence[str]) -> list[OwnName]:
        """``name`` as a part of ``company`` if that is shown for an abbreviation that the company's filing defines."""
        if len(name.split()) < 2:
            return []
        owners = (self.owner(each) for each in spellings if " " not in each)
        return [
            replace(owner, name=name, spellings=tuple(spellings))
            for owner in owners
            if owner is not None and owner.company == company and owner.relation == "part"
        ]

    def _prints(self, name: str, pattern: re.Pattern[str]) -> dict[str, list[_Print]]:
        """The places that print ``name``, by the company whose filing it is."""
        hits = self._reader.search_chunks_text(name, None, _HITS, texts=True)
        by_company: dict[str, list[_Print]] = defaultdict(list)
        seen: set[tuple[str, int, str]] = set()
        for filing_id, page, text in zip(
            hits["filing_id"].to_pylist(), hits["page"].to_pylist(), hits["text"].to_pylist(), strict=True
        ):
            if not prints(text, name, pattern):
                continue
            company = self._catalog.company_of_filing[filing_id]
            for place in _places(text, name, pattern, filing_id, page):
                key = company, page, place.sentence
                if key not in seen:  # chunks overlap, and reports repeat themselves
                    seen.add(key)
                    by_company[company].append(place)
        return by_company

    def _names_of(self, company: str) -> _Registrant:
        cores = dict.fromkeys(core for name in self._catalog.companies[company].names if (core := core_name(name)))
        names = "|".join(in_any_spacing(core) for core in cores) or r"(?!)"
        return _Registrant(re.compile(names, re.I), re.compile(rf"(?:{names})['’]s?(?!\w)", re.I))


def _places(text: str, name: str, pattern: re.Pattern[str], filing_id: str, page: int) -> list[_Print]:
    found = []
    for match in pattern.finditer(text):
        if name[0].isupper() and match[0][0].islower():
            continue
        before = text[max(0, match.start() - _AROUND) : match.start()]
        after = text[match.end() : match.end() + _AROUND]
        starts = [end.end() for end in _SENTENCE_END.finditer(text, match.start() - len(before), match.end())]
        starts = [start - match.start() + len(before) for start in starts if start <= match.start()]
        end = _SENTENCE_END.search(after)
        before = before[starts[-1] :] if starts else before
        after = after[: end.start() + 1] if end is not None else after
        heads = _LINE_START.search(before) is not None and _LINE_END.match(after) is not None
        found.append(_Print(filing_id, page, re.sub(r"\s+", " ", before), match[0], re.sub(r"\s+", " ", after), heads))
    return found


def _is_former(place: _Print, registrant: _Registrant) -> bool:
    """Whether the sentence gives the name as a former or short one of the registrant."""
    before = place.before
    # "Dow Corning Corporation (“Dow Corning”)" defines no name of Corning.
    quoted = place.after[:1] in "”\"'" and not registrant.named.search(place.name)
    ends = [match.end() for pattern in (registrant.named, _SELF) for match in pattern.finditer(before)]
    return any(_cues().former.fullmatch(before, end) or (quoted and _DEFINES.fullmatch(before, end)) for end in ends)


def _vote(place: _Print, registrant: _Registrant) -> int:
    """1 if the sentence says that the name is of a part of the registrant, -1 if of another company, 0 if neither."""
    cues = _cues()
    before = registrant.owning.sub("our", place.before)
    after = place.after
    if cues.others_before.search(before) or cues.others_after.match(after):
        return -1
    if cues.part_after.match(after):
        return 1
    if cues.dealt.search(before) or cues.part_before.search(before):
        return -1 if _COUNTERPARTY.search(before) else 1
    return -1 if cues.others.search(before) or cues.others.search(after) else 0


def _spellings(name: str, places: Sequence[_Print]) -> tuple[str, ...]:
    """``name``, the abbreviations that the filing defines for it, and what it abbreviates."""
    spellings = {name: None}
    for place in places:
        short = _ABBREVIATION_AFTER.match(place.after)
        if short is not None and _stands_for(short[1], name.split()):
            spellings.setdefault(short[1])
        if place.after.lstrip("”\"'").startswith(")") and (long := _WRITTEN_OUT_BEFORE.search(place.before)):
            words = long[1].strip(" ,").split()
            whole = next((words[start:] for start in range(len(words)) if _stands_for(name, words[start:])), None)
            if whole is not None:
                spellings.setdefault(" ".join(whole))
    return tuple(spellings)


def _stands_for(short: str, words: Sequence[str]) -> bool:
    """Whether ``short`` has the initials of ``words``, or is the first of several."""
    plain = re.findall(r"[a-z0-9]+", " ".join(words).lower())
    letters = "".join(re.findall(r"[a-z0-9]+", short.lower()))
    initials = "".join(word[0] for word in plain if word not in ("and", "of", "the"))
    return letters == initials or (len(plain) > 1 and letters == plain[0])


@cache
def _cues() -> _Cues:
    table = tomllib.loads(shipped("finray.retrieval", "own_names.toml"))
    lists = {name: "|".join(text.split("\n")).strip("|") for name, text in table.items()}
    words = r"(?:[\w&’'®™-]+,? ){0,4}"
    owned, deals, others = lists["owned"], lists["deals"], lists["others"]
    lead = r"(?:(?:,|:|such as|includ(?:es?|ed|ing)|like|of|are|is|and|the|called|named|under|known as|consists?) ?)*"
    return _Cues(
        part_before=re.compile(
            rf"(?:\b(?:our|its|the company[’']s) (?:(?!(?:{others})\b)[\w&’'®™-]+ ){{0,3}}|\b(?:{owned}) {lead}"
            rf"(?:[\w&’'®™.,-]+ ){{0,12}})[“\"']?$",
            re.I,
        ),
        dealt=re.compile(rf"\b(?:{deals}) {words}[“\"']?$", re.I),
        part_after=re.compile(
            rf"[®™”\"']?,?(?: [\w&’'®™-]+){{0,2}}? (?:{owned})\b|,? (?:an?|our|its) (?:[\w-]+ ){{0,4}}(?:{owned})\b",
            re.I,
        ),
        others=re.compile(rf"\b(?:{others})", re.I),
        others_before=re.compile(rf"\b(?:{others}) {lead}(?:[\w&’'®™.,-]+ ){{0,8}}$", re.I),
        others_after=re.compile(rf"[®™”\"']?,?(?: [\w&’'®™-]+){{0,2}}? (?:{others})", re.I),
        former=re.compile(rf"(?:[’']s)?{_LEGAL}[ ,(]*{_BEING}(?:{lists['former']})[ ,:“\"'(]*(?:the )?[“\"']?", re.I),
    )
