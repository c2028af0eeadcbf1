"""Finds the number that a quotation states, and the share of words that two texts have in common."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from finray.core.digits import digits
from finray.core.query import AskedUnit
from finray.core.vocabulary import MONTH, SCALE, SCALES
from finray.question.measures.units import asked_unit
from finray.question.terms import stem
from finray.question.words import word_list

_WORD = re.compile(r"[a-z0-9&]+(?:['’.\-][a-z0-9]+)*")
_STOP_WORDS = word_list("stop")
_NUMBER = re.compile(
    r"(?:(?P<currency>[$€£])\s*+)?(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
    rf"(?:\s*+(?P<percent>%|percent\b))?(?:\s*+(?P<scale>{SCALE}))?",
    re.I,
)
_BEFORE_DATE = re.compile(rf"{MONTH}\.? ?$|\b(?:note|item|page|section|exhibit|rule) ?$")
_IN_A_NAME = re.compile(r"-[A-Za-z]|\([a-z]\)")
_ASKS_NUMBER = re.compile(
    r"^\W*(?:in [^,]{3,60},\s*)?(?:how (?:much|many|long|large|big)|what|by (?:how much|what))\b", re.I
)
_ASKS_WORDS = re.compile(
    r"\b(?:why|who|where|event|agenda|describe|explain|reason|purpose|nature|type|kind|name|agreement|officer|management|"
    r"facility|acquisitions?|compan(?:y|ies)|products?|industry|geograph\w+|regions?|segments?|does)\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class QuotedNumber:
    value: float
    unit: str


def quoted_number(question: str, text: str) -> QuotedNumber | None:
    """The only number in ``text`` that can be the answer; None if several can, if its unit is not the one asked for, or
    if the question does not ask for a number."""
    if not _ASKS_NUMBER.search(question) or _ASKS_WORDS.search(question):
        return None
    asked = {digits(token) for token in re.findall(r"[\d,]+", question)}
    marked: set[QuotedNumber] = set()
    plain: set[QuotedNumber] = set()
    for match in _NUMBER.finditer(_closest_sentence(question, text)):
        printed = match.group("digits").replace(",", "")
        value = float(printed) * SCALES.get((match.group("scale") or "").lower(), 1)
        unit = "percent" if match.group("percent") else "USD" if match.group("currency") else "count"
        if unit != "count" or match.group("scale"):
            marked.add(QuotedNumber(value, unit))
        elif not (printed in asked or re.fullmatch(r"(?:19|20)\d\d", printed) or _is_reference(match)):
            plain.add(QuotedNumber(value, unit))
    candidates = marked or plain
    if len(candidates) != 1:
        return None
    number, asked_for = candidates.pop(), asked_unit(question)
    return number if asked_for is None or _fits(asked_for, number) else None


def _fits(asked: AskedUnit, number: QuotedNumber) -> bool:
    """Whether ``number`` may have the unit ``asked``: an amount may be printed without its currency."""
    match asked:
        case "money":
            return number.unit != "percent"
        case "per share":
            return number.unit == "USD"
        case "percent":
            return number.unit == "percent"
        case "ratio":
            return number.unit != "USD"
        case _:
            return number.unit == "count"


def _closest_sentence(question: str, text: str) -> str:
    """The sentence with a number that shares the most words with the question."""
    wanted = [word for word in _words(question) if word not in _STOP_WORDS]
    parts = re.split(r"(?<=[.;])\s+(?=[A-Z“])|(?<=\d)\s+(?=(?:As of|On|In)\s)", text)
    sentences = [part for part in parts if re.search(r"\d", part)]
    return max(sentences, key=lambda s: matched_share(wanted, s), default=text)


def matched_share(words: Sequence[str], text: str) -> float:
    """The share of ``words`` that are in ``text``, compared by stems; 1 without words."""
    wanted = {stem(word) for word in words}
    return len(wanted & {stem(word) for word in _words(text)}) / len(wanted) if wanted else 1.0


def _words(text: str) -> list[str]:
    return [re.sub(r"['’]s?$", "", word) for word in _WORD.findall(text.lower())]


def _is_reference(match: re.Match[str]) -> bool:
    """Whether the number is a day of a month, part of a name ("10-K", "15(a)"), or the number of a note, item, page,
    section, exhibit or rule."""
    start, end = match.span("digits")
    before = match.string[max(0, start - 13) : start].lower()
    return _BEFORE_DATE.search(before) is not None or _IN_A_NAME.match(match.string, end) is not None
