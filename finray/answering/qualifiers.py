"""What the words of a question add to a line item or exclude from it, and which cells contradict that.

Gross and net, before and after tax, a part and the whole, level and change, what is reported and what is assumed: each
is a line of ``qualifiers.toml`` with sides that exclude each other. A row, its headings and its column print a side as
the question asks for one. A cell of another side is of another thing, so it is excluded: a lower score would let it win
wherever nothing better is printed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, Final, Literal

from finray.core.data_files import shipped_data
from finray.core.filing import LineItem
from finray.core.query import Query
from finray.question.measures.phrase import without_context

Sides = tuple[frozenset[str], ...]
"""The sides that a text has words of, for each line in order; empty for a text without qualifiers."""
NONE: Final[Sides] = ()
_OPTIONS: Final = frozenset({"unasked", "must", "caption", "together", "beside", "open", "named"})
_NEITHER: Final = "neither"
"""A side whose words are of no side."""
_NO_SIDE: Final[frozenset[str]] = frozenset()
_SENTENCE = re.compile(r"(?<=[.;])\s+(?=[A-Z])")
"""A caption is the text above a table; its last sentence tells of the table."""
_Place = Literal["asked", "printed"]


@dataclass(frozen=True, slots=True)
class _Line:
    """``patterns`` of the sides in order, for questions and for tables; the rest is explained in the data file."""

    name: str
    patterns: Mapping[_Place, tuple[tuple[str, re.Pattern[str]], ...]]
    unasked: frozenset[str]
    must: frozenset[str]
    caption: bool
    together: bool
    beside: bool
    left_open: re.Pattern[str] | None
    named: re.Pattern[str] | None

    def sides(self, text: str, place: _Place) -> frozenset[str]:
        """The sides that ``text`` has words of."""
        if self.named is not None:
            return frozenset(match[1] for match in self.named.finditer(text))
        if place == "asked" and self.left_open is not None and self.left_open.search(text):
            return frozenset(side for side, _ in self.patterns[place]) - self.must
        found = set()
        for side, pattern in self.patterns[place]:
            rest = pattern.sub(" ; ", text)
            if rest != text:
                found.add(side)
                text = rest
        return frozenset(found - {_NEITHER})

    @property
    def stands_alone(self) -> bool:
        """Whether the line has only sides that nobody means without asking for them."""
        return bool(self.unasked) and {side for side, _ in self.patterns["printed"]} - {_NEITHER} == self.unasked

    def excludes(
        self,
        asked: frozenset[str],
        column: frozenset[str],
        row: frozenset[str],
        heading: frozenset[str],
        caption: frozenset[str],
    ) -> bool:
        """Whether a cell with these sides around it is of another one than ``asked``."""
        if asked & self.must:
            return not asked & (column | row | heading | caption)
        said = column | row if self.together else column or row
        if not said and not self.beside:
            said = heading
        if not said and self.caption:
            said = caption
        return bool(said) and (not said & asked if asked else said <= self.unasked)


def asked_sides(text: str) -> Sides:
    """The qualifiers that ``text``, a question or the part of it that names a figure, asks for."""
    return _sides(text, "asked")


def sides_of(query: Query, words: str = "", *, alone: bool = True) -> Sides:
    """The qualifiers that ``query`` asks for of the figure that it calls ``words``. Those elsewhere in the question are
    the figure's, too, if it asks for that one ``alone``."""
    return asked_sides(f"{words} {without_context(query.text, query.names) if alone else ''}")


def contradicts(asked: Sides, item: LineItem) -> bool:
    """Whether ``item`` is of another side of a line than is ``asked``."""
    return contradicted_line(asked, item) != ""


def contradicts_text(asked: Sides, text: str) -> bool:
    """Whether a sentence tells of another side of a line than is ``asked``, and not of that."""
    said = _sides(text, "printed")
    return any(
        other and (not own & other if own else line.stands_alone)
        for line, own, other in zip(_lines(), asked or [_NO_SIDE] * len(said), said, strict=False)
        if not line.beside  # words of change are in most sentences, and those of a part describe what was bought
    )


def contradicted_line(asked: Sides, item: LineItem) -> str:
    """The name of the line that ``item`` contradicts, for people; "" if there is none."""
    return _contradicted(asked, item.label, item.section, item.column_label, item.caption)


@lru_cache(maxsize=65_536)  # a filing has some thousand rows, and a question is compared with each of them
def _contradicted(asked: Sides, label: str, section: str | None, column: str | None, caption: str | None) -> str:
    around = [_sides(text or "", "printed") for text in (column, label, section, _SENTENCE.split(caption or "")[-1])]
    if not asked and not any(around):
        return ""
    for number, line in enumerate(_lines()):
        own = asked[number] if asked else _NO_SIDE
        if line.excludes(own, *(sides[number] if sides else _NO_SIDE for sides in around)):
            return line.name
    return ""


_READ = 2_000
"""Characters of a question, a label or a caption that are read."""


@lru_cache(maxsize=65_536)
def _sides(text: str, place: _Place) -> Sides:
    plain = " ".join(text.lower().replace("–", "-").replace("—", "-").replace("‑", "-").split())[:_READ]
    sides = tuple(line.sides(plain, place) for line in _lines()) if plain else ()
    return sides if any(sides) else NONE


@cache
def _lines() -> tuple[_Line, ...]:
    data: Mapping[str, Mapping[str, Any]] = shipped_data("finray.answering", "qualifiers.toml")
    return tuple(_line(name, entry) for name, entry in data.items())


def _line(name: str, entry: Mapping[str, Any]) -> _Line:
    sides = {side: words for side, words in entry.items() if side not in _OPTIONS}
    places: tuple[_Place, _Place] = ("asked", "printed")
    return _Line(
        name,
        {place: tuple((side, _pattern(words, place)) for side, words in sides.items()) for place in places},
        frozenset(entry.get("unasked", ())),
        frozenset(entry.get("must", ())),
        entry.get("caption", False),
        entry.get("together", False),
        entry.get("beside", False),
        _pattern(entry["open"], "asked") if "open" in entry else None,
        re.compile(entry["named"]) if "named" in entry else None,
    )


def _pattern(words: Sequence[str] | Mapping[str, Sequence[str]], place: _Place) -> re.Pattern[str]:
    expressions = words[place] if isinstance(words, Mapping) else words
    joined = "|".join(expressions)
    return re.compile(rf"(?<![a-z])(?:{joined})(?![a-z])")
