"""A ranking answerer whose model is told what a question asks, in place of the fitted ones."""

from __future__ import annotations

import numpy as np

from finray.answering.question_heads import QuestionHeads
from finray.answering.rankings.asked import HEADS
from finray.answering.rankings.block_features import BLOCK_FEATURES
from finray.answering.rankings.choice import SIGNALS, RankingModel
from finray.answering.rankings.features import FEATURES
from finray.answering.rankings.ranked import MEASURED, Measured
from finray.answering.rankings.ranking_answerer import RankingAnswerer
from finray.index.reading.facts import FilingFacts
from finray.models.pair_reader import STATE
from tests.answering.table_reader.scores import FakeRowReader

_WEIGHTS = {"measured": 1.0, "direction": 1.0, "block_periods": 1.0, "listed": 0.2, "period": 2.0, "unnamed": -1.0}
_BLOCKS = np.asarray([1.0 if name in ("cover", "members") else 0.0 for name in BLOCK_FEATURES])


class FakeReader(FakeRowReader):
    def __init__(self) -> None:
        super().__init__("which_max", listed=("Beverages",))

    def question_state(self, question: str) -> np.typing.NDArray[np.float64]:
        return np.zeros(STATE)


def heads(measured: Measured, *, lowest: bool, ranks: bool = True, periods: bool = False) -> QuestionHeads:
    asked = {
        "ranks": int(ranks), "measured": MEASURED.index(measured), "direction": int(lowest), "axis": int(periods)
    }  # fmt: skip
    biases = {name: np.where(np.arange(size) == asked[name], 4.0, -4.0) for name, size in HEADS.items()}
    return QuestionHeads(
        {name: np.zeros((STATE, size), dtype=np.float32) for name, size in HEADS.items()},
        {name: bias.astype(np.float32) for name, bias in biases.items()},
    )


def answerer(facts: FilingFacts, asked: QuestionHeads, threshold: float = 0.4) -> RankingAnswerer:
    """Its choices have a probability of one half."""
    weights = np.asarray([_WEIGHTS.get(name, 0.0) for name in FEATURES])
    model = RankingModel(weights, np.zeros(len(SIGNALS)), threshold)
    return RankingAnswerer(facts, FakeReader(), asked, model, _BLOCKS)
