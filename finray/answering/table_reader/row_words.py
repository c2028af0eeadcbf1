"""Ranks all rows of the retrieved pages by how well they agree with the question, by words and meaning: a linear score,
fitted by ``finray train row-words``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final

import numpy as np

from finray.answering.cells.cell_features import FEATURES as CELL_FEATURES
from finray.answering.choice_model import read_linear
from finray.answering.table_reader.amounts import quantity_words
from finray.answering.table_reader.series import Series
from finray.core.arrays import Floats
from finray.core.data_files import shipped
from finray.core.query import Query
from finray.models.static_encoder import shipped_static_encoder
from finray.question.measures.phrase import without_context

_OF_WORDS: Final = (
    "row", "column", "section", "caption", "heading", "cover", "best_row", "best_cover", "surplus", "surplus_column",
    "surplus_section", "part", "fit", "best_fit", "figures", "other_figures", "total", "statement", "named_statement",
    "first_page", "page", "other_filing",
)  # fmt: skip
_OF_PERIODS: Final = ("end", "undated", "year", "months", "balance", "percent", "plain")
_OF_MEANING: Final[Mapping[str, str]] = {
    "meaning": "cosine of the row with the question's quantities, by the static encoder",
    "best_meaning": "the same, below that of the best row",
    "meaning_around": "cosine of the row, its heads and title with the question",
}
FEATURES: Final[Mapping[str, str]] = {
    **{name: CELL_FEATURES[name] for name in (*_OF_WORDS, *_OF_PERIODS)},
    **_OF_MEANING,
}
"""Features of cells: those of words, which all cells of a row share, and the largest of those of periods; then those of
the row's meaning."""
_WORDS: Final = [list(CELL_FEATURES).index(name) for name in _OF_WORDS]
_PERIODS: Final = [list(CELL_FEATURES).index(name) for name in _OF_PERIODS]


def row_features(of_cells: Floats, rows: Sequence[Sequence[int]], meaning: Floats) -> Floats:
    """float64 [rows, len(FEATURES)]. ``rows`` has the numbers of each row's cells, ``of_cells`` is float64 [cells,
    features of a cell], ``meaning`` comes from :func:`meanings`."""
    if not rows:
        return np.zeros((0, len(FEATURES)))
    every = np.asarray([cell for cells in rows for cell in cells])
    starts = np.cumsum([0, *map(len, rows[:-1])])
    words = of_cells[every[starts]][:, _WORDS]
    periods = np.maximum.reduceat(of_cells[every][:, _PERIODS], starts, axis=0)
    return np.concatenate([words, periods, meaning], axis=1)


def meanings(query: Query, rows: Sequence[Series]) -> Floats:
    """float64 [rows, len(_OF_MEANING)]: rows without a word of the question may still mean what it asks for, such as
    "repayments of borrowings" for "debt paid back"."""
    if not rows:
        return np.zeros((0, len(_OF_MEANING)))
    question = without_context(query.text, query.names)
    named = quantity_words(query) or question
    texts = [_label(row) for row in rows] + [row.text for row in rows]
    vectors = shipped_static_encoder().encode_passages([named, question, *texts]).astype(np.float64)
    own, around = np.split(vectors[2:], 2)
    label = own @ vectors[0]
    return np.stack([label, label - label.max(), around @ vectors[1]], axis=1)


def _label(row: Series) -> str:
    item = row.first.item
    return " ".join(filter(None, (item.label, item.section, item.column_label)))


@cache
def shipped_row_words() -> Floats:
    """The weights that come with finray, float64 [len(FEATURES)]. Raises ModelUnavailableError if their file is of
    another version."""
    return read_linear(shipped("finray.answering.table_reader", "row_words.json"), "row_words.json", "rows", FEATURES)
