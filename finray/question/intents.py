"""What kind of answer a question asks for, as a set of names.

intents.toml holds the words; the table below combines them with how many companies and periods the question names.
Neither depends on order.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

from finray.core.query import Span


@dataclass(frozen=True, slots=True)
class _Words:
    of: str
    pattern: re.Pattern[str]


def intents_of(question: str, text: str, metrics: Sequence[Span], companies: int, periods: int) -> frozenset[str]:
    """The intents of ``question``; ``text`` is what is left of it without instructions, ``metrics`` are spans of
    ``text``, ``companies`` and ``periods`` how many of each it names."""
    texts = {"question": question, "text": text, "rest": masked(text, metrics, "X")}
    said = {name for name, words in _vocabulary().items() if words.pattern.search(texts[words.of])}
    several = companies > 1 or periods > 1
    if several and {"which_one", "compares"} <= said:
        said.add("which")
    elif "explains" in said and companies < 2:
        said.add("words")
    if not said & {"words", "not_an_amount"}:
        said.add("amount")
    if "mean" in said and ("moves" not in said or "mean_move" in said):
        said.add("average")
    if "average" in said or ("summed" in said and "moves" not in said):
        said.add("aggregate")
    if "growth" in said or (periods > 1 and companies < 2 and "difference_anywhere" in said):
        said.add("change")
    return frozenset(said)


_OPERATORS = ("growth", "cagr", "difference", "mean", "summed", "total", "share", "percent", "superlative")


def operator_spans(text: str) -> tuple[tuple[int, int, str], ...]:
    """(start, end, intent) of the words of ``text`` that say what to do with figures."""
    known = _vocabulary()
    return tuple((*m.span(), name) for name in _OPERATORS for m in known[name].pattern.finditer(text))


def superlative(text: str) -> re.Match[str] | None:
    """The first superlative of ``text``."""
    return _vocabulary()["superlative"].pattern.search(text)


def means_least(word: str) -> bool:
    return _vocabulary()["minimum"].pattern.fullmatch(word) is not None


def masked(text: str, spans: Sequence[Span], mask: str) -> str:
    """``text`` with ``mask`` between spaces in place of each of ``spans``."""
    for span in sorted(spans, key=lambda span: span.start, reverse=True):
        text = f"{text[: span.start]} {mask} {text[span.end :]}"
    return text


@cache
def _vocabulary() -> Mapping[str, _Words]:
    text = (resources.files("finray.question") / "intents.toml").read_text(encoding="utf-8")
    return {name: _Words(entry.get("of", "text"), _pattern(entry)) for name, entry in tomllib.loads(text).items()}


def _pattern(entry: Mapping[str, Sequence[str]]) -> re.Pattern[str]:
    words = [rf"\b(?:{'|'.join(entry['any'])})\b"] if "any" in entry else []
    return re.compile("|".join([*words, *entry.get("raw", ())]), re.I)
