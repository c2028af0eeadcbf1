"""Fitting the page model: it finds informative features, and folds exclude their own group."""

from __future__ import annotations

import numpy as np
import pytest

from finray.core.questions import GoldEvidence, Question
from finray.lab.training.retrieval.page_ranker import (
    DOCUMENT_WEIGHT,
    RankedQuestion,
    fit,
    held_out_recall,
    ranked_question,
    recall_at,
)
from finray.retrieval.page_features import FEATURES, PageCandidates

N = len(FEATURES)


def asked(group: str, seed: int, telling: int = 0) -> RankedQuestion:
    """Twenty pages; the gold one has more of the feature ``telling``."""
    random = np.random.default_rng(seed)
    features = random.random((20, N)) * 0.5
    features[seed % 20, telling] = 1.0
    return RankedQuestion(f"q{seed}", group, features, (frozenset([seed % 20]),))


def test_the_informative_feature_gets_the_weight() -> None:
    weights = fit([asked("a", seed) for seed in range(40)], l2=1.0)
    assert weights[0] == max(weights[:-1]) > 1.5


def test_questions_are_ranked_by_weights_of_other_groups() -> None:
    here = [asked("here", seed, telling=0) for seed in range(20)]
    there = [asked("there", seed, telling=1) for seed in range(20, 40)]
    recall = held_out_recall([*here, *there], [], l2=1.0, ks=(1,))
    assert len(recall) == 40
    assert np.mean([value for (value,) in recall.values()]) < 0.5  # what one group teaches does not hold in the other
    learned = held_out_recall(here, [asked("also", seed) for seed in range(40, 60)], l2=1.0, ks=(1, 5))
    assert np.mean([first for first, _ in learned.values()]) > 0.8


def test_an_alternative_page_is_as_good() -> None:
    question = Question("q", "?", evidence=(GoldEvidence("ACME", 3, None, (7,)), GoldEvidence("ACME", 9)))
    candidates = PageCandidates((("id", 7), ("id", 1)), np.eye(2, N), (0, 1), None)
    ranked = ranked_question(question, "g", candidates, {"id": "ACME"})
    assert ranked.evidence == (frozenset([0]), frozenset())
    assert ranked.target.tolist() == [1.0, 0.0]
    weights = np.zeros(N)
    weights[0] = 1.0
    assert recall_at(ranked, weights, 1) == pytest.approx(0.5)


def test_nothing_to_rank_is_nothing_found() -> None:
    empty = RankedQuestion("q", "g", np.zeros((0, N)), ())
    assert recall_at(empty, np.zeros(N), 5) == 0.0
    assert fit([empty], l2=1.0).tolist() == [0.0] * (N - 1) + [DOCUMENT_WEIGHT]
