"""Features by which a few of a page's many blocks are chosen for a question, before the row model reads any."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from finray.answering.cells.cell_features import FEATURES as CELL_FEATURES
from finray.answering.cells.page_cells import PageCell
from finray.answering.rankings.asked import AskedRanking
from finray.answering.rankings.blocks import Block, Slot
from finray.answering.table_reader.amounts import quantity_words
from finray.answering.table_reader.series import described
from finray.core.arrays import Floats
from finray.core.query import Query
from finray.core.vocabulary import NUMBERS
from finray.models.static_encoder import shipped_static_encoder
from finray.question.measures.phrase import without_context
from finray.question.synonyms import words_of

_OF_CELLS: Final = (
    "row", "column", "section", "caption", "heading", "cover", "best_cover", "surplus_column", "surplus_section",
    "part", "year", "other_year", "end", "percent", "unasked_percent", "plain", "statement", "named_statement",
    "first_page", "page", "other_filing", "undated", "months", "other_months",
)  # fmt: skip
_OF_SLOTS: Final = ("cover", "best_cover", "end", "months")
BLOCK_FEATURES: Final[Mapping[str, str]] = {
    "periods": "log probability that periods are ranked, or other things, as the block has",
    "columns": "columns of one row",
    "picked": "rows that the question names",
    "named": "share of the members whose name the question has",
    "nothing_named": "the question names none of them",
    "members": "logarithm of the number of members",
    "count": "as many members as a number in the question",
    "other_count": "the question has numbers below twenty, none of them that of the members",
    "changes": "some figures have one of an earlier period",
    "meaning": "cosine of what the members share with the question's quantities, by the static encoder",
    "best_meaning": "the same, below that of the best block",
    "meaning_around": "cosine of names, heads and title with the question",
    **{name: f"{name}, the mean of the cells, as in cell_features" for name in _OF_CELLS},
    **{f"slot_{name}": f"{name}, the mean of the cells of the slot that has most" for name in _OF_SLOTS},
}
_COLUMNS: Final = [list(CELL_FEATURES).index(name) for name in _OF_CELLS]
_SLOT_COLUMNS: Final = [list(CELL_FEATURES).index(name) for name in _OF_SLOTS]
_COUNT = re.compile(r"\b(?:[2-9]|1\d|" + "|".join(w for w, n in NUMBERS.items() if 2 <= n <= 19) + r")\b", re.I)
_NAMES = 4
"""Members whose names describe a block to the row model."""


@dataclass(frozen=True)
class CellFeatures:
    """``features`` float64 [cells, features of a cell], and the number of each cell by its ``id`` (``at``)."""

    at: Mapping[int, int]
    features: Floats

    def mean(self, cells: Sequence[PageCell], columns: Sequence[int]) -> Floats:
        """The mean of ``columns`` over ``cells``, float64 [columns]."""
        rows = [self.at[id(cell)] for cell in cells]
        mean: Floats = self.features[np.ix_(rows, columns)].mean(axis=0)
        return mean


def cells_in(block: Block, slot: Slot) -> list[PageCell]:
    """The cells of all members in ``slot``."""
    return [member.cells[slot] for member in block.members if slot in member.cells]


def block_features(query: Query, asked: AskedRanking, blocks: Sequence[Block], cells: CellFeatures) -> Floats:
    """float64 [blocks, len(BLOCK_FEATURES)]"""
    if not blocks:
        return np.zeros((0, len(BLOCK_FEATURES)))
    words = frozenset(words_of(query.question))
    counts = {_number(match) for match in _COUNT.findall(query.question)}
    meaning = _meanings(query, blocks)
    rows = []
    for number, block in enumerate(blocks):
        size, named = len(block.members), _named(block, words)
        slots = [cells.mean(cells_in(block, slot), _SLOT_COLUMNS) for slot in block.slots]
        every = [cell for slot in block.slots for cell in cells_in(block, slot)]
        rows.append(
            [
                asked.periods if block.axis == "periods" else asked.things,
                block.axis == "columns",
                block.picked,
                named,
                named == 0,
                math.log(size),
                size in counts,
                bool(counts) and size not in counts,
                len({slot.end for slot in block.slots}) > 1 or len(block.slots) > 1,
                *meaning[number],
                *cells.mean(every, _COLUMNS),
                *np.max(slots, axis=0),
            ]
        )
    return np.asarray(rows, dtype=np.float64)


def described_block(block: Block) -> str:
    """The block as the row model reads it: its members' names in place of a row's label."""
    return " | ".join(filter(None, _texts(block)))


def _texts(block: Block) -> tuple[str, str, str]:
    """The label that the members share; the names of the first; heads, unit and titles."""
    names = "; ".join(member.name for member in block.members[:_NAMES])
    label = block.first.item.label if block.axis != "rows" else ""
    return label, names, described([block.first]).partition(" | ")[2]


def _meanings(query: Query, blocks: Sequence[Block]) -> Floats:
    """``meaning``, ``best_meaning`` and ``meaning_around``, float64 [blocks, 3]."""
    question = without_context(query.text, query.names)
    quantities = quantity_words(query) or question
    texts = [_texts(block) for block in blocks]
    shared = [_shared_words(block, label) for block, (label, _, _) in zip(blocks, texts, strict=True)]
    around = [" ".join(each) for each in texts]
    vectors = shipped_static_encoder().encode_passages([quantities, question, *shared, *around]).astype(np.float64)
    own, whole = np.split(vectors[2:], 2)
    near = own @ vectors[0]
    return np.stack([near, near - near.max(), whole @ vectors[1]], axis=1)


def _shared_words(block: Block, label: str) -> str:
    item = block.first.item
    words = (label, item.section, item.column_label if block.axis == "rows" else "")
    return " ".join(filter(None, words)) or (item.caption or "")


def _named(block: Block, words: frozenset[str]) -> float:
    """Share of the members whose words are all in ``words``, apart from those that all members share."""
    if block.axis == "periods":
        return 0.0
    names = [frozenset(words_of(member.name)) for member in block.members]
    shared = frozenset.intersection(*names)
    return sum(bool(name - shared) and (name - shared) <= words for name in names) / len(names)


def _number(text: str) -> int:
    return int(text) if text.isdigit() else NUMBERS[text.lower()]
