"""The score of a cell for a phrase, and its weights: ``row_match.json``, fitted by ``finray train row-match``.

A reading is the outcome of one comparison: sums of word weights, and counts. Its score is the share of the asked words
that were found, times a factor for each disagreement. The same formula works for one cell and for arrays of cells.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from finray.core.fitted import FittedWeights, shipped_weights

Number = Any
"""A float, or a float64 array of one shape for all fields of a reading."""

PLACES = ("row", "aside", "column", "section", "total_caption", "bare_caption", "caption")
"""Where a word of the phrase may be found. In the row it counts fully."""


class Reading(NamedTuple):
    """``asked`` is the weight of the phrase's words, each of PLACES that of the words found there. ``own`` is the
    weight of the row's words, ``named`` of its XBRL concept's; ``surplus`` and ``surplus_named`` are the parts of these
    that are not asked for. The rest are counts of disagreements; WEIGHTS describes them."""

    asked: Number
    row: Number
    aside: Number
    column: Number
    section: Number
    total_caption: Number
    bare_caption: Number
    caption: Number
    own: Number
    surplus: Number
    named: Number
    surplus_named: Number
    missing: Number
    contradicted: Number
    unasked_near: Number
    unasked_heading: Number
    unasked_heading_lent: Number
    part: Number
    moves: Number
    beside: Number
    beside_lent: Number


class Standing(NamedTuple):
    """Properties of a cell that do not depend on the question: 0 or 1 each."""

    statement: Number
    unsaid_months: Number
    dash: Number
    untagged: Number


WEIGHTS: dict[str, str] = {
    "aside": 'share of a word after "net of" or "excluding" in the row',
    "column": "share of a word over the column",
    "section": "share of a word in the section's heading",
    "total_caption": 'share of a word in the caption, for a row "Total"',
    "bare_caption": 'share of a word in the caption, for a row such as "Balance at end of year"',
    "caption": "share of a word in the caption, for any other row",
    "weak_word": "factor for common words, such as amount",
    "unasked": "loss of a row whose words are all not asked for",
    "unasked_in_concept": "the same for the name of an XBRL concept",
    "worse_reading": "weight of the worse of two readings, by row and by concept",
    "missing": "factor for a qualifier that is nowhere, such as deferred",
    "contradicted": "factor for the opposite qualifier in its place, such as current",
    "unasked_near": "factor for a qualifier in row or column that is not asked for",
    "unasked_heading": "factor for one in the heading",
    "unasked_heading_lent": "factor for one in the heading if words are asked for that the row lacks",
    "part": "factor for a column of a part, such as a segment, that is not asked for",
    "moves": "factor for a concept of changes if no change is asked for",
    "beside": "factor for other words in the section's heading of a note",
    "beside_lent": "factor for them if other words of that heading are asked for",
    "statement": "factor for a cell of a primary statement",
    "unsaid_months": "factor for a table that does not give the length of its period",
    "dash": "factor for a zero",
    "untagged": "factor for an untagged cell of a note in a tagged filing",
    "sure_score": "least score of a sure cell",
    "sure_alone_score": "the same for a cell that fits far better than any other",
}
"""Description of each weight."""
THRESHOLDS = ("sure_score", "sure_alone_score")
"""Weights that a score is compared with."""


@dataclass(frozen=True, slots=True)
class RowWeights:
    """One field for each of WEIGHTS."""

    aside: float
    column: float
    section: float
    total_caption: float
    bare_caption: float
    caption: float
    weak_word: float
    unasked: float
    unasked_in_concept: float
    worse_reading: float
    missing: float
    contradicted: float
    unasked_near: float
    unasked_heading: float
    unasked_heading_lent: float
    part: float
    moves: float
    beside: float
    beside_lent: float
    statement: float
    unsaid_months: float
    dash: float
    untagged: float
    sure_score: float
    sure_alone_score: float


class Fit(NamedTuple):
    """``score`` ranks cells; ``coverage`` is the weighted share of the asked words that are around the cell."""

    score: Number
    coverage: Number


NO_FIT = Fit(0.0, 0.0)
_NOT_ZERO = 1e-9


def place_worth(w: RowWeights) -> dict[str, float]:
    """The factor for a word in each of PLACES."""
    return {place: 1.0 if place == "row" else getattr(w, place) for place in PLACES}


def weigh(r: Reading, w: RowWeights) -> Fit:
    """The fit of a reading. Its score is at most its coverage."""
    found = (
        r.row
        + w.aside * r.aside
        + w.column * r.column
        + w.section * r.section
        + w.total_caption * r.total_caption
        + w.bare_caption * r.bare_caption
        + w.caption * r.caption
    )
    coverage = found / r.asked
    score = (
        coverage
        * (1 - w.unasked * r.surplus / (r.own + _NOT_ZERO))
        * (1 - w.unasked_in_concept * r.surplus_named / (r.named + _NOT_ZERO))
        * w.missing**r.missing
        * w.contradicted**r.contradicted
        * w.unasked_near**r.unasked_near
        * w.unasked_heading**r.unasked_heading
        * w.unasked_heading_lent**r.unasked_heading_lent
        * w.part**r.part
        * w.moves**r.moves
        * w.beside**r.beside
        * w.beside_lent**r.beside_lent
    )
    return Fit(score, coverage)


def combined(plain: Fit, tagged: Fit, w: RowWeights) -> Fit:
    """The fit of a tagged cell from the fits by its words and by its tag."""
    first, second = (plain, tagged) if plain.score >= tagged.score else (tagged, plain)
    return Fit((1 - w.worse_reading) * first.score + w.worse_reading * second.score, first.coverage)


def standing_factor(s: Standing, w: RowWeights) -> Number:
    """The factor of the score for the properties of a cell."""
    return w.statement**s.statement * w.unsaid_months**s.unsaid_months * w.dash**s.dash * w.untagged**s.untagged


def highest_standing(w: RowWeights) -> float:
    """The largest that :func:`standing_factor` can be."""
    return math.prod(max(1.0, factor) for factor in (w.statement, w.unsaid_months, w.dash, w.untagged))


def row_weights(named: Mapping[str, float]) -> RowWeights:
    return RowWeights(**named)


@cache
def fitted_row_weights() -> FittedWeights:
    """The weights that come with finray. Raises ModelUnavailableError if their file does not fit this version."""
    return shipped_weights("finray.answering.cells", "row_match.json", WEIGHTS)


@cache
def shipped_row_weights() -> RowWeights:
    return row_weights(fitted_row_weights().weights)
