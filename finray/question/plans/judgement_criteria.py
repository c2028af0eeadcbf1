"""The subjects of judgements with their criteria, and the words that ask for them (judgements.toml)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, cast

from finray.core.data_files import shipped_data
from finray.core.plan import Formula, Unit
from finray.core.records import from_object
from finray.question.measures.formulas import formula_of

NOTHING: Final = re.compile(r"(?!)")
"""Never matches."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """A ratio that a judgement rests on, or that is only shown, without ``yes`` and ``no``.

    From ``yes`` on it speaks for a yes, below ``no`` for a no. ``lower``: less of it is better. ``optional``: shown
    only if the question names it, or if its topic compares.
    """

    formula: Formula
    yes: float | None = None
    no: float | None = None
    says: str = ""
    lower: bool = False
    optional: bool = False

    def vote(self, value: float) -> int:
        """1 for yes, -1 for no, 0 between the two or without them."""
        if self.yes is None or self.no is None:
            return 0
        return 1 if value >= self.yes else -1 if value < self.no else 0


@dataclass(frozen=True, slots=True)
class Topic:
    """A subject of judgements; ``yes``, ``no`` and ``mixed`` are names of the findings."""

    name: str
    ratios: tuple[Ratio, ...]
    yes: str
    no: str
    mixed: str
    subjects: re.Pattern[str]
    inverted: re.Pattern[str]
    asks: tuple[str, ...] = ()
    negative: bool = False
    compares: bool = False


@dataclass(frozen=True, slots=True)
class Without:
    """A line item that the statements of some companies lack, and the rows that show that they do."""

    item: str
    present: tuple[str, ...]
    also: tuple[str, ...]
    because: str
    marks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Concentration:
    """How to find and judge what a report says about the largest customers; ``threshold`` in percent of revenue."""

    customers: re.Pattern[str]
    search: str
    threshold: float
    yes: str
    no: str


@dataclass(frozen=True, slots=True)
class Criteria:
    """The content of judgements.toml. Patterns are for text that is :func:`spaced`."""

    topics: tuple[Topic, ...]
    claims: Mapping[str, re.Pattern[str]]
    trend: re.Pattern[str]
    narrow: re.Pattern[str]
    doubt: re.Pattern[str]
    verdict: re.Pattern[str]
    opens: frozenset[str]
    explained: re.Pattern[str]
    lower: frozenset[str]
    other: tuple[str, ...]
    cover: re.Pattern[str]
    uses: Mapping[str, str]
    sources: tuple[str, ...]
    cover_names: tuple[tuple[re.Pattern[str], str], ...]
    withouts: tuple[Without, ...]
    concentration: Concentration
    depends: re.Pattern[str]


@cache
def criteria() -> Criteria:
    """The criteria that come with finray."""
    data = shipped_data("finray.question.plans", "judgements.toml")
    concentration = data["concentration"]
    listed = [*data["claims"].values(), data["trend"]["words"], data["cover"]["words"], data["verdict"]["benign"]]
    names = ((spaced(words), key) for key, lines in data["cover"]["names"].items() for words in lines)
    return Criteria(
        topics=tuple(_topic(name, entry) for name, entry in data["topics"].items()),
        claims={name: _words(words.split()) for name, words in data["claims"].items()},
        trend=_words(data["trend"]["words"].split()),
        narrow=_words(data["narrow"]["words"].split()),
        doubt=_words(data["doubt"]["words"].split()),
        verdict=_words(data["verdict"]["words"].split()),
        opens=frozenset(data["verdict"]["opens"].split()),
        explained=_words(" ".join(listed).split()),
        lower=frozenset(data["better"]["lower"].split()),
        other=tuple(data["other"]["asks"]),
        cover=_words(data["cover"]["words"].split()),
        uses=data["cover"]["uses"],
        sources=tuple(data["cover"]["sources"]),
        cover_names=tuple((_words([words]), key) for words, key in sorted(names, key=lambda pair: -len(pair[0]))),
        withouts=tuple(from_object(Without, entry) for entry in data["without"]),
        concentration=Concentration(
            _words(concentration["customers"].split()),
            concentration["search"],
            concentration["threshold"],
            concentration["yes"],
            concentration["no"],
        ),
        depends=_words(concentration["depends"].split()),
    )


def _topic(name: str, entry: Mapping[str, Any]) -> Topic:
    return Topic(
        name,
        tuple(map(_ratio, entry["ratios"])),
        entry["yes"],
        entry["no"],
        entry["mixed"],
        _words(entry["subjects"]),
        _words(entry["inverted"]) if "inverted" in entry else NOTHING,
        tuple(entry["asks"]),
        entry.get("negative", False),
        entry.get("compares", False),
    )


def _ratio(entry: Mapping[str, Any]) -> Ratio:
    if "metric" in entry:
        formula = formula_of(entry["metric"])
    else:
        formula = Formula(entry["formula"], (entry["name"],), entry["formula"], cast(Unit, entry["unit"]))
    lower = entry.get("better") == "lower"
    yes, no = entry.get("yes_from"), entry.get("no_below")
    return Ratio(formula, yes, no, entry.get("says", ""), lower, entry.get("optional", False))


def _words(words: Sequence[str]) -> re.Pattern[str]:
    """A pattern of any of ``words``, for text that is :func:`spaced`; "*" stands for the rest of a word."""
    each = (re.escape(spaced(word)).replace(r"\ ", r"\s").replace(r"\*", r"\w*") for word in words)
    return re.compile(rf"\b(?:{'|'.join(sorted(each, key=len, reverse=True))})(?!\w)")


def spaced(text: str) -> str:
    """``text`` in lower case with hyphens as spaces."""
    return " ".join(re.sub(r"[-–—]", " ", text.lower()).split())
