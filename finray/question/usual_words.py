"""A question with the usual names of metrics in place of other words for them, unless that may change what is asked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from finray.core.query import AskedUnit, Query
from finray.question.measures.measure_tagger import QUOTED, Span, without_links
from finray.question.measures.mentions import mentions
from finray.question.measures.metric_recognizer import MetricRecognizer
from finray.question.measures.named import formula_of, spells_definition
from finray.question.measures.units import fits
from finray.question.measures.usual_names import usual_names

_OF_FIGURES: Final[frozenset[AskedUnit]] = frozenset({"money", "per share", "shares"})
"""Units of the metric itself; a percentage may be its growth."""
_NARROWS: Final = re.compile(r"\s+(?:from|on|in|for|to|by|at|within|before|after|excluding|less)\s+\w")
"""After a name: "interest expense on debt"."""
_NEXT_SENTENCE: Final = re.compile(r"[.?!]\s")
_SURE: Final = 0.9
"""Least probability of a metric that one word of several pieces means: "stock" may be goods or shares."""
_BREAK, _PAUSE = re.compile(r"[.?!:;()]"), re.compile(r"[.?!:;,()]")
"""What no name has inside, and what parts two names."""


@dataclass(frozen=True, slots=True)
class Recognized:
    """``metric`` is a key of ``usual_names``, ``pieces`` are where the question's words for it stand, in
    reading order and apart."""

    metric: str
    pieces: tuple[Span, ...]
    probability: float


def recognized(question: str, quantities: Sequence[Sequence[Span]], recognizer: MetricRecognizer) -> list[Recognized]:
    """The metrics that the ``quantities`` of ``question``, each in pieces, mean."""
    return [each for own in quantities for each in _of_quantity(question, own, recognizer)]


def _of_quantity(question: str, quantity: Sequence[Span], recognizer: MetricRecognizer) -> list[Recognized]:
    """The metric that the pieces mean together, else the one that a single piece does: the others name its part."""
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
    """Those of ``meant`` whose usual names may stand in place of the question's words: not if that may change what it
    asks for. ``query`` is how the rules read it."""
    if "looks_ahead" in query.intents:  # what is expected for later stands in rows of its own
        return []
    kept = [each for each in meant if not _is_understood(question, query, each)]
    kept = [each for each in kept if not _has_other_meaning(question, query, each, meant)]
    return kept if len({each.metric for each in kept}) == len(kept) else []


def in_usual_words(question: str, meant: Sequence[Recognized]) -> str:
    """``question`` with the usual names of the metrics that are ``meant``, each in place of its longest piece."""
    places = [(piece, each) for each in meant for piece in each.pieces]
    for (start, end), each in sorted(places, key=lambda place: place[0], reverse=True):
        longest = max(each.pieces, key=lambda piece: piece[1] - piece[0])
        question = question[:start] + (usual_names()[each.metric] if (start, end) == longest else "") + question[end:]
    return " ".join(question.split())


def _is_understood(question: str, query: Query, meant: Recognized) -> bool:
    """Whether the rules explain all words, or a quotient is spelled out, or a row is quoted."""
    explained = (bool(query.metrics) and not query.unexplained) or spells_definition(query)
    return explained or any(_overlaps(meant, match.span()) for match in QUOTED.finditer(question))


def _has_other_meaning(question: str, query: Query, meant: Recognized, others: Sequence[Recognized]) -> bool:
    """Whether other words narrow the metric's name, another metric is named besides that is none of ``others``, its
    words are of several sentences, the unit is another one, or a change in what the metric measures is asked for: "the
    fall in its balance from 2017 to 2018"."""
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
