"""Replaces other words for a metric in a question by its usual name, unless that may change what is asked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from finray.core.query import AskedUnit, Query
from finray.question.measures.formulas import formula_of, usual_names
from finray.question.measures.measure_tagger import QUOTED, Span, without_links
from finray.question.measures.mentions import mentions
from finray.question.measures.metric_recognizer import MetricRecognizer
from finray.question.measures.named import spells_definition
from finray.question.measures.units import fits

_OF_FIGURES: Final[frozenset[AskedUnit]] = frozenset({"money", "per share", "shares"})
"""Units of the metric itself; a percentage may be its growth."""
_NARROWS: Final = re.compile(r"\s+(?:from|on|in|for|to|by|at|within|before|after|excluding|less)\s+\w")
"""After a name: "interest expense on debt"."""
_NEXT_SENTENCE: Final = re.compile(r"[.?!]\s")
_SURE: Final = 0.9
"""Least probability of a metric that one word of several pieces means: "stock" may be goods or shares."""
_BREAK, _PAUSE = re.compile(r"[.?!:;()]"), re.compile(r"[.?!:;,()]")
"""Punctuation that is never inside a name, and that separates two names."""


@dataclass(frozen=True, slots=True)
class Recognized:
    """A metric that is meant: ``metric`` is a key of ``usual_names``, ``pieces`` are the places of the question's words
    for it, in reading order."""

    metric: str
    pieces: tuple[Span, ...]
    probability: float


def recognized(question: str, quantities: Sequence[Sequence[Span]], recognizer: MetricRecognizer) -> list[Recognized]:
    """The metrics meant by the ``quantities`` of ``question``, each of which is in pieces."""
    return [each for own in quantities for each in _of_quantity(question, own, recognizer)]


def _of_quantity(question: str, quantity: Sequence[Span], recognizer: MetricRecognizer) -> list[Recognized]:
    """The metric that the pieces mean together, else the one that a single piece means: the others name its part."""
    pieces = [bare for each in quantity if (bare := without_links(question, each)) is not None]
    if not pieces or any(_BREAK.search(question, *piece) is not None for piece in pieces):
        return []
    if _PAUSE.search(question, pieces[0][0], pieces[-1][1]) is None:
        meant = recognizer.meant(" ".join(question[start:end] for start, end in pieces))
        if meant is not None:
            return [Recognized(meant.metric, tuple(pieces), meant.probability)]
    apart = [(piece, recognizer.meant(question[slice(*piece)])) for piece in pieces if len(pieces) > 1]
    found = [Recognized(meant.metric, (piece,), meant.probability) for piece, meant in apart if meant is not None]
    sure = [each for each in found if each.probability >= _SURE or " " in question[slice(*each.pieces[0])]]
    return sure if len(found) == 1 else []


def surely_meant(question: str, query: Query, meant: Sequence[Recognized]) -> list[Recognized]:
    """Those of ``meant`` whose usual names may replace the question's words without changing what it asks for.

    ``query`` is the question as the rules read it.
    """
    if "looks_ahead" in query.intents:  # expected figures stand in rows of their own
        return []
    kept = [each for each in meant if not _is_understood(question, query, each)]
    kept = [each for each in kept if not _has_other_meaning(question, query, each, meant)]
    return kept if len({each.metric for each in kept}) == len(kept) else []


def in_usual_words(question: str, meant: Sequence[Recognized]) -> str:
    """``question`` with the usual name of each metric in place of its longest piece, and without its other pieces."""
    places = [(piece, each) for each in meant for piece in each.pieces]
    for (start, end), each in sorted(places, key=lambda place: place[0], reverse=True):
        longest = max(each.pieces, key=lambda piece: piece[1] - piece[0])
        question = question[:start] + (usual_names()[each.metric] if (start, end) == longest else "") + question[end:]
    return " ".join(question.split())


def _is_understood(question: str, query: Query, meant: Recognized) -> bool:
    """Whether the rules explain all words, or the question spells out a quotient or quotes the row."""
    explained = (bool(query.metrics) and not query.unexplained) or spells_definition(query)
    return explained or any(_overlaps(meant, match.span()) for match in QUOTED.finditer(question))


def _has_other_meaning(question: str, query: Query, meant: Recognized, others: Sequence[Recognized]) -> bool:
    """Whether the words for the metric may mean something else.

    They may if they contain a name that the index lacks ("UPS spend on acquisitions"), if other words narrow its name,
    if the question names a metric that is not of ``others``, if they stand in several sentences, if the question asks
    for another unit, or for a change of the metric between periods: "the fall in its balance from 2017 to 2018".
    """
    if any(name in question[start:end] for name in query.unknown_companies for start, end in meant.pieces):
        return True
    for span in mentions(question):
        place = span.start, span.end
        if not any(_overlaps(each, place) for each in others):
            return True
        if span.value == meant.metric and not _overlaps(meant, place):
            return True
        if _overlaps(meant, place) and any(_NARROWS.match(question, span.end, end) for _, end in meant.pieces):
            return True
    if _NEXT_SENTENCE.search(question, meant.pieces[0][0], meant.pieces[-1][1]) is not None:
        return True
    if meant.metric.startswith("change_in_") and len(query.asked) > 1:
        return True
    asked = query.shape.unit
    return asked in _OF_FIGURES and not fits(asked, formula_of(meant.metric).unit)


def _overlaps(meant: Recognized, span: Span) -> bool:
    return any(start < span[1] and span[0] < end for start, end in meant.pieces)
