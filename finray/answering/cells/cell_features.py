"""Features of every cell that may be the figure of a question, most of them shares in [0, 1].

They compare words (of the question with those of row, heads, section, table title and page), periods and units.
``FEATURES`` names the columns.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Self

import numpy as np

from finray.answering.cells.asked_cell import FIGURES, AskedCell, asked_periods, shortened
from finray.answering.cells.cell_words import BARE, CALENDAR, WHOLE, Rarity
from finray.answering.cells.filing_cells import FilingCells
from finray.answering.cells.page_cells import PageCell, is_dash, measure_of
from finray.answering.cells.row_match import best_score
from finray.core.arrays import Floats
from finray.core.query import Query
from finray.filings.tables.canonical import DATE_TOLERANCE_DAYS
from finray.index.reading.facts import FilingFacts, kept_with
from finray.question.synonyms import words_of

FEATURES: Final[Mapping[str, str]] = {
    "row": "share of the question's words (by rarity) in the row's label",
    "column": "share that only the head of the column adds",
    "section": "share that only the heading over the row adds",
    "caption": "share that only the title of the table adds",
    "heading": "share that only the headings of the page add",
    "cover": "share in row, column, section or title",
    "best_row": "row, scaled by the best row of the question",
    "best_cover": "cover, scaled by the best cell of the question",
    "surplus": "share of the row's words that are not asked for",
    "surplus_column": "share of the column's words that are not asked for",
    "surplus_section": "share of the section's words that are not asked for",
    "part": "the column names a part, and no word of it is asked for",
    "fit": "how well the row matches the phrase of a plan",
    "best_fit": "fit, scaled by the best row of the question",
    "figures": "share of the question's figures, besides dates, in row, column or section",
    "other_figures": "row or column has a figure that the question lacks",
    "bare": "words of the title, for a row that only says balance or total",
    "opens": "row or column is of the beginning, and the question is not",
    "closes": "row or column is of the end",
    "total": "a total, not asked for",
    "end": "the period ends when the question's does",
    "other_end": "the period ends on another day",
    "own_end": "the period is the filing's own, and the question names another too",
    "undated": "the table dates no column",
    "months": "the period is as long as the question's",
    "other_months": "the period has another length",
    "balance": "a balance, for a question about a day",
    "no_balance": "a balance, for a question about a period",
    "year": "row or column names a year of the question",
    "other_year": "the row is labeled by another year",
    "percent": "a percentage, for a question that may ask for one",
    "unasked_percent": "a percentage, for a question that does not ask for one",
    "plain": "a number without a unit",
    "dash": "a dash",
    "statement": "in a primary statement",
    "named_statement": "in a primary statement that the question names or implies",
    "first_page": "on the first page",
    "page": "1 / rank of the page",
    "other_filing": "not of the first page's filing",
    "change": "the column is a change, not asked for",
}
_COLUMN: Final = {name: at for at, name in enumerate(FEATURES)}
_SHARES: Final = (
    "row", "column", "section", "caption", "heading", "surplus", "surplus_column", "surplus_section", "part", "total",
)  # fmt: skip
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_YEAR_ROW = re.compile(r"^\W*(?:fiscal (?:year )?)?(?P<year>(?:19|20)\d\d)\W*$", re.I)
_CHANGE = re.compile(r"\b(?:change|variance|increase|decrease|growth)\b|%", re.I)
_TOTAL = frozenset(words_of("total"))
_PLAIN = WHOLE | CALENDAR
"""Words of columns that do not name a part of the company."""
_OPENING, _CLOSING = frozenset(words_of("beginning opening")), frozenset(words_of("end ending closing"))
_PERCENT = frozenset({"percent", "percent_anywhere", "rate", "share"})
_MOVES = frozenset({"moves", "growth", "change", "difference", "rises", "falls"})


@dataclass(frozen=True, slots=True)
class CellCandidates:
    """``cells`` with their ``features``, float64 [len(cells), len(FEATURES)]. ``unprinted`` is the share of the
    question's words that no cell has."""

    cells: tuple[PageCell, ...]
    features: Floats
    unprinted: float


def described_cells(query: Query, cells: tuple[PageCell, ...], facts: FilingFacts) -> CellCandidates:
    """All of ``cells`` with their features, whatever their units."""
    features = np.zeros((len(cells), len(FEATURES)))
    if not cells:
        return CellCandidates((), features, 1.0)
    asked = AskedCell.of(query)
    items = facts.line_items({cell.filing.filing_id for cell in cells})
    filings = {filing_id: kept_with(own, FilingCells) for filing_id, own in items.items()}
    rarities = {filing_id: own.rarity for filing_id, own in filings.items()}
    unprinted = _words(features, asked, query, cells, rarities)
    _fits(features, asked, cells, filings)
    _periods(features, asked, query, cells, facts)
    _kinds(features, query, cells)
    _figures_and_ends(features, asked, cells)
    return CellCandidates(cells, features, unprinted)


def _fill(features: Floats, name: str, values: Iterable[float]) -> None:
    """Sets feature ``name`` of all cells."""
    features[:, _COLUMN[name]] = list(values)


def _fill_row(row: Floats, values: Mapping[str, float]) -> None:
    """Sets the features in ``values`` of one cell."""
    for name, value in values.items():
        row[_COLUMN[name]] = value


def _words(
    features: Floats, asked: AskedCell, query: Query, cells: Sequence[PageCell], rarities: Mapping[str, Rarity]
) -> float:
    """Returns the share of the question's words that no cell has."""
    printed: set[str] = set()
    for words in {cell.words for cell in cells}:
        printed |= words.label | words.aside | words.section | words.column | words.caption
    first = rarities[cells[0].filing.filing_id]
    all_of = math.fsum(map(first.weight, asked.words))
    lacking = math.fsum(first.weight(word) for word in asked.words if word not in printed)
    short = {name: words for name, words in asked.short.items() if name in printed and words & set(asked.words)}
    asked = replace(asked, readings=(*asked.readings, *shortened(asked.readings[:1], short)))
    any_asked = frozenset(asked.words).union(*asked.readings, words_of(" ".join(query.terms)), asked.figures)
    known: dict[tuple[object, ...], list[float]] = {}
    weighed = {filing_id: _Weighed.of(asked, printed, rarity) for filing_id, rarity in rarities.items()}
    rows = []
    for cell in cells:
        key = (cell.filing.filing_id, cell.words, cell.heading)
        if key not in known:
            known[key] = _shares(weighed[cell.filing.filing_id], any_asked, cell)
        rows.append(known[key])
    for name, values in zip(_SHARES, zip(*rows, strict=True), strict=True):
        _fill(features, name, values)
    cover = features[:, [_COLUMN[name] for name in ("row", "column", "section", "caption")]].sum(axis=1)
    _fill(features, "cover", cover)
    _fill(features, "best_cover", cover / (cover.max() or 1.0))
    row = features[:, _COLUMN["row"]]
    _fill(features, "best_row", row / (row.max() or 1.0))
    return lacking / all_of if all_of else 1.0


@dataclass(frozen=True, slots=True)
class _Weighed:
    """The words of each reading of the question that some cell has, with their total weight by the ``rarity`` of words
    in one filing; ``every`` word of the readings."""

    readings: tuple[tuple[frozenset[str], float], ...]
    every: frozenset[str]
    rarity: Rarity

    @classmethod
    def of(cls, asked: AskedCell, printed: set[str], rarity: Rarity) -> Self:
        wanted = [reading & printed for reading in asked.readings]
        readings = ((reading, math.fsum(map(rarity.weight, reading))) for reading in wanted)
        return cls(tuple(each for each in readings if each[1]), frozenset().union(*wanted), rarity)


def _shares(asked: _Weighed, any_asked: frozenset[str], cell: PageCell) -> list[float]:
    """The features _SHARES of a cell, in that order; those of the question's words by its best reading."""
    words, rarity = cell.words, asked.rarity
    places = (words.label - words.aside, words.column, words.section, words.caption, cell.heading)
    there = [asked.every & place for place in places]
    best, best_sum = [0.0] * len(places), -1.0
    for wanted, total in asked.readings if any(there) else ():
        shares: list[float] = []
        left = wanted
        for place in there:
            found = left & place
            shares.append(math.fsum(map(rarity.weight, found)) / total if found else 0.0)
            left = left - found
        if sum(shares[:4]) > best_sum:
            best, best_sum = shares, sum(shares[:4])
    column = words.column - _PLAIN
    part = bool(column) and not column & any_asked and not words.whole
    return [
        *best,
        _surplus(places[0], any_asked, rarity),
        _surplus(column, any_asked, rarity),
        _surplus(words.section, any_asked, rarity),
        float(part),
        float(bool(words.label & _TOTAL) and not any_asked & _TOTAL),
    ]


def _surplus(words: frozenset[str], asked: frozenset[str], rarity: Rarity) -> float:
    own = rarity.total(words)
    return math.fsum(map(rarity.weight, words - asked)) / own if own else 0.0


def _fits(features: Floats, asked: AskedCell, cells: Sequence[PageCell], filings: Mapping[str, FilingCells]) -> None:
    matchers = {filing_id: [own.matcher(phrase) for phrase in asked.phrases] for filing_id, own in filings.items()}
    known: dict[tuple[object, ...], float] = {}
    scores = []
    for cell in cells:
        key = (*cell.row, cell.item.column_label, cell.item.section, cell.item.concept)
        if key not in known:
            known[key] = best_score(matchers[cell.filing.filing_id], cell.item)
        scores.append(known[key])
    best = max(scores)
    _fill(features, "fit", scores)
    _fill(features, "best_fit", [score / best if best else 0.0 for score in scores])


def _periods(features: Floats, asked: AskedCell, query: Query, cells: Sequence[PageCell], facts: FilingFacts) -> None:
    filings = {cell.filing.filing_id: cell.filing for cell in cells}
    wanted = {filing_id: asked_periods(query, asked, filing, facts) for filing_id, filing in filings.items()}
    years = {str(period.year) for period in query.asked}
    for row, cell in zip(features, cells, strict=True):
        item = cell.item
        named = set(_YEAR.findall(f"{item.label} {item.column_label or ''}"))
        label_year = _YEAR_ROW.match(item.label)
        values: dict[str, float] = {
            "undated": item.period_end is None,
            "year": bool(named & years),
            "other_year": bool(years) and label_year is not None and label_year["year"] not in years,
        }
        if item.period_end is not None:
            ends = wanted[cell.filing.filing_id]
            near = [months for end, months in ends if _is_near(item.period_end, end)]
            own = cell.filing.period_end
            is_own = own is not None and _is_near(item.period_end, own)
            values |= {
                "end": bool(near),
                "other_end": not near,
                "own_end": bool(near) and is_own and len(query.asked) > 1,
            }
            lengths = near or [months for _, months in ends]
            if item.months == 0:
                values["balance" if asked.instant or None in lengths else "no_balance"] = 1.0
            elif item.months is not None and lengths:
                values["months" if item.months in lengths else "other_months"] = 1.0
        _fill_row(row, values)


def _is_near(day: dt.date, end: dt.date) -> bool:
    return abs((day - end).days) <= DATE_TOLERANCE_DAYS


def _kinds(features: Floats, query: Query, cells: Sequence[PageCell]) -> None:
    percent_asked = query.shape.unit in ("percent", "ratio") or bool(query.intents & _PERCENT)
    moves = bool(query.intents & _MOVES)
    first = cells[0].filing.filing_id
    for row, cell in zip(features, cells, strict=True):
        item = cell.item
        measure = measure_of(item)
        values: dict[str, float] = {
            "percent": measure == "percent" and percent_asked,
            "unasked_percent": measure == "percent" and not percent_asked,
            "plain": measure is None,
            "dash": is_dash(item),
            "statement": item.statement is not None,
            "named_statement": item.statement is not None and item.statement in query.statements,
            "first_page": cell.rank == 0,
            "page": 1 / (1 + cell.rank),
            "other_filing": cell.filing.filing_id != first,
            "change": _CHANGE.search(item.column_label or "") is not None and not moves,
        }
        _fill_row(row, values)


def _figures_and_ends(features: Floats, asked: AskedCell, cells: Sequence[PageCell]) -> None:
    """Figures in the words, rows named only by their table, and rows of the beginning or end of a period."""
    opening = bool(_OPENING & set(asked.words))
    for row, cell in zip(features, cells, strict=True):
        words = cell.words
        near = words.label | words.column
        opens, closes = bool(near & _OPENING), bool(near & _CLOSING)
        values: dict[str, float] = {
            "other_figures": bool((near & FIGURES) - asked.figures),
            "opens": opens and not closes and not opening,
            "closes": closes and not opening,
        }
        if asked.figures:
            values["figures"] = len(asked.figures & (near | words.section)) / len(asked.figures)
        if words.label <= BARE:
            values["bare"] = row[_COLUMN["cover"]]
        _fill_row(row, values)
