"""Samples negatives: random texts, as HiREC does, and hard ones, which share words with the question."""

from __future__ import annotations

import random

from finray.lab.training.fine_tuning.corpus import Corpus, TrainingQuestion, Unit
from finray.lab.training.fine_tuning.options import Hyperparameters
from finray.lab.training.fine_tuning.similarity import UnitPools, best_first


class NegativeSampler:
    """The negatives of a question depend only on the corpus and the options, not on the order of calls."""

    def __init__(self, corpus: Corpus, options: Hyperparameters) -> None:
        self._count = options.negatives
        self._hard = min(options.hard, options.negatives)
        self._kind = options.negative_kind
        self._seed = options.seed
        self._pools = UnitPools(corpus)

    def of(self, question: TrainingQuestion, gold: str = "") -> list[Unit]:
        """``options.negatives`` units (repeated if there are fewer), none of a spared page; [] if there is none. The
        sample depends on ``gold``, so that each gold unit gets its own."""
        random_ = random.Random(f"{self._seed}:{question.qid}{gold}")
        if self._kind == "any":
            return self._sample(question, None, self._count, random_)
        tables = self._count if self._kind == "tables" else (self._count + 1) // 2
        chosen = self._sample(question, True, tables, random_) + self._sample(
            question, False, self._count - tables, random_
        )
        # If a filing has only one of the two kinds, take all from it.
        return chosen if len(chosen) == self._count else self._sample(question, None, self._count, random_)

    def _sample(self, question: TrainingQuestion, table: bool | None, count: int, random_: random.Random) -> list[Unit]:
        units, similarity = self._pools.of(question)
        allowed = {
            index
            for index, unit in enumerate(units)
            if unit.page not in question.spared and unit.text.strip() and (table is None or unit.is_table == table)
        }
        if not allowed or not count:
            return []
        hard = round(self._hard * count / self._count)
        ranked = best_first(similarity.to(question.question)) if hard else []
        chosen = [index for index in ranked if index in allowed][:hard]
        left = sorted(allowed.difference(chosen))
        chosen += random_.sample(left, min(count - len(chosen), len(left)))
        return [units[chosen[number % len(chosen)]] for number in range(count)]
