"""Quotation: the sentence or table row of the passages that answers best, and the number in it."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from finray.types import Passage

_SENTENCE_END = re.compile(r"(?<=[.;!?])\s+(?=[A-Z“\"(•●])|\n{2,}|(?<=[.!?])\n")
_WORD = re.compile(r"[a-z0-9&]+(?:['’.\-][a-z0-9]+)*")
_STOP = frozenset(
    [
        "a",
        "about",
        "all",
        "an",
        "and",
        "any",
        "are",
        "as",
        "at",
        "be",
        "been",
        "by",
        "can",
        "could",
        "did",
        "do",
        "does",
        "each",
        "for",
        "from",
        "give",
        "had",
        "has",
        "have",
        "how",
        "if",
        "in",
        "into",
        "is",
        "it",
        "its",
        "many",
        "me",
        "most",
        "much",
        "of",
        "on",
        "or",
        "our",
        "please",
        "than",
        "that",
        "the",
        "their",
        "them",
        "there",
        "these",
        "they",
        "this",
        "those",
        "to",
        "was",
        "we",
        "were",
        "what",
        "when",
        "where",
        "which",
        "who",
        "whom",
        "whose",
        "why",
        "will",
        "with",
        "would",
        "you",
        "your",
        "company",
        "fiscal",
        "year",
        "fy",
        "quarter",
        "ended",
        "period",
        "during",
        "amount",
        "value",
        "tell",
        "state",
        "according",
        "report",
        "reported",
        "filing",
        "form",
        "10-k",
        "10-q",
        "8-k",
        "total",
        "usd",
        "million",
        "millions",
        "billion",
        "billions",
        "dollars",
    ]
)
_NUMBER = re.compile(
    r"(?P<open>\()?\s*(?P<currency>[$€£])?\s*(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)\s*(?P<percent>%|percent\b)?"
    r"\s*(?P<scale>thousand|million|billion|trillion)?",
    re.I,
)
_SCALE = {"thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
_MAX_CHARACTERS = 600
_ASKS_NUMBER = re.compile(
    r"\b(?:how (?:much|many|long|large|big)|what (?:is|was|were|are) the (?:\w+ ){0,4}?(?:number|amount|total|value|"
    r"percentage|rate|cost|price|size|balance|commitment|capacity)|what percent\w*)\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Quote:
    """``coverage`` is the weighted share of the question's own words that ``text`` holds, 0 to 1."""

    passage: Passage
    text: str
    coverage: float


@dataclass(frozen=True, slots=True)
class QuotedNumber:
    value: float
    unit: str


def best_quote(question: str, passages: Sequence[Passage], ignored: Sequence[str] = ()) -> Quote | None:
    """The stretch of text (a sentence, with its neighbour where that helps) that covers the question's words best.

    ``ignored`` are words that every candidate shares, such as the company's name. Rare words weigh more: a word counts
    by how few of the candidates hold it. Earlier passages win between equals.
    """
    drop = _STOP | {word for name in ignored for word in _words(name)}
    wanted = {
        stem(word) for word in _words(question) if word not in drop and not re.fullmatch(r"(?:fy|q[1-4])?\d*", word)
    }
    if not wanted:
        return None
    candidates = [
        (passage, text, {stem(word) for word in _words(text)})
        for passage in passages
        for text in _stretches(passage.text)
    ]
    if not candidates:
        return None
    holding = Counter(word for _, _, words in candidates for word in words & wanted)
    weight = {word: math.log(1 + len(candidates) / (1 + holding[word])) for word in wanted}
    total = sum(weight.values())
    rank = {id(passage): index for index, passage in enumerate(passages)}

    def worth(candidate: tuple[Passage, str, set[str]]) -> float:
        passage, text, words = candidate
        covered = sum(weight[word] for word in words & wanted) / total
        return covered - 0.01 * rank[id(passage)] - 0.05 * len(text) / _MAX_CHARACTERS

    passage, text, words = max(candidates, key=worth)
    return Quote(passage, " ".join(text.split()), sum(weight[word] for word in words & wanted) / total)


def quoted_number(question: str, quote: Quote) -> QuotedNumber | None:
    """The one number in the quotation that can be the answer; None where several could or none is asked for."""
    if not _ASKS_NUMBER.search(question):
        return None
    asked = {re.sub(r"\D", "", token) for token in re.findall(r"[\d,]+", question)}
    numbers: dict[QuotedNumber, None] = {}
    for match in _NUMBER.finditer(quote.text):
        digits = match.group("digits").replace(",", "")
        plain = not (match.group("currency") or match.group("percent") or match.group("scale"))
        if plain and (digits in asked or re.fullmatch(r"(?:19|20)\d\d", digits) or _is_date(quote.text, match)):
            continue
        value = float(digits) * _SCALE.get((match.group("scale") or "").lower(), 1.0)
        unit = "percent" if match.group("percent") else "USD" if match.group("currency") else "count"
        numbers.setdefault(QuotedNumber(value, unit))
    return next(iter(numbers)) if len(numbers) == 1 else None


def stem(word: str) -> str:
    """A crude stem: enough to join "acquired" with "acquisitions"'s neighbours is not the aim, plurals and tenses are."""
    for ending in ("ingly", "edly", "ing", "ies", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word.removesuffix(ending)
    return word


def _stretches(text: str) -> list[str]:
    """Sentences, and each sentence with the next, none longer than a short paragraph."""
    sentences = [s.strip() for s in _SENTENCE_END.split(text) if s and s.strip()]
    pairs = [f"{a} {b}" for a, b in zip(sentences, sentences[1:], strict=False)]
    return [s[:_MAX_CHARACTERS] for s in sentences if len(s) >= 20] + [p for p in pairs if len(p) <= _MAX_CHARACTERS]


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _is_date(text: str, match: re.Match[str]) -> bool:
    before = text[max(0, match.start() - 12) : match.start("digits")].lower()
    return (
        re.search(
            r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w*\.?\s*$|\b(?:note|item|page|section|exhibit|rule)\s*$",
            before,
        )
        is not None
    )
