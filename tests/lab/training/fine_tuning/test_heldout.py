from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from finray.lab.training.fine_tuning.corpus import Corpus
from finray.lab.training.fine_tuning.heldout import HeldOut, held_out_sample, ranking_figures, score_held_out, summary


def test_metrics_follow_from_ranks() -> None:
    keys = ["gold", "a", "other gold", "b"]
    figures = ranking_figures(keys, np.array([0.5, 0.9, 0.8, 0.1]), {"gold", "other gold"})
    assert figures == {"recall@1": 0.0, "recall@5": 1.0, "recall@10": 1.0, "mrr": 0.5}


def test_a_constant_scorer_finds_nothing_first() -> None:
    assert ranking_figures(["gold", "a"], np.zeros(2), {"gold"})["recall@1"] == 0.0


def test_every_scorer_ranks_the_same_candidates(corpus: Corpus) -> None:
    seen: list[list[str]] = []

    def right(question: str, texts: Sequence[str]) -> np.ndarray:
        seen.append(list(texts))
        return np.array([float("words" in text and " 1 " in text) for text in texts])

    rows = score_held_out(corpus, corpus.questions, {"trained": right}, 2, lambda *_: None)
    assert [len(texts) for texts in seen] == [3] * len(corpus.questions)
    result = summary(rows)["made-up"]
    assert result["n"] == len(corpus.questions)
    assert result["figures"]["trained"]["recall@1"]["value"] == 1.0
    assert set(result["trained_minus"]) == {"words"}


def test_no_more_questions_of_a_source_than_wanted(corpus: Corpus) -> None:
    sample = held_out_sample(corpus.questions, 3, seed=0)
    assert len(sample) == 3
    assert held_out_sample(corpus.questions, 3, seed=0) == sample
    assert held_out_sample(corpus.questions, 30, seed=0) == list(corpus.questions)


def test_sources_are_summarized_separately() -> None:
    figures = {"words": {"recall@1": 1.0, "recall@5": 1.0, "recall@10": 1.0, "mrr": 1.0}}
    result = summary([HeldOut("1", "a", figures), HeldOut("2", "b", figures)])
    assert {source: part["n"] for source, part in result.items()} == {"a": 1, "b": 1}
    assert result["a"]["figures"]["words"]["mrr"]["value"] == pytest.approx(1.0)
    assert result["a"]["trained_minus"] == {}
