"""A question with the usual name of a metric in place of other words for it, unless that may change what is asked."""

from __future__ import annotations

import re
from typing import Final

from finray.core.query import AskedUnit, Query
from finray.question.measures.measure_tagger import QUOTED, Span
from finray.question.measures.mentions import mentions
from finray.question.measures.metric_recognizer import Recognized
from finray.question.measures.named import formula_of, spells_definition
from finray.question.measures.units import fits
from finray.question.measures.usual_names import usual_names

_OF_FIGURES: Final[frozenset[AskedUnit]] = frozenset({"money", "per share", "shares"})
"""Units of the metric itself; a percentage may be its growth."""
_NEXT_SENTENCE: Final = re.compile(r"[.?!]\s")


def in_usual_words(question: str, query: Query, meant: Recognized) -> str:
    """``question`` with the usual name of the metric that is ``meant``; as it is if that may change what it asks for.
    ``query`` is how the rules read it."""
    name = usual_names()[meant.metric]
    if _is_understood(question, query, meant) or _has_other_meaning(question, query, meant):
        return question
    longest = max(meant.pieces, key=lambda piece: piece[1] - piece[0])
    for piece in reversed(meant.pieces):
        start, end = piece
        question = question[:start] + (name if piece == longest else "") + question[end:]
    return " ".join(question.split())


def _is_understood(question: str, query: Query, meant: Recognized) -> bool:
    """Whether the rules explain all words, or a quotient is spelled out, or a row is quoted."""
    explained = (bool(query.metrics) and not query.unexplained) or spells_definition(query)
    return explained or any(_overlaps(meant, match.span()) for match in QUOTED.finditer(question))


def _has_other_meaning(question: str, query: Query, meant: Recognized) -> bool:
    """Whether other words narrow the metric's name, another metric is named besides, its words are of several
    sentences, the unit is another one, or a change in what the metric measures is asked for: "the fall in its balance
    from 2017 to 2018"."""
    named = mentions(question)
    if any(span.value == meant.metric or not _overlaps(meant, (span.start, span.end)) for span in named):
        return True
    if _NEXT_SENTENCE.search(question, meant.pieces[0][0], meant.pieces[-1][1]) is not None:
        return True
    if meant.metric.startswith("change_in_") and len(query.asked) > 1:
        return True
    asked = query.shape.unit
    return asked in _OF_FIGURES and not fits(asked, formula_of(meant.metric).unit)


def _overlaps(meant: Recognized, span: Span) -> bool:
    return any(start < span[1] and span[0] < end for start, end in meant.pieces)
