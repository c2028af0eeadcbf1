"""Features of a ranking that a question may ask for, for a fitted model: those of its block, and its own."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from finray.answering.cells.cell_features import FEATURES as CELL_FEATURES
from finray.answering.cells.page_cells import PageCell, measure_of
from finray.answering.rankings.asked import AskedRanking
from finray.answering.rankings.block_features import BLOCK_FEATURES, CellFeatures, cells_in
from finray.answering.rankings.ranked import Ranking
from finray.answering.table_reader.columns import NAMED, Columns
from finray.core.arrays import Floats

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


@dataclass(frozen=True, slots=True)
class BlockOdds:
    """What the row model says of a block's rows: logits."""

    listed: float
    first: float
    operand: float


class Describer:
    """Describes the rankings of one question's blocks, of which ``of_blocks`` [blocks, len(BLOCK_FEATURES)] and
    ``odds`` are by ``id`` of the block."""

    def __init__(
        self,
        asked: AskedRanking,
        of_blocks: Mapping[int, Floats],
        odds: Mapping[int, BlockOdds],
        cells: CellFeatures,
        columns: Columns,
    ) -> None:
        self._asked, self._of_blocks, self._odds = asked, of_blocks, odds
        self._cells, self._columns = cells, columns
        self._best_listed = max((each.listed for each in odds.values()), default=0.0)

    def described(self, ranking: Ranking) -> list[float]:
        """The FEATURES of ``ranking``."""
        block, asked = ranking.block, self._asked
        odds = self._odds[id(block)]
        members = [block.members[number] for number in ranking.at]
        cells = [member.cells[ranking.slot] for member in members]
        bases = [member.cells[ranking.base] for member in members] if ranking.base is not None else []
        order = ranking.order
        best, rest = ranking.figures[order[0]], [ranking.figures[number] for number in order[1:]]
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
            "listed": odds.listed,
            "best_listed": odds.listed - self._best_listed,
            "first": odds.first,
            "operand": odds.operand,
            "period": fits,
            "base_period": base_fits,
            "unnamed": unnamed,
            "latest": self._is_latest(ranking),
            "before": self._is_next(ranking),
            "rest": _REST.search(block.members[ranking.winner].name) is not None,
            "whole": abs(best) >= 0.999 * abs(sum(rest)) and len(rest) > 1,
            "negative": sum(figure < 0 for figure in ranking.figures) / len(members),
            "only": all((figure < 0) != (best < 0) for figure in rest),
            "full": len(members) / len(block.members),
        }
        own, above = self._slots(ranking)
        return [*self._of_blocks[id(block)], *(float(row[name]) for name in row), *own, *above]

    def _periods(self, own: Sequence[PageCell], earlier: Sequence[PageCell]) -> tuple[float, float, int]:
        """Fit of the later and the earlier period, and how many named periods no cell is of."""
        fits, before = self._columns.fits, self._columns.before
        later = fits[[self._cells.at[id(cell)] for cell in own]]
        used = np.asarray((later >= NAMED).any(axis=0))
        fit = float(later.max(axis=1).mean())
        if not earlier:
            return fit, 0.0, self._unused(used)
        at = [self._cells.at[id(cell)] for cell in earlier]
        base, prior = fits[at], before[at]
        best = max(float(base.max(axis=1).mean()), float(prior.max(axis=1).mean()))
        return fit, best, self._unused(np.asarray(used | (base >= NAMED).any(axis=0)))

    def _unused(self, used: npt.NDArray[np.bool_]) -> int:
        return max(self._columns.named - int(used.sum()), 0) if self._columns.named else 0

    def _is_latest(self, ranking: Ranking) -> bool:
        ends = [slot.end for slot in ranking.block.slots if slot.end is not None]
        return ranking.slot.end is None or ranking.slot.end == max(ends)

    def _is_next(self, ranking: Ranking) -> bool:
        base, slot = ranking.base, ranking.slot
        if base is None or base.end is None or slot.end is None:
            return False
        return not any(
            each.part == slot.part and each.end is not None and base.end < each.end < slot.end
            for each in ranking.block.slots
        )

    def _slots(self, ranking: Ranking) -> tuple[Floats, Floats]:
        """The features that differ between slots: those of this one, and by how much they exceed the others'."""
        block = ranking.block
        means = {slot: self._cells.mean(cells_in(block, slot), _SLOT_COLUMNS) for slot in block.slots}
        own = means.pop(ranking.slot)
        return own, own - np.max(list(means.values()), axis=0) if means else np.zeros(len(_SLOT_COLUMNS))


def _is_printed_change(cell: PageCell) -> bool:
    return measure_of(cell.item) == "percent" or _CHANGE.search(cell.item.column_label or "") is not None
