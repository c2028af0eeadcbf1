"""Recognizes signals in the words of an answer: yes or no, up or down, a refusal, names."""

from __future__ import annotations

import re
from functools import cache

from finray.question.terms import content_terms, stem
from finray.question.words import word_list

_YES_NO = re.compile(r"\W*(?:(?P<yes>yes|yeah)|(?P<no>no|nope))\b", re.IGNORECASE)
_REFUSAL = re.compile(
    r"""
    \b(?:not|cannot|can['’]t|could\ not|couldn['’]t|unable\ to|impossible\ to)\b [^.]{0,30}?
      \b(?:answerable|answer(?:ed)?|determin(?:e|ed)|found|find|provide|calculat(?:e|ed)|comput(?:e|ed)|tell|say
      |be\ (?:derived|identified|established))\b
    | \bunanswerable\b
    | \b(?:i|we)\ (?:do\ not|don['’]t|didn['’]t)\ (?:know|have)\b
    | \b(?:no|insufficient|not\ enough|lack\ of)\ (?:relevant\ |sufficient\ |such\ )?
      (?:information|data|evidence|context|passages?)\b
    | \b(?:do|does|did)\ not\ (?:contain|include|provide|have|hold|give|mention|disclose|specify)\b [^.]{0,40}
      \b(?:information|data|answer|details?|evidence)\b
    | \b(?:is|are|was|were)\ (?:not|nowhere)\ (?:\w+\ )?
      (?:provided|given|available|included|present|contained|shown)\ in\ the\ (?:given\ |provided\ |retrieved\ )?
      (?:context|passages?|documents?|text|excerpts?|filings?|index|sources?|evidence)\b
    | \b(?:sorry|i\ apologize)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_LEAD_IN = re.compile(r"(?:according to|based on|as per|from|in)\b[^,:;.]{1,60}[,:]\s+", re.IGNORECASE)
_REFUSAL_REACH = 300
"""Characters at the start that may hold a refusal; further down, "cannot be determined" is about something else."""
_DIRECTIONS = (
    (
        "increase rise rose risen grow grew grown growth improve improvement higher expand expansion climb surge jump"
        " raise",
        "decrease decline fall fell fallen drop lower reduce reduction shrink shrank shrunk worsen deteriorate",
    ),
    ("positive profitable", "negative unprofitable loss"),
    ("highest largest biggest greatest", "lowest smallest fewest"),
    ("approve adopt pass accept", "defeat reject fail"),
)
"""Words and their opposites."""
_NAME = r"[A-Z][\w.&'’-]*(?:\s+[A-Z&][\w.&'’-]*){0,4}"
_SUBJECT = re.compile(
    rf"(?:[Ff]or|[Aa]t|[Ii]n the case of|[Aa]s for|[Rr]egarding)\s+(?P<after>{_NAME})"
    r"|(?P<owner>[A-Z][\w.&-]*(?:\s+[A-Z&][\w.&-]*){0,4})['’]s\b"
)
_NO_NAME = frozenset(
    (
        "fy", "fiscal", "year", "years", "quarter", "first", "second", "third", "fourth", "full", "q1", "q2", "q3",
        "q4", "january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
        "november", "december", "the", "a", "an", "it", "its", "their", "our", "this", "that", "company", "all", "both",
        "each",
    )
)  # fmt: skip
_CAPITALIZED = re.compile(r"(?<![\w-])[A-Z][\w&'’-]+(?: [A-Z][\w&'’-]+)*")
_WORD = re.compile(r"[A-Za-z][\w&-]*")


def polarity(text: str) -> int | None:
    """1 if ``text`` begins with yes, -1 if with no, else None; "according to ..., " may come first."""
    lead = _LEAD_IN.match(text)
    found = _YES_NO.match(text, lead.end() if lead else 0)
    return None if found is None else 1 if found["yes"] else -1


def refuses(text: str) -> bool:
    """Whether ``text`` is a refusal; an empty text is."""
    return not text.strip() or _REFUSAL.search(text[:_REFUSAL_REACH]) is not None


def direction(word: str) -> tuple[int, int] | None:
    """(pair, 1 or -1) of a lower-case word with an opposite, such as (0, 1) for "increased"."""
    return _directions().get(stem(word))


def signs_of(text: str) -> tuple[int, ...]:
    """For each pair of opposites, 1 or -1 if ``text`` has words of only one side, else 0."""
    sides: list[set[int]] = [set() for _ in _DIRECTIONS]
    for word in _WORD.findall(text.lower()):
        found = direction(word)
        if found is not None:
            sides[found[0]].add(found[1])
    return tuple(next(iter(side)) if len(side) == 1 else 0 for side in sides)


def terms(text: str) -> list[str]:
    """Content words for comparison, without yes and no; words of one direction count as the same."""
    common = _directions()
    return [f"{common[term]}" if term in common else term for term in content_terms(text, {"yes", "yeah", "nope"})]


def names_another(answer: str, known: str) -> str | None:
    """The name that ``answer`` begins with ("For Beta Corp, ...", "Beta's ...") if ``known`` has no word of it."""
    found = _SUBJECT.match(answer)
    if found is None:
        return None
    name: str = found["after"] or found["owner"]
    words = {word.lower() for word in _WORD.findall(name)} - _NO_NAME
    there = {word.lower() for word in _WORD.findall(known)}
    same = any(
        word.startswith(one) or one.startswith(word) for word in words for one in there if min(len(one), len(word)) > 2
    )
    return None if same or not words else name


def subject_replaced(question: str, reference: str, answer: str) -> str | None:
    """A name that occurs only in ``answer``, if ``answer`` lacks every name that question and gold answer share: they
    are about Acme, it is about Beta. None for answers much longer than the gold answer, which contain many names."""
    if len(answer.split()) > 10 + 1.5 * len(reference.split()):
        return None
    known = {word.lower() for word in _WORD.findall(f"{question} {reference}")}
    shared = _names(question) & _names(reference)
    foreign = [name for name in sorted(_names(answer)) if name not in known]
    words = {word.lower() for word in _WORD.findall(answer)}
    return foreign[0] if shared and foreign and not shared & words else None


def _names(text: str) -> set[str]:
    """Capitalized words in lower case, without abbreviations (PP&E) and file names. The first word of a sentence counts
    only if it has more capitals or the next word is capitalized too."""
    found = set()
    for match in _CAPITALIZED.finditer(text):
        words = match[0].split()
        first = match.start() == 0 or text[: match.start()].rstrip()[-1:] in ".:!?"
        if not first or len(words) > 1 or not words[0][1:].islower():
            found |= {re.sub(r"['’]s$", "", word).lower() for word in words if _is_name(word)}
    return found - _NO_NAME - word_list("common")


def _is_name(word: str) -> bool:
    return any(letter.islower() for letter in word) and "_" not in word


@cache
def _directions() -> dict[str, tuple[int, int]]:
    found: dict[str, tuple[int, int]] = {}
    for pair, sides in enumerate(_DIRECTIONS):
        for sign, words in zip((1, -1), sides, strict=True):
            for word in words.split():
                found.setdefault(stem(word), (pair, sign))
    return found
