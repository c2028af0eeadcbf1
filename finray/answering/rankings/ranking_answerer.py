"""Answers which row or column is the largest, grew fastest or fell most, if the choice is sure enough."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from finray.answering.cells.cell_features import described_cells
from finray.answering.cells.page_cells import PageCell, PageCells
from finray.answering.plans.coverage import fitting_period
from finray.answering.question_heads import QuestionHeads
from finray.answering.rankings.asked import AskedRanking, asked_ranking, shipped_ranking_heads
from finray.answering.rankings.block_features import CellFeatures, block_features, described_block
from finray.answering.rankings.blocks import Block, blocks_of
from finray.answering.rankings.choice import (
    RankingModel,
    Rankings,
    question_signals,
    shipped_block_weights,
    shipped_ranking_model,
    winner,
)
from finray.answering.rankings.features import Describer
from finray.answering.rankings.ranked import rankings_of
from finray.answering.rankings.worded import worded
from finray.answering.table_reader.columns import columns_of
from finray.core.arrays import Floats
from finray.core.journal import Journal
from finray.core.predictions import Answer
from finray.core.query import Query
from finray.core.roles import Curation
from finray.index.reading.facts import FilingFacts
from finray.models.row_reader import RowReader, row_reader
from finray.question.synonyms import words_of

BLOCKS: Final = 12
"""Blocks that the row model reads beside the question."""
LEAST_ASKED: Final = math.log(0.2)
"""Log probability below which a question does not ask for a ranking."""
_RANKING: Final = frozenset({"which", "max", "min"})
"""Operations of the question reader that may be a ranking; for others the model need not be asked."""
_SURELY_ASKED: Final = math.log(0.9)


@dataclass(frozen=True, slots=True)
class CompetingRankings:
    """The rankings ``found`` for a question, and its ``question_signals`` (``asked``)."""

    found: Rankings
    asked: Floats


@dataclass(frozen=True)
class SeenBlocks:
    """``blocks`` with their ``features``, float64 [blocks, len(BLOCK_FEATURES)], and all ``cells`` of their pages;
    ``unprinted`` is the share of the question's words that no cell has."""

    blocks: tuple[Block, ...]
    features: Floats
    cells: tuple[PageCell, ...]
    of_cells: CellFeatures
    unprinted: float


class RankingAnswerer:
    """Chooses by ``model`` among the rankings of the retrieved pages. ``reader`` reads the ``BLOCKS`` blocks that score
    highest by the weights ``blocks``; ``heads`` read what the question asks for. By default all come with finray."""

    def __init__(
        self,
        facts: FilingFacts,
        reader: RowReader | None = None,
        heads: QuestionHeads | None = None,
        model: RankingModel | None = None,
        blocks: Floats | None = None,
    ) -> None:
        self._facts = facts
        self._cells = PageCells(facts)
        self._reader, self._heads, self._model, self._blocks = reader, heads, model, blocks

    def answer(self, query: Query, curation: Curation, journal: Journal) -> Answer | None:
        """The winner, then the others; None if the question does not ask for a ranking, or none is sure enough."""
        competing = self.competing(query, curation)
        if competing is None:
            return None
        model = self._model or shipped_ranking_model()
        choice = model.choose(competing.found, competing.asked)
        if choice is None:
            return None
        ranking = choice.ranking
        journal.note(
            f"answer: of {len(competing.found.rankings)} rankings {winner(ranking)!r} by {ranking.measured} of "
            f"{len(ranking.at)} {ranking.block.axis} with {choice.probability:.2f}"
        )
        if choice.probability < model.threshold:
            return None
        return worded(choice, query, curation, self._facts)

    def competing(self, query: Query, curation: Curation) -> CompetingRankings | None:
        """None if the question does not ask for a ranking or compares companies, or no page has a block."""
        if len(query.companies) > 1:
            return None
        asked = self._asked(query)
        if asked.ranks < LEAST_ASKED:
            return None
        seen = self.seen(query, curation, asked)
        weights = shipped_block_weights() if self._blocks is None else self._blocks
        best = np.argsort(-(seen.features @ weights), kind="stable")[:BLOCKS].tolist()
        blocks = [seen.blocks[number] for number in best]
        rankings = [(ranking, number) for number, block in enumerate(blocks) for ranking in rankings_of(block)]
        if not rankings:
            return None
        read = (self._reader or row_reader()).rows(query.question, [described_block(block) for block in blocks])
        columns = columns_of(query, seen.cells, self._facts)
        describer = Describer(asked, seen.features[best], read, seen.of_cells, columns)
        features = np.asarray([describer.described(ranking, number) for ranking, number in rankings])
        found = Rankings(tuple(ranking for ranking, _ in rankings), features)
        return CompetingRankings(found, question_signals(query, asked, read, seen.unprinted))

    def surely_asked(self, query: Query) -> bool:
        """Whether the question surely asks which row, column or period of one company ranks first."""
        may_be = query.operation in _RANKING or bool(query.intents & {"superlative", "which_one"})
        return may_be and len(query.companies) < 2 and self._asked(query).ranks >= _SURELY_ASKED

    def _asked(self, query: Query) -> AskedRanking:
        state = (self._reader or row_reader()).question_state(query.question)
        return asked_ranking(self._heads or shipped_ranking_heads(), state)

    def seen(self, query: Query, curation: Curation, asked: AskedRanking) -> SeenBlocks:
        """The blocks of the retrieved pages, for a question that asks for ``asked``."""
        cells = self._cells.read(fitting_period(query, curation.kept, self._facts))
        found = described_cells(query, tuple(cells), self._facts)
        of_cells = CellFeatures({id(cell): number for number, cell in enumerate(found.cells)}, found.features)
        blocks = blocks_of(found.cells, words_of(query.question))
        features = block_features(query, asked, blocks, of_cells)
        return SeenBlocks(tuple(blocks), features, found.cells, of_cells, found.unprinted)
