"""Metrics on held-out questions: how high a model ranks the gold units among similar ones."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from finray.core.arrays import Floats
from finray.core.bootstrap import estimate, paired_difference
from finray.lab.training.fine_tuning.corpus import Corpus, TrainingQuestion
from finray.lab.training.fine_tuning.similarity import UnitPools, best_first

Scorer = Callable[[str, Sequence[str]], Floats]
"""(question, texts) to a score for each text, higher is better."""

METRICS = ("recall@1", "recall@5", "recall@10", "mrr")


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Metrics of one question: scorer -> metric -> value in [0, 1]."""

    qid: str
    source: str
    figures: Mapping[str, Mapping[str, float]]


def held_out_sample(questions: Sequence[TrainingQuestion], most: int, seed: int) -> list[TrainingQuestion]:
    """A random sample of at most ``most`` questions of each source."""
    by_source: dict[str, list[TrainingQuestion]] = defaultdict(list)
    for question in questions:
        by_source[question.source].append(question)
    random_ = random.Random(seed)
    return [q for group in by_source.values() for q in (random_.sample(group, most) if len(group) > most else group)]


def score_held_out(
    corpus: Corpus,
    questions: Sequence[TrainingQuestion],
    scorers: Mapping[str, Scorer],
    candidates: int,
    report: Callable[[int, int, str], None],
) -> list[HeldOut]:
    """For each question, rank its gold units and the ``candidates`` other units most similar to it in words.

    The others come from the question's own documents, or from its source if a document is one page. The scorer "words"
    (word similarity) is always included.
    """
    pools = UnitPools(corpus)
    result = []
    for done, question in enumerate(questions, start=1):
        units, words = pools.of(question)
        similarity = words.to(question.question)
        gold = set(question.gold)
        others = [
            i for i in best_first(similarity) if units[i].key not in gold and units[i].page not in question.spared
        ]
        chosen = [i for i, unit in enumerate(units) if unit.key in gold] + others[:candidates]
        texts = [units[i].text for i in chosen]
        keys = [units[i].key for i in chosen]
        figures = {"words": ranking_figures(keys, similarity[chosen], gold)}
        for name, scorer in scorers.items():
            figures[name] = ranking_figures(keys, scorer(question.question, texts), gold)
        result.append(HeldOut(question.qid, question.source, figures))
        report(done, len(questions), "")
    return result


def ranking_figures(keys: Sequence[str], scores: Floats, gold: set[str]) -> dict[str, float]:
    """Recall of ``gold`` at 1, 5 and 10, and the reciprocal rank of the first. Ties rank gold units last."""
    order = sorted(range(len(keys)), key=lambda i: (-float(scores[i]), keys[i] in gold))
    ranks = [rank for rank, i in enumerate(order, start=1) if keys[i] in gold]
    figures = {f"recall@{k}": float(np.mean([rank <= k for rank in ranks])) for k in (1, 5, 10)}
    return figures | {"mrr": 1 / ranks[0]}


def summary(rows: Sequence[HeldOut]) -> dict[str, Any]:
    """For each source: n, means of each scorer with 95% intervals, and paired differences of the trained model."""
    result: dict[str, Any] = {}
    for source in sorted({row.source for row in rows}):
        own = [row for row in rows if row.source == source]
        names = list(own[0].figures)
        values = {name: {m: [row.figures[name][m] for row in own] for m in METRICS} for name in names}
        result[source] = {
            "n": len(own),
            "figures": {n: {m: asdict(estimate(values[n][m])) for m in METRICS} for n in names},
            "trained_minus": {
                n: {m: asdict(paired_difference(values["trained"][m], values[n][m])) for m in METRICS}
                for n in names
                if n != "trained" and "trained" in values
            },
        }
    return result
