"""Cuts a sentence into figures, periods and words: "$5 million and $4 million in fiscal 2025 and 2024".

A *piece* is a figure, the name of a period, a word that joins members of a list, or another word. Text in parentheses
is left out, so that a list continues after it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from finray.core.vocabulary import MONTH, MONTHS, NUMBERS, ORDINALS
from finray.filings.prose.figures import ProseFigure, prose_figures

_ASIDE = re.compile(r"\([^()]{0,200}\)")
_TOKEN = re.compile(r"\w+(?:[.'’&/-]\w+)*|[^\w\s]")
_YEAR = re.compile(r"(?:19|20)\d\d")
_DAY = re.compile(r"\d{1,2}(?:st|nd|rd|th)?")
_QUARTER = re.compile(r"q[1-4]", re.I)
_JOINS: Final = frozenset([",", "&", "and", "or", "respectively", "approximately", "about", "nearly", "roughly"])
_LINKS: Final = frozenset(["the", "of", "in", "for", "at", "as", "on", "during", "by", "each", "both", "our", "its"])
"""Words before a period that do not distinguish periods."""
_LENGTHS: Final = frozenset({
    "fiscal", "year", "years", "quarter", "quarters", "month", "months", "week", "weeks", "ended", "ending", "end",
    "period", "periods",
})  # fmt: skip
_PERIOD_WORDS: Final = _LINKS | _LENGTHS | set(MONTHS) | set(ORDINALS) | set(NUMBERS)
_BEFORE_MONTH = re.compile(rf"\b{MONTH}\b.*", re.I)

Kind = Literal["figure", "period", "join", "link", "word"]
_TokenKind = Literal["figure", "year", "part", "join", "word"]


@dataclass(frozen=True, slots=True)
class Piece:
    """``text[start:end]`` of a sentence. ``header`` names a period in full, like the heading of a column: in "December
    31, 2025 and 2024" the second one is "December 31, 2024"."""

    kind: Kind
    start: int
    end: int
    figure: ProseFigure | None = None
    header: str = ""


def pieces_of(text: str) -> list[Piece]:
    """The pieces of a sentence, in reading order."""
    masked = _ASIDE.sub(lambda match: " " * len(match[0]), text)
    figures = {f.start: f for f in prose_figures(text) if not f.spelled and not masked[f.start].isspace()}
    return list(_headed(text, _named(_classified(masked, figures))))


@dataclass(frozen=True, slots=True)
class _Token:
    kind: _TokenKind
    start: int
    end: int
    word: str
    figure: ProseFigure | None = None


def _classified(text: str, figures: dict[int, ProseFigure]) -> Iterator[_Token]:
    """The tokens of ``text``; a "part" is a word of a period's name other than its year."""
    at, before = 0, ""
    for match in _TOKEN.finditer(text):
        start, word = match.start(), match[0].lower()
        if start < at:
            continue
        figure = figures.get(start)
        if figure is not None:
            at, before = figure.end, ""
            yield _Token("figure", start, figure.end, word, figure)
            continue
        is_day = before in MONTHS and _DAY.fullmatch(word) is not None
        kind: _TokenKind
        if _YEAR.fullmatch(word):
            kind = "year"
        elif is_day or word in _PERIOD_WORDS or _QUARTER.fullmatch(word):
            kind = "part"
        else:
            kind = "join" if word in _JOINS else "word"
        yield _Token(kind, start, match.end(), word)
        before = word


def _named(tokens: Iterator[_Token]) -> Iterator[list[_Token]]:
    """``tokens`` in groups: those of a period's name, which ends with its year, together, every other one alone."""
    lead: list[_Token] = []
    for token in tokens:
        dated = bool(lead) and (lead[-1].word in MONTHS or lead[-1].word[0].isdecimal())
        if token.kind == "part" or (token.word == "," and dated):
            lead.append(token)
        elif token.kind == "year":
            yield [*lead, token]
            lead = []
        else:
            yield from ([each] for each in lead)
            lead = []
            yield [token]
    yield from ([each] for each in lead)


def _headed(text: str, groups: Iterator[list[_Token]]) -> Iterator[Piece]:
    """The pieces of ``groups``. A period gets the words that it shares with the one before in their list."""
    shared = ""
    for group in groups:
        first, last = group[0], group[-1]
        if last.kind == "year":
            own = {token.word for token in group[:-1]}
            lead = text[first.start : last.start]
            if shared and not own:
                lead = shared
            elif shared and not own & _LENGTHS and own & MONTHS.keys():
                lead = _BEFORE_MONTH.sub("", shared) + lead
            shared = lead
            yield Piece("period", first.start, last.end, header=f"{lead}{text[last.start : last.end]}")
            continue
        shared = shared if first.kind == "join" else ""
        if first.kind == "part":
            yield Piece("link", first.start, first.end)
        elif first.kind in ("figure", "join", "word"):
            yield Piece(first.kind, first.start, first.end, first.figure)


def runs(pieces: Sequence[Piece], kind: Kind) -> list[list[int]]:
    """Indices of the pieces of ``kind`` in each list: only words that join its members lie between them."""
    found: list[list[int]] = []
    run: list[int] = []
    for at, piece in enumerate(pieces):
        if piece.kind == kind:
            if not run:
                found.append(run)
            run.append(at)
        elif piece.kind != "join":
            run = []
    return found
