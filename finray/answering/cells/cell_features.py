"""Features of every cell that may be the figure of a question, most of them shares in [0, 1].

They compare words (of the question with those of row, heads, section, table title and page), periods and units.
``FEATURES`` names the columns.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Self

import numpy as np

from finray.answering.cells.asked_cell import FIGURES, AskedCell, asked_periods, shortened
from finray.answering.cells.cell_words import BARE, Around, Rarity
from finray.answering.cells.filing_cells import FilingCells
from finray.answering.cells.page_cells import PageCell, is_dash, measure_of
from finray.answering.cells.row_match import best_score
from finray.answering.cells.word_shares import COVER, SHARES, WordShares
from finray.core.arrays import Floats
from finray.core.filing import Filing, LineItem, Statement
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
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_YEAR_ROW = re.compile(r"^\W*(?:fiscal (?:year )?)?(?P<year>(?:19|20)\d\d)\W*$", re.I)
_CHANGE = re.compile(r"\b(?:change|variance|increase|decrease|growth)\b|%", re.I)
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
    alike = _Alike.of(cells)
    unprinted = _words(features, asked, query, alike, rarities)
    _figures_and_ends(features, asked, alike)
    _years(features, query, alike)
    _fits(features, asked, cells, filings)
    _periods(features, asked, query, cells, facts)
    _kinds(features, query, cells)
    return CellCandidates(cells, features, unprinted)


@dataclass(frozen=True, slots=True)
class _Alike:
    """Groups of cells with the same words around them, about half as many as cells: the ``first`` cell of each, and the
    group of each cell (``of_cell``)."""

    first: Sequence[PageCell]
    of_cell: Sequence[int]

    @classmethod
    def of(cls, cells: Sequence[PageCell]) -> Self:
        numbers: dict[tuple[Around, frozenset[str]], int] = {}
        first: list[PageCell] = []
        of_cell = []
        for cell in cells:
            number = numbers.setdefault((cell.around, cell.heading), len(first))
            if number == len(first):
                first.append(cell)
            of_cell.append(number)
        return cls(first, of_cell)

    def fill(self, features: Floats, names: Sequence[str], values: Sequence[Sequence[float]] | Floats) -> None:
        """Sets features ``names`` of all cells to the ``values`` [groups, names] of their groups."""
        _fill(features, names, np.asarray(values, dtype=np.float64)[list(self.of_cell)])


def _fill(features: Floats, names: Sequence[str], values: Sequence[Sequence[float]] | Floats) -> None:
    """Sets features ``names`` to ``values`` [cells, names]."""
    features[:, [_COLUMN[name] for name in names]] = values


def _column(features: Floats, name: str) -> Floats:
    column: Floats = features[:, _COLUMN[name]]
    return column


def _words(features: Floats, asked: AskedCell, query: Query, alike: _Alike, rarities: Mapping[str, Rarity]) -> float:
    """Returns the share of the question's words that no cell has."""
    printed: set[str] = set()
    for words in {cell.words for cell in alike.first}:
        printed |= words.label | words.aside | words.section | words.column | words.caption
    first = rarities[alike.first[0].filing.filing_id]
    all_of = math.fsum(map(first.weight, asked.words))
    lacking = math.fsum(first.weight(word) for word in asked.words if word not in printed)
    short = {name: words for name, words in asked.short.items() if name in printed and words & set(asked.words)}
    asked = replace(asked, readings=(*asked.readings, *shortened(asked.readings[:1], short)))
    any_asked = frozenset(asked.words).union(*asked.readings, words_of(" ".join(query.terms)), asked.figures)
    weighed = {filing_id: WordShares(asked, any_asked, printed, rarity) for filing_id, rarity in rarities.items()}
    shares = np.asarray([weighed[cell.filing.filing_id].shares(cell) for cell in alike.first])
    cover = shares[:, : len(COVER)].sum(axis=1)
    row = shares[:, 0]
    best = (cover / (cover.max() or 1.0), row / (row.max() or 1.0))
    names = (*SHARES, "cover", "best_cover", "best_row")
    alike.fill(features, names, np.column_stack([shares, cover, *best]))
    return lacking / all_of if all_of else 1.0


def _figures_and_ends(features: Floats, asked: AskedCell, alike: _Alike) -> None:
    """Figures in the words, rows named only by their table, and rows of the beginning or end of a period."""
    opening = bool(_OPENING & set(asked.words))
    cover = _column(features, "cover")
    covers = dict(zip(alike.of_cell, cover.tolist(), strict=True))
    values = []
    for number, cell in enumerate(alike.first):
        words = cell.words
        near = words.label | words.column
        opens, closes = bool(near & _OPENING), bool(near & _CLOSING)
        values.append(
            (
                len(asked.figures & (near | words.section)) / len(asked.figures) if asked.figures else 0.0,
                bool((near & FIGURES) - asked.figures),
                covers[number] if words.label <= BARE else 0.0,
                opens and not closes and not opening,
                closes and not opening,
            )
        )
    alike.fill(features, ("figures", "other_figures", "bare", "opens", "closes"), values)


def _years(features: Floats, query: Query, alike: _Alike) -> None:
    """Years and changes that rows and columns name."""
    years = {str(period.year) for period in query.asked}
    moves = bool(query.intents & _MOVES)
    values = []
    for cell in alike.first:
        label, column = cell.item.label, cell.item.column_label or ""
        label_year = _YEAR_ROW.match(label) if years else None
        values.append(
            (
                bool(years.intersection(_YEAR.findall(f"{label} {column}"))),
                label_year is not None and label_year["year"] not in years,
                not moves and _CHANGE.search(column) is not None,
            )
        )
    alike.fill(features, ("year", "other_year", "change"), values)


def _fits(features: Floats, asked: AskedCell, cells: Sequence[PageCell], filings: Mapping[str, FilingCells]) -> None:
    matchers = {filing_id: [own.matcher(phrase) for phrase in asked.phrases] for filing_id, own in filings.items()}
    known: dict[tuple[Around, bool], float] = {}
    scores = []
    for cell in cells:
        key = cell.around, cell.item.statement is None
        if key not in known:
            known[key] = best_score(matchers[cell.filing.filing_id], cell.item, cell.around)
        scores.append(known[key])
    best = max(scores)
    _fill(features, ("fit", "best_fit"), [(score, score / best if best else 0.0) for score in scores])


_OF_PERIODS: Final = ("undated", "end", "other_end", "own_end", "balance", "no_balance", "months", "other_months")


def _periods(features: Floats, asked: AskedCell, query: Query, cells: Sequence[PageCell], facts: FilingFacts) -> None:
    filings = {cell.filing.filing_id: cell.filing for cell in cells}
    wanted = {filing_id: asked_periods(query, asked, filing, facts) for filing_id, filing in filings.items()}
    known: dict[tuple[str, dt.date | None, int | None], list[float]] = {}
    rows = []
    for cell in cells:
        item, filing = cell.item, cell.filing
        key = filing.filing_id, item.period_end, item.months
        if key not in known:
            values = _of_period(item, filing, wanted[filing.filing_id], asked, query)
            known[key] = [float(values.get(name, 0.0)) for name in _OF_PERIODS]
        rows.append(known[key])
    _fill(features, _OF_PERIODS, rows)


def _of_period(
    item: LineItem, filing: Filing, wanted: Sequence[tuple[dt.date, int | None]], asked: AskedCell, query: Query
) -> Mapping[str, float]:
    """The features of the period of ``item`` beside those ``wanted`` in its filing."""
    if item.period_end is None:
        return {"undated": True}
    near = [months for end, months in wanted if _is_near(item.period_end, end)]
    is_own = filing.period_end is not None and _is_near(item.period_end, filing.period_end)
    values: dict[str, float] = {
        "end": bool(near),
        "other_end": not near,
        "own_end": bool(near) and is_own and len(query.asked) > 1,
    }
    lengths = near or [months for _, months in wanted]
    if item.months == 0:
        values["balance" if asked.instant or None in lengths else "no_balance"] = 1.0
    elif item.months is not None and lengths:
        values["months" if item.months in lengths else "other_months"] = 1.0
    return values


def _is_near(day: dt.date, end: dt.date) -> bool:
    return abs((day - end).days) <= DATE_TOLERANCE_DAYS


def _kinds(features: Floats, query: Query, cells: Sequence[PageCell]) -> None:
    percent_asked = query.shape.unit in ("percent", "ratio") or bool(query.intents & _PERCENT)
    first = cells[0].filing.filing_id
    known: dict[tuple[str, Statement | None], tuple[float, ...]] = {}
    rows = []
    for cell in cells:
        item = cell.item
        key = item.unit, item.statement
        if key not in known:
            measure = measure_of(item)
            known[key] = (
                measure == "percent" and percent_asked,
                measure == "percent" and not percent_asked,
                measure is None,
                item.statement is not None,
                item.statement is not None and item.statement in query.statements,
            )
        rows.append((*known[key], is_dash(item), cell.rank == 0, 1 / (1 + cell.rank), cell.filing.filing_id != first))
    of_unit = ("percent", "unasked_percent", "plain", "statement", "named_statement")
    _fill(features, (*of_unit, "dash", "first_page", "page", "other_filing"), rows)
