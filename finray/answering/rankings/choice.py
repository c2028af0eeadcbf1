"""Chooses the ranking that answers a question, or none: a linear model, fitted by ``finray train rankings``.

The softmax of the scores over a question's rankings is the probability of each to be meant; rankings with the same
winner share theirs. A second, logistic model over SIGNALS gives the probability that the winner of the likeliest one is
the answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from finray.answering.choice_model import SURENESS, ChoiceModel, read_fitted, read_linear, sureness
from finray.answering.rankings.asked import AskedRanking
from finray.answering.rankings.block_features import BLOCK_FEATURES
from finray.answering.rankings.features import FEATURES
from finray.answering.rankings.ranked import Ranking
from finray.core.arrays import Floats
from finray.core.data_files import shipped
from finray.core.query import Query
from finray.models.row_reader import OPERATIONS, RowScores

OF_QUESTION: Final[Mapping[str, str]] = {
    "unprinted": "share of the question's words that no row has",
    "which": "the question reader takes it for a ranking",
    "superlative": "the question has a superlative",
    "asked": "log probability that a ranking is asked for, by a head of the question",
    "ranks": "the same by the row model's operations",
    "present": "log odds that the operands are among the blocks, by the row model, up to six",
    "yes_no": "a yes or no question",
    "companies": "the question names no company of the index, or several",
}
SIGNALS: Final[Mapping[str, str]] = {
    **SURENESS,
    **{f"of_{name}": f"{meaning}, of the chosen ranking" for name, meaning in FEATURES.items()},
    **OF_QUESTION,
}
_RANKS: Final = [OPERATIONS.index(name) for name in ("max", "min", "which_max", "which_min")]
_MOST = 6.0


@dataclass(frozen=True)
class Rankings:
    """``rankings`` with their ``features``, float64 [len(rankings), len(FEATURES)]."""

    rankings: tuple[Ranking, ...]
    features: Floats


@dataclass(frozen=True, slots=True)
class RankingChoice:
    """The chosen ``ranking`` and the ``probability`` that its winner is what the question asks for."""

    ranking: Ranking
    probability: float


class RankingModel(ChoiceModel):
    """Weighs FEATURES and SIGNALS."""

    def choose(self, found: Rankings, asked: Floats) -> RankingChoice | None:
        """The likeliest ranking, however unlikely; None without any. ``asked``: :func:`question_signals`."""
        best = self.likeliest(found.features, lambda scores, number: signals(found, scores, number, asked))
        return RankingChoice(found.rankings[best.number], best.probability) if best is not None else None


def _same_winner(found: Rankings, best: int) -> npt.NDArray[np.bool_]:
    """Which rankings name what ranking ``best`` does, bool [len(rankings)]."""
    names = [winner(ranking) for ranking in found.rankings]
    return np.asarray([name == names[best] for name in names])


def winner(ranking: Ranking) -> str:
    """The name of the member that wins."""
    return ranking.block.members[ranking.winner].name


def signals(found: Rankings, scores: Floats, best: int, asked: Floats) -> Floats:
    """The SIGNALS of ranking ``best``, float64 [len(SIGNALS)]."""
    return np.asarray([*sureness(scores, best, _same_winner(found, best)), *found.features[best], *asked])


def question_signals(query: Query, asked: AskedRanking, rows: RowScores, unprinted: float) -> Floats:
    """The SIGNALS that do not depend on the ranking."""
    values: dict[str, Any] = {
        "unprinted": unprinted,
        "which": query.operation == "which",
        "superlative": "superlative" in query.intents,
        "asked": asked.ranks,
        "ranks": np.logaddexp.reduce(rows.operations[_RANKS]),
        "present": min(max(rows.present, -_MOST), _MOST),
        "yes_no": "yes_no" in query.intents,
        "companies": len(query.companies) != 1,
    }
    return np.asarray([float(values[name]) for name in OF_QUESTION])


@cache
def shipped_ranking_model() -> RankingModel:
    """The model that comes with finray. Raises ModelUnavailableError if its file is of another version."""
    return read_ranking_model(shipped("finray.answering.rankings", "ranking_choice.json"), "ranking_choice.json")


def read_ranking_model(text: str, source: str) -> RankingModel:
    """Raises ModelUnavailableError."""
    fitted = read_fitted(text, source, "rankings", FEATURES, SIGNALS)
    return RankingModel(fitted.weights, fitted.answers, **fitted.thresholds)


@cache
def shipped_block_weights() -> Floats:
    """The weights of BLOCK_FEATURES by which blocks are chosen for the row model, float64 [len(BLOCK_FEATURES)]. Raises
    ModelUnavailableError if their file is of another version."""
    return read_linear(
        shipped("finray.answering.rankings", "ranking_blocks.json"), "ranking_blocks.json", "blocks", BLOCK_FEATURES
    )
