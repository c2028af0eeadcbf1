"""Features of a ranking that a question may ask for, for a fitted model: its block's and its own."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from finray.answering.cells.cell_features import FEATURES as CELL_FEATURES
from finray.answering.cells.page_cells import PageCell, measure_of
from finray.answering.rankings.asked import AskedRanking
from finray.answering.rankings.block_features import BLOCK_FEATURES, CellFeatures, cells_in
from finray.answering.rankings.ranked import Ranking
from finray.answering.table_reader.columns import NAMED, Columns
from finray.core.arrays import Floats, log_softmax
from finray.models.row_reader import RowScores

_OF_SLOTS: Final = ("cover", "column", "surplus_column", "part", "end", "months")
"""Features of cells that differ between the slots of a block."""
FEATURES: Final[Mapping[str, str]] = {
    **{f"block_{name}": f"of the block: {meaning}" for name, meaning in BLOCK_FEATURES.items()},
    "measured": "log probability that figures, their changes, or their changes in percent are ranked",
    "direction": "log probability of the lowest or the highest one",
    "direction_of_losses": "the same, if all figures are negative",
    "direction_of_changes": "the same, for changes",
    "lowest_loss": "the lowest of figures that are all negative",
    "highest_loss": "the highest of them",
    "lowest_change": "the lowest of changes",
    "lowest_of_both": "the lowest of figures of both signs",
    "printed_change": "figures that are changes in percent, as the probability that such are ranked",
    "listed": "log odds that the block's rows are ranked, by the row model",
    "best_listed": "the same, below that of the best block",
    "first": "log probability that they are the operand, by the row model",
    "operand": "log odds that they are an operand at all, by the row model",
    "period": "fit of the figures' period",
    "base_period": "fit of the earlier period of a change",
    "unnamed": "periods that the question names and the ranking does not use",
    "latest": "the latest slot of the block",
    "before": "the earlier period of a change is the one just before",
    "rest": "the winner is what is left: other, corporate, unallocated",
    "whole": "the winner is as large as all others together, or larger",
    "negative": "share of negative figures",
    "only": "no other member has the winner's sign",
    "full": "share of the block's members that are ranked",
    **{f"slot_{name}": f"{name}, the mean of the slot's cells" for name in _OF_SLOTS},
    **{f"other_slots_{name}": "the same, above that of the block's other slots" for name in _OF_SLOTS},
}
_SLOT_COLUMNS: Final = [list(CELL_FEATURES).index(name) for name in _OF_SLOTS]
_REST = re.compile(
    r"\b(?:others?|corporate|unallocated|eliminations?|rest|adjustments?|remaining|reclass\w{0,12})\b", re.I
)
_CHANGE = re.compile(r"\b(?:change|growth|increase|decrease|variance)\b|%", re.I)


class Describer:
    """Describes the rankings of one question's blocks. ``of_blocks`` is float64 [blocks, len(BLOCK_FEATURES)], ``read``
    are the row model's scores of the blocks; ``cells`` and ``columns`` are of their cells."""

    def __init__(
        self, asked: AskedRanking, of_blocks: Floats, read: RowScores, cells: CellFeatures, columns: Columns
    ) -> None:
        self._asked, self._of_blocks, self._read = asked, of_blocks, read
        self._cells, self._columns = cells, columns
        self._first = log_softmax(read.first)

    def described(self, ranking: Ranking, number: int) -> list[float]:
        """The FEATURES of a ``ranking`` of block ``number``."""
        block, asked, read = ranking.block, self._asked, self._read
        members = [block.members[member] for member in ranking.at]
        cells = [member.cells[ranking.slot] for member in members]
        bases = [member.cells[ranking.base] for member in members] if ranking.base is not None else []
        order = ranking.order
        best, rest = ranking.figures[order[0]], [ranking.figures[place] for place in order[1:]]
        printed = ranking.measured == "value" and all(map(_is_printed_change, cells))
        fits, base_fits, unnamed = self._periods(cells, bases)
        direction = asked.lowest if ranking.lowest else asked.highest
        losses = all(figure <= 0 for figure in ranking.figures)
        gains = all(figure >= 0 for figure in ranking.figures)
        changes = ranking.measured != "value"
        row = {
            "measured": asked.measured[ranking.measured],
            "direction": direction,
            "direction_of_losses": direction if losses else 0.0,
            "direction_of_changes": direction if changes else 0.0,
            "lowest_loss": losses and ranking.lowest,
            "highest_loss": losses and not ranking.lowest,
            "lowest_change": changes and ranking.lowest,
            "lowest_of_both": not losses and not gains and ranking.lowest,
            "printed_change": math.exp(asked.measured["growth"]) if printed else 0.0,
            "listed": read.listed[number],
            "best_listed": read.listed[number] - read.listed.max(),
            "first": self._first[number],
            "operand": read.operand[number],
            "period": fits,
            "base_period": base_fits,
            "unnamed": unnamed,
            "latest": self._is_latest(ranking),
            "before": self._is_from_previous(ranking),
            "rest": _REST.search(block.members[ranking.winner].name) is not None,
            "whole": abs(best) >= 0.999 * abs(sum(rest)) and len(rest) > 1,
            "negative": sum(figure < 0 for figure in ranking.figures) / len(members),
            "only": all((figure < 0) != (best < 0) for figure in rest),
            "full": len(members) / len(block.members),
        }
        own, above = self._slots(ranking)
        return [*self._of_blocks[number], *(float(row[name]) for name in row), *own, *above]

    def _periods(self, own: Sequence[PageCell], earlier: Sequence[PageCell]) -> tuple[float, float, int]:
        """Fit of the later and of the earlier period, and how many named periods no cell is of."""
        fits, before = self._columns.fits, self._columns.before
        at = [self._cells.at[id(cell)] for cell in own]
        used = (fits[at] >= NAMED).any(axis=0)
        fit, base_fit = float(fits[at].max(axis=1).mean()), 0.0
        if earlier:
            at = [self._cells.at[id(cell)] for cell in earlier]
            used |= (fits[at] >= NAMED).any(axis=0)
            base_fit = max(float(fits[at].max(axis=1).mean()), float(before[at].max(axis=1).mean()))
        return fit, base_fit, max(self._columns.named - int(used.sum()), 0)

    def _is_latest(self, ranking: Ranking) -> bool:
        ends = [slot.end for slot in ranking.block.slots if slot.end is not None]
        return ranking.slot.end is None or ranking.slot.end == max(ends)

    def _is_from_previous(self, ranking: Ranking) -> bool:
        """Whether the block has no period between those of the change."""
        base, slot = ranking.base, ranking.slot
        if base is None or base.end is None or slot.end is None:
            return False
        return not any(
            each.part == slot.part and each.end is not None and base.end < each.end < slot.end
            for each in ranking.block.slots
        )

    def _slots(self, ranking: Ranking) -> tuple[Floats, Floats]:
        """The slot's features among its block's slots, and by how much they exceed the largest of the others."""
        block = ranking.block
        means = {slot: self._cells.mean(cells_in(block, slot), _SLOT_COLUMNS) for slot in block.slots}
        own = means.pop(ranking.slot)
        return own, own - np.max(list(means.values()), axis=0) if means else np.zeros(len(_SLOT_COLUMNS))


def _is_printed_change(cell: PageCell) -> bool:
    return measure_of(cell.item) == "percent" or _CHANGE.search(cell.item.column_label or "") is not None
