"""Finds the sentence or table row of the passages that answers best, and the number in it."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from finray.core.types import Passage
from finray.core.vocabulary import MONTH, SCALE, SCALES
from finray.models.encoder import Encoder
from finray.question.terms import stem
from finray.question.words import word_list

# An initial ("Desmond K. Quill") does not end a sentence.
_SENTENCE_END = re.compile(r"(?<=[.;!?])(?<![A-Z]\.)\s+(?=[A-Z“\"(•●])|\n{2,}|(?<=[.!?])\n")
_WORD = re.compile(r"[a-z0-9&]+(?:['’.\-][a-z0-9]+)*")
STOP_WORDS = word_list("stop")
_NUMBER = re.compile(
    r"(?:(?P<open>\()\s*+)?(?:(?P<currency>[$€£])\s*+)?(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
    rf"(?:\s*+(?P<percent>%|percent\b))?(?:\s*+(?P<scale>{SCALE}))?",
    re.I,
)
_PERIOD_WORD = re.compile(r"(?:fy|q[1-4])?\d*")
_BEFORE_DATE = re.compile(rf"{MONTH}\.? ?$|\b(?:note|item|page|section|exhibit|rule) ?$")
_EVENT_ITEM = re.compile(r"\bItem\s+(\d\.\d\d)\.?[^\n]*\n", re.I)
_LETTERS = re.compile(r"[a-z]{3}")
_MAX_CHARACTERS = 600
_ENCODED = 16
_RANK_PENALTY = 0.01
_TABLE_PENALTY = 0.2
_ASKS_NUMBER = re.compile(
    r"^\W*(?:in [^,]{3,60},\s*)?(?:how (?:much|many|long|large|big)|what|by (?:how much|what))\b", re.I
)
_ASKS_WORDS = re.compile(
    r"\b(?:why|who|where|event|agenda|describe|explain|reason|purpose|nature|type|kind|name|agreement|officer|management|"
    r"facility|acquisitions?|compan(?:y|ies)|products?|industry|geograph\w+|regions?|segments?|does)\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Quote:
    """``coverage`` is the weighted share of the question's own words in ``text``, ``similarity`` the cosine of question
    and text; both 0 to 1."""

    passage: Passage
    text: str
    coverage: float
    similarity: float

    @property
    def worth(self) -> float:
        return (self.coverage + self.similarity) / 2


@dataclass(frozen=True, slots=True)
class QuotedNumber:
    value: float
    unit: str


def best_quote(
    question: str, passages: Sequence[Passage], encoder: Encoder, ignored: Sequence[str] = (), *, prose: bool = False
) -> Quote | None:
    """The stretch of text (a sentence or two neighbors) that is most like the question in words and in meaning.

    A word weighs more if fewer candidates contain it. Earlier passages win ties. ``ignored`` are names that every
    candidate shares, such as the company's. ``prose``: the question asks for an explanation, so tables lose.
    """
    drop = {word for name in ignored for word in _words(name)} | STOP_WORDS
    wanted = {stem(word) for word in _words(question) if word not in drop and not _PERIOD_WORD.fullmatch(word)}
    candidates = [(rank, text) for rank, passage in enumerate(passages) for text in stretches(passage.text)]
    if not wanted or not candidates:
        return None
    found = [{stem(word) for word in _words(text)} & wanted for _, text in candidates]
    counts = Counter(word for words in found for word in words)
    weight = {word: math.log(1 + len(candidates) / (1 + counts[word])) for word in wanted}
    total = sum(weight.values())
    coverage = np.asarray([sum(weight[word] for word in words) / total for words in found])
    # Encode only those with the most words in common: encoding every sentence would cost more than all the rest.
    nearest = np.argsort(-coverage, kind="stable")[:_ENCODED]
    texts = [candidates[index][1] for index in nearest]
    similarity = encoder.encode_passages(texts) @ encoder.encode_query(question)
    quotes = [
        Quote(passages[candidates[index][0]], " ".join(text.split()), float(coverage[index]), float(cosine))
        for index, text, cosine in zip(nearest, texts, similarity, strict=True)
    ]
    penalty = [
        _RANK_PENALTY * candidates[index][0] + _TABLE_PENALTY * (prose and is_table(text))
        for index, text in zip(nearest, texts, strict=True)
    ]
    return max(zip(quotes, penalty, strict=True), key=lambda pair: pair[0].worth - pair[1])[0]


def reported_event(passages: Sequence[Passage]) -> str | None:
    """The event of a current report: the first sentences under its first Item, except lists of exhibits (Form 8-K,
    General Instruction B)."""
    for passage in passages:
        for match in _EVENT_ITEM.finditer(passage.text):
            body = [s for s in stretches(passage.text[match.end() :]) if _is_sentence(s)]
            if body and not match.group(1).startswith("9"):
                return " ".join(body[0].split())
    return None


def quoted_number(question: str, quote: Quote) -> QuotedNumber | None:
    """The only number in the quotation that can be the answer; None if several can or the question asks for none."""
    if not _ASKS_NUMBER.search(question) or _ASKS_WORDS.search(question):
        return None
    asked = {re.sub(r"\D", "", token) for token in re.findall(r"[\d,]+", question)}
    marked: dict[QuotedNumber, None] = {}
    plain: dict[QuotedNumber, None] = {}
    for match in _NUMBER.finditer(closest_sentence(question, quote.text)):
        digits = match.group("digits").replace(",", "")
        value = float(digits) * SCALES.get((match.group("scale") or "").lower(), 1)
        unit = "percent" if match.group("percent") else "USD" if match.group("currency") else "count"
        if unit != "count" or match.group("scale"):
            marked.setdefault(QuotedNumber(value, unit))
        elif not (digits in asked or re.fullmatch(r"(?:19|20)\d\d", digits) or _is_date(match)):
            plain.setdefault(QuotedNumber(value, unit))
    candidates = marked or plain
    return next(iter(candidates)) if len(candidates) == 1 else None


def closest_sentence(question: str, text: str) -> str:
    """The sentence with a number that shares the most words with the question."""
    wanted = [word for word in _words(question) if word not in STOP_WORDS]
    parts = re.split(r"(?<=[.;])\s+(?=[A-Z“])|(?<=\d)\s+(?=(?:As of|On|In)\s)", text)
    sentences = [part for part in parts if re.search(r"\d", part)]
    return max(sentences, key=lambda s: matched_share(wanted, s), default=text)


def matched_share(words: Sequence[str], text: str) -> float:
    """The share of ``words`` that are in ``text``, compared by stems; 1 if there are no words."""
    wanted = {stem(word) for word in words}
    return len(wanted & {stem(word) for word in _words(text)}) / len(wanted) if wanted else 1.0


def stretches(text: str) -> list[str]:
    """Sentences, and pairs of neighbors, none longer than a short paragraph."""
    sentences = [s.strip() for s in _SENTENCE_END.split(text) if s and s.strip()]
    pairs = [f"{a} {b}" for a, b in itertools.pairwise(sentences)]
    sentences = [s for s in sentences if "/s/" not in s]
    pairs = [pair for pair in pairs if "/s/" not in pair]
    return [s[:_MAX_CHARACTERS] for s in sentences if len(s) >= 20] + [p for p in pairs if len(p) <= _MAX_CHARACTERS]


def _is_sentence(text: str) -> bool:
    """Whether the last line of ``text`` has words and ends as sentences do."""
    return text.endswith((".", ";")) and _LETTERS.search(text, text.rfind("\n") + 1) is not None


def is_table(text: str) -> bool:
    """Whether much of the text is figures."""
    return " | " in text or sum(c.isdigit() for c in text) > 0.12 * len(text)


def _words(text: str) -> list[str]:
    return [re.sub(r"['’]s?$", "", word) for word in _WORD.findall(text.lower())]


def _is_date(match: re.Match[str]) -> bool:
    """Whether the number is a day of a month, or counts a note, item, page, section or exhibit."""
    digits = match.start("digits")
    return _BEFORE_DATE.search(match.string[max(0, digits - 13) : digits].lower()) is not None
