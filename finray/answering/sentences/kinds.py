"""What kind of thing a question asks for, which a quotation must hold to be its answer: a person, a count, an amount, a
share, a date or a place.

The fitted choice of sentences weighs cues of these kinds; a sentence that lacks the thing itself is no answer, however
well its words fit. Nor is one that only points elsewhere ("see pages 6 and 7") or introduces a table.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, Final, Literal

from finray.core import vocabulary
from finray.core.data_files import shipped_data
from finray.core.query import Query
from finray.filings.pages.sentences import Sentence
from finray.filings.prose.figures import ProseFigure, prose_figures
from finray.question.companies.company_groups import core_name
from finray.question.synonyms import word_set, words_of

Kind = Literal["person", "count", "share", "amount", "date", "place", ""]
_NEAR: Final = 60
"""Characters between a count and the noun that it counts."""


@dataclass(frozen=True, slots=True)
class AskedKind:
    """``kind`` is "" if any sentence may answer. ``counted`` are the words of what is counted, ``own`` those of the
    company's name."""

    kind: Kind
    counted: frozenset[str] = frozenset()
    own: frozenset[str] = frozenset()
    role: bool = False
    """A person with an office is asked for."""
    pointers: bool = False
    """The question is for a place in the filing."""

    @property
    def of_figure(self) -> bool:
        """Whether a figure is asked for."""
        return self.kind in ("amount", "count", "share")

    def held_by(self, sentence: Sentence) -> bool:
        """Whether ``sentence`` holds the kind of thing that is asked for, and more than a pointer elsewhere."""
        text = sentence.text
        if not self.pointers and is_pointer(text):
            return False
        match self.kind:
            case "person":
                return self._names_person(f"{sentence.heading} ; {text}")
            case "count":
                return self._counts(text) or (
                    _has("held", "denies", text) and not self.counted.isdisjoint(words_of(text))
                )
            case "share":
                kinds = {figure.kind for figure in prose_figures(text)}
                return not introduces(text) and ("percent" in kinds or _has("held", "fraction", text))
            case "amount":
                return not introduces(text) and (bool(prose_figures(text)) or _has("held", "denies", text))
            case "date":
                return _has("held", "date", text)
            case "place":
                return _has("names", "place", text)
            case _:
                return True

    def _names_person(self, text: str) -> bool:
        if _has("names", "person", text):
            return True
        for match in _pattern("names", "name").finditer(text, 0, MAX_CHARACTERS):
            words = {word.lower() for word in re.findall(r"[^\W\d_]+", match.group())}
            if not words & (_words("no_name") | self.own):
                return True
        return not self.role and _has("names", "other_name", text)

    def _counts(self, text: str) -> bool:
        return any(self.is_counted(text, figure) for figure in prose_figures(text))

    def may_be_cell(self, words: frozenset[str]) -> bool:
        """Whether a figure with these ``words`` around it in its table may be what is asked for."""
        return self.kind not in ("person", "place") and (self.kind != "count" or not self.counted.isdisjoint(words))

    def may_be(self, text: str, figure: ProseFigure) -> bool:
        """Whether ``figure`` of ``text`` may be what is asked for."""
        return self.kind not in ("person", "place") and (self.kind != "count" or self.is_counted(text, figure))

    def is_counted(self, text: str, figure: ProseFigure) -> bool:
        """Whether ``figure`` of ``text`` is a number of what is counted."""
        if figure.kind not in ("count", "shares"):
            return False
        after, before = text[figure.end : figure.end + _NEAR], text[max(0, figure.start - _NEAR) : figure.start]
        clause = re.split(r"[;:.]\s", before)[-1].rstrip()
        if not self.counted.isdisjoint(words_of(clause.rpartition(" ")[2])):
            return False  # "iPhone 16" is a name
        ahead = words_of(clause) if _has("held", "equals", clause) else ()
        return not self.counted.isdisjoint((*words_of(after), *ahead))


def asked_kind(query: Query) -> AskedKind:
    """The kind of thing that ``query`` asks for."""
    text = query.text
    own = frozenset(word for name in query.names for word in core_name(name))
    pointers = _has("asked", "pointer", text)
    if "cause" in query.intents:
        return AskedKind("", own=own)
    if _has("asked", "person", text):
        return AskedKind("person", own=own, role=_has("asked", "role", text), pointers=pointers)
    if _has("asked", "share", text):
        return AskedKind("amount" if _has("asked", "beside_share", text) else "share", own=own)
    if (many := _pattern("asked", "count").search(text, 0, MAX_CHARACTERS)) is not None and not _has(
        "asked", "no_count", many[1]
    ):
        counted, employed = word_set(many[1]), word_set(_data()["names"]["employed"])
        return AskedKind("count", counted | employed if counted & employed else counted, own)
    if _has("asked", "date", text):
        return AskedKind("date", own=own)
    if _has("asked", "place", text):
        return AskedKind("place", own=own)
    return AskedKind("amount" if _has("asked", "amount", text) else "", own=own, pointers=pointers)


MAX_CHARACTERS: Final = 2_000
"""The beginning of a sentence or question that is read."""


@lru_cache(maxsize=8192)
def is_pointer(text: str) -> bool:
    """Whether ``text`` only says where something is to be read."""
    return _has("held", "pointer", text) and _has("held", "place_of_filing", text)


@lru_cache(maxsize=8192)
def introduces(text: str) -> bool:
    """Whether ``text`` introduces a table or a list, or tells how figures are made."""
    return _has("held", "introduces", text)


def _has(table: str, key: str, text: str) -> bool:
    return _pattern(table, key).search(text, 0, MAX_CHARACTERS) is not None


@cache
def _pattern(table: str, key: str) -> re.Pattern[str]:
    lead = _data()["asked"]["lead"]
    words = (each.replace("{lead}", lead).replace("{month}", vocabulary.MONTH) for each in _data()[table][key])
    return re.compile("|".join(words), 0 if table == "names" else re.IGNORECASE)


@cache
def _words(key: str) -> frozenset[str]:
    return frozenset(_data()["names"][key].split())


@cache
def _data() -> Any:
    return shipped_data("finray.answering.sentences", "kinds.toml")
