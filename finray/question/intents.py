"""What kind of answer a question asks for, as a set of names.

intents.toml holds the words; the rules below combine them with the number of companies and periods in the question.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from finray.core.data_files import shipped_data
from finray.core.query import Span

_OPERATORS = ("growth", "cagr", "difference", "mean", "summed", "total", "share", "percent", "superlative")


@dataclass(frozen=True, slots=True)
class _Words:
    """``source`` names the text that is searched: "question", "text" or "rest"."""

    source: str
    pattern: re.Pattern[str]


def intents_of(question: str, text: str, metrics: Sequence[Span], companies: int, periods: int) -> frozenset[str]:
    """The intents of ``question``.

    ``text`` is the question without instructions, ``metrics`` are spans of ``text``, and ``companies`` and ``periods``
    are the numbers of those that the question names.
    """
    texts = {"question": question, "text": text, "rest": masked(text, metrics, "X")}
    found = {name for name, words in _vocabulary().items() if words.pattern.search(texts[words.source])}
    several = companies > 1 or periods > 1
    if several and {"which_one", "compares"} <= found:
        found.add("which")
    elif "cause" in found or ("explains" in found and companies < 2):
        found.add("words")
    if not found & {"words", "not_an_amount"}:
        found.add("amount")
    if "mean" in found and ("moves" not in found or "mean_move" in found):
        found.add("average")
    if "average" in found or ("summed" in found and "moves" not in found):
        found.add("aggregate")
    if "growth" in found or (periods > 1 and companies < 2 and "difference_anywhere" in found):
        found.add("change")
    return frozenset(found)


def operator_spans(text: str) -> tuple[tuple[int, int, str], ...]:
    """(start, end, intent) of the words in ``text`` that name an operation on figures."""
    known = _vocabulary()
    return tuple((*match.span(), name) for name in _OPERATORS for match in known[name].pattern.finditer(text))


def names_cause(text: str) -> bool:
    """Whether ``text`` asks for a cause: "why", "what drove that"."""
    return _vocabulary()["cause"].pattern.search(text) is not None


def superlative(text: str) -> re.Match[str] | None:
    """The first superlative of ``text``."""
    return _vocabulary()["superlative"].pattern.search(text)


def means_least(word: str) -> bool:
    """Whether the superlative ``word`` asks for the minimum."""
    return _vocabulary()["minimum"].pattern.fullmatch(word) is not None


def masked(text: str, spans: Sequence[Span], mask: str) -> str:
    """``text`` with each of ``spans`` replaced by ``mask`` between spaces."""
    for span in sorted(spans, key=lambda span: span.start, reverse=True):
        text = f"{text[: span.start]} {mask} {text[span.end :]}"
    return text


@cache
def _vocabulary() -> Mapping[str, _Words]:
    words = shipped_data("finray.question", "intents.toml")
    return {name: _Words(entry.get("of", "text"), _pattern(entry)) for name, entry in words.items()}


def _pattern(entry: Mapping[str, Sequence[str]]) -> re.Pattern[str]:
    words = [rf"\b(?:{'|'.join(entry['any'])})\b"] if "any" in entry else []
    return re.compile("|".join([*words, *entry.get("raw", ())]), re.I)
