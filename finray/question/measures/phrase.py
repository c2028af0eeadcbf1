"""Reads what a question asks for as a noun phrase: "current federal income tax expense" in "What was Apple's current
federal income tax expense for fiscal 2024?"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from finray.core.plan import Measure, Phrase
from finray.core.vocabulary import COUNT, MONTH, ORDINAL, SCALE
from finray.filings.tables.canonical import canonical_items
from finray.question.measures.mentions import mentions
from finray.question.synonyms import words_of

_MONTH = rf"{MONTH}\.?"
_YEAR = r"(?:19|20)\d\d"
_MONTH_END = (
    rf"(?:(?:(?:end|close)\s+of|ended|ending|as\s+of|as\s+at|viewed\s+from)\s+{_MONTH}\s+{_YEAR}\b|"
    rf"{_MONTH}\s+{_YEAR}\s+quarter\b|mid[\s-]?{_YEAR}\b)"
)
_DAY = rf"(?:{_MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?,?\s+{_YEAR}|\d{{1,2}}\s+{_MONTH},?\s+{_YEAR}|{_YEAR}-\d\d-\d\d)"
_BARE = (
    rf"(?:(?:FY|fiscal(?:\s+years?(?:[\s-]end)?)?|years?|year[\s-]end)\s*['’]?(?:{_YEAR}|\d\d)\b|F\d\d\b|"
    rf"{_YEAR}(?:\s*[/-]\s*(?:{_YEAR}|\d\d))?\b)(?:\s+year[\s-]end\b)?"
)
_TRANSITION = rf"(?:{COUNT}[\s-]+months?\s+)?transition(?:al)?\s+period"
_SPAN = (
    rf"(?:(?:{ORDINAL}|last)\s+(?:fiscal\s+)?quarter|(?:first\s+)?{COUNT}[\s-]+(?:months?|weeks?|quarters?)|"
    rf"(?:first|second)[\s-]+half|Q[1-4]|[1-4]Q|(?:fiscal\s+)?quarter|(?:fiscal\s+)?years?|{_TRANSITION})"
)
_PERIOD = re.compile(
    r"(?>(?:,\s*+|\b(?:for|in|of|during|across|at|as of|as at|on|from|between|to|through|since|over|vs\.?|versus|than|"
    r"and|until|(?:as |when )?compared (?:to|with)|relative to|(?:against )?that (?:in|of))\s++){0,8})"
    r"(?:the\s+)?(?:(?:end|close)\s+of\s+)?(?:the\s+)?(?:fiscal\s+)?"
    rf"(?:{_SPAN}\s*(?:period\s+)?(?:(?:that\s+)?(?:ended|ending|of|in|for|to)\s+)?(?:the\s+)?(?:{_DAY}|{_BARE})|"
    rf"{_MONTH_END}|{_DAY}|{_BARE})",
    re.I,
)
_ASKING = re.compile(
    r"\b(?:please|can|could|would)?\s*(?:you\s+)?(?:look up|find|tell me|give me|show me|i need|i want(?: to know)?|"
    r"calculate|(?:^|(?<=please )|(?<=you )|(?<=to )|(?<=and ))compute)\b|"
    r"\b(?:bring|brought)(?:\s+in)?\b(?!\s+forward)|\bcarr(?:y|ied)\b(?!\s+(?:forward|back|over))|"
    r"(?<!cash )\bspen[dt]\b(?:\s+on\b)?|"
    r"\b(?:by\s+)?(?:what|which|how)\b(?:\s+(?:much|many|large|big|was|were|is|are|did|does|do|has|have|"
    r"had)\b)*(?:\s+amount\b)?|"
    r"\b(?:10-?[KQ]|8-?K)(?:/A)?(?!\w)|\b(?:earnings|press) releases?\b|\bannounced?\b|"
    r"\b(?:did|does|do|has|have|had|please)\b|\b(?:disclosed?|report(?:ed|s)?)\s+as\b|"
    r"\b(?:reports?|reported|disclosed?|discloses|generated?|posted|company(?:['’]s?)?(?!-)|respectively|according to|"
    r"based on)\b|"
    r"\brecord(?:ed|s)?\b(?=\s*$|\s+(?:in|for)\b)|\b(?:in terms of|expressed)\b(?:\s+[$€£]?\w*)?|"
    r"(?:^|\bthe)\s+(?:total\s+)?(?:value|amount|level) of\b|\b(?:the company|the group|the firm)(?:['’]s)?(?!\w)|"
    rf"\b(?:in|of)\s+(?:US\s?D|U\.S\. dollars|dollars|percent|{SCALE}s?)(?:\s+of\s+(?:US\s+)?dollars)?\b|"
    r"\b(?:its\s+)?(?:consolidated\s+)?(?:income statements?|balance sheets?|cash[- ]flow statements?|"
    r"statements? of (?:cash flows?|income|operations|comprehensive income))\b",
    re.I,
)
_MOVING = re.compile(
    r"(?>(?:\b(?:the\s++)?(?:value of the|amount of the|absolute|percentage|percent|net|dollar|year-over-year|annual|"
    r"overall|total)\s++|%\s*+){0,8})"
    r"\b(?:changes?|increases?|decreases?|decline|growth(?:\s++rate)?|difference|variance|movement)"
    r"(?:\s*+(?:/\s*+)?(?:\(\s*+)?(?:or\s++)?(?:increase|decrease|decline)\)?)?\s*+"
    r"(?:(?:\(\s*+)?in\s++(?:percentage|percent|%)\s*+(?:\)\s*+)?)?(?:of|in|for|from|between)(?=\W)|"
    r"\b(?:percentage|percent|%)\s*+(?:changes?|increases?|decreases?|growth|difference)(?:\s*+(?:of|in))?\b|"
    r"\b(?:changed?|grow|grew|grown|shrink|shrank|shrunk|rise|rose|risen|fall|fell|increased|decreased|"
    r"declined)\b(?:\s+or\b)?|"
    r"\b(?:in\s+)?(?:which|what)\s+(?:one|company|companies|firm|(?:fiscal\s+)?(?:years?|quarters?))\b(?:\s+(?:had|has|have|"
    r"reported|was|were|is|generated|earned))?(?:\s+(?:the|a))?|"
    r"\b(?:the\s+)?(?:highest|lowest|largest|smallest|greatest|biggest)\b|\b(?:the|a)\s+(?:higher|lower|larger|smaller|greater)\b|"
    r"\b(?:higher|lower|larger|smaller|greater)\s*+(?:than\s*+)?(?=[?,.]|$)|"
    r"\bhigher or lower\b|\bmore or less\b|\bthe difference between\b|\bthe (?:change|increase|decrease|growth) in\b|"
    r"\b(?:by )?(?:how much|how many dollars|what percentage)\b|\bthat of\b|\bin percent\b|\bin dollars\b|%",
    re.I,
)
_SPAN_OF_YEARS = re.compile(
    r"\b(?:(?:for|over|during|in|across)\s*+)?(?:(?:each of )?the\s++)?(?:(?:last|past)\s*+)?"
    rf"{COUNT}[\s-]+(?:fiscal[\s-]+)?years?(?:[\s-]+periods?)?\b|\brespectively\b|"
    r"\b(?:in|for) (?:both|all|each) (?:of the )?years\b|"
    rf"\b(?:(?:for|in|during|over|of)\s+)?(?:(?:the|its)\s+)?{_TRANSITION}\b",
    re.I,
)
_AGGREGATE = re.compile(
    r"(?<!weighted )(?<!weighted-)\b(?:(?:yearly|annual|quarterly)\s+)?(?:average|mean)\b"
    r"(?:\s+(?:annual|yearly|value|amount))?(?:\s+of\b)?|"
    r"\b(?:sum|combined|altogether|cumulative|aggregate)\b(?:\s+of\b)?|\badded? (?:up|together)\b|"
    r"\b(?:per year|a year|annually)\b",
    re.I,
)
_LEGAL = r"(?:,?\s+(?:Inc|Corp|Corporation|Company|Co|Ltd|plc|LLC|N\.?V|S\.?A)\b\.?)*"
_SHARES = re.compile(
    r"\b(?:number of|how many|weighted[ -]average|authorized|issued|outstanding|common|preferred|treasury|"
    r"antidilutive|incremental)\b"
    r".{0,60}\b(?:shares|units|share count)\b|\bshares\b.{0,30}\b(?:outstanding|issued|authorized|used in)\b",
    re.I,
)
_NOT_A_COUNT = re.compile(r"\b(?:value|cost|amount|price|proceeds|payments?|cash|compensation|in dollars)\b|\$", re.I)
_PER_SHARE = re.compile(r"\bper (?:[a-z]+ ){0,2}(?:share|unit)\b|\bEPS\b", re.I)
_PERCENT = re.compile(r"(?<!exchange )\brates?\b|\bpercent(?:age)?\b|%|\byield\b|\bmargin\b", re.I)


def without_context(text: str, names: Sequence[str] = ()) -> str:
    """``text`` without its periods and the ``names`` of companies."""
    if any(names):
        text = _any_name(tuple(sorted(set(filter(None, names))))).sub(" ", text)
    return _SPAN_OF_YEARS.sub(" ", _PERIOD.sub(" ", text))


@lru_cache(maxsize=256)
def _any_name(names: tuple[str, ...]) -> re.Pattern[str]:
    """Matches any of ``names`` with its legal form and possessive ending."""
    longest_first = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    return re.compile(rf"(?<!\w)(?:{longest_first}){_LEGAL}\.?(?:['’]s?)?(?!\w)", re.I)


def period_phrases(text: str) -> tuple[tuple[int, int], ...]:
    """(start, end) of each phrase of ``text`` about periods, with its prepositions: "from 2019 to 2021"."""
    found = sorted(match.span() for pattern in (_PERIOD, _SPAN_OF_YEARS) for match in pattern.finditer(text))
    joined: list[tuple[int, int]] = []
    for start, end in found:
        if joined and not text[joined[-1][1] : start].strip():
            start, end = joined[-1][0], max(end, joined.pop()[1])
        joined.append((start, end))
    return tuple(joined)


def phrase_of(
    text: str, names: Sequence[str] = (), *, moving: bool = False, instant: bool = False, aggregate: bool = False
) -> Phrase | None:
    """The phrase that ``text`` asks for, without ``names`` of companies; None if no words are left.

    ``moving`` drops words of change, ``aggregate`` those of averages and sums. ``instant``: the balance at a day is
    asked for.
    """
    return _phrase_of(text, tuple(names), moving, instant, aggregate)


@lru_cache(maxsize=1024)  # curator and answerer ask for the same phrases
def _phrase_of(text: str, names: tuple[str, ...], moving: bool, instant: bool, aggregate: bool) -> Phrase | None:
    text = without_context(text, names)
    if moving:
        text = _MOVING.sub(" ", text)
    if aggregate:
        text = _AGGREGATE.sub(" ", text)
    asked_count = re.search(r"\bhow many\b|\bnumber of\b", text, re.I) is not None
    measure = _measure(text, asked_count)
    text = _ASKING.sub(" ", text)
    text = re.sub(r"(?<![?:;.,])[?:;.,]++(?=\s|$)|\(\s*+\)", " ", text)
    text = re.sub(
        r"^(?:(?:was|were|is|are|the|of|for|in|as|its|from|by|that|and)\b ?)+|"
        r"(?: ?\b(?:of|for|in|its|from|by|and|as)){1,8}$",
        "",
        " ".join(text.split()),
    ).strip(" ,;:.?-'’\"")
    words = words_of(text)
    if not words:
        return None
    found = tuple(
        (mention.value, frozenset(words_of(text[mention.start : mention.end])))
        for mention in mentions(text)
        if mention.value in canonical_items()
    )
    return Phrase(text, words, found, measure, instant)


def _measure(text: str, count: bool) -> Measure:
    """What a figure of ``text`` measures; ``count``: a number of things is asked for."""
    if _PER_SHARE.search(text):
        return "per share"
    if _SHARES.search(text) and (count or not _NOT_A_COUNT.search(text)):
        return "shares"
    return "percent" if _PERCENT.search(text) else "money"
