"""The subjects of judgements with their criteria, and the words that ask for them (judgements.toml)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, cast

from finray.core.data_files import shipped_data
from finray.core.plan import Formula, Unit
from finray.question.measures.named import formula_of

NOTHING: Final = re.compile(r"(?!)")
"""Matches nothing."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """``yes`` and ``no`` are the least value of a yes and the bound below which it is a no; without them the ratio is
    only shown. ``lower``: less of it is better. ``optional``: shown if the question names it, or others compare with
    it."""

    formula: Formula
    yes: float | None = None
    no: float | None = None
    says: str = ""
    lower: bool = False
    optional: bool = False

    def vote(self, value: float) -> int:
        """1 for yes, -1 for no, 0 between or without a criterion."""
        if self.yes is None or self.no is None:
            return 0
        return 1 if value >= self.yes else -1 if value < self.no else 0


@dataclass(frozen=True, slots=True)
class Topic:
    """A subject of judgements; ``yes``, ``no`` and ``mixed`` are what the findings are called."""

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
    """A line item that some companies' statements lack, and the rows that show it."""

    item: str
    present: tuple[str, ...]
    also: tuple[str, ...]
    marks: tuple[str, ...]
    because: str


@dataclass(frozen=True, slots=True)
class Concentration:
    """How to find and judge what a report says about its largest customers; ``threshold`` in percent of revenue."""

    customers: re.Pattern[str]
    search: str
    threshold: float
    yes: str
    no: str


@dataclass(frozen=True, slots=True)
class Criteria:
    """What judgements.toml says: patterns find words in text with hyphens as spaces."""

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
        withouts=tuple(
            Without(
                entry["item"],
                tuple(entry["present"]),
                tuple(entry["also"]),
                tuple(entry.get("marks", ())),
                entry["because"],
            )
            for entry in data["without"]
        ),
        concentration=Concentration(
            _words(data["concentration"]["customers"].split()),
            data["concentration"]["search"],
            data["concentration"]["threshold"],
            data["concentration"]["yes"],
            data["concentration"]["no"],
        ),
        depends=_words(data["concentration"]["depends"].split()),
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
    """Any of ``words``, in text with hyphens as spaces."""
    each = (re.escape(spaced(word)).replace(r"\ ", r"\s").replace(r"\*", r"\w*") for word in words)
    return re.compile(rf"\b(?:{'|'.join(sorted(each, key=len, reverse=True))})(?!\w)")


def spaced(text: str) -> str:
    """``text`` in lower case with hyphens as spaces."""
    return " ".join(re.sub(r"[-–—]", " ", text.lower()).split())
