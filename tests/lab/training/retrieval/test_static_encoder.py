"""Distilling an encoder into token vectors."""

from __future__ import annotations

import numpy as np
import pytest

from finray.lab.training.retrieval.static_encoder import distil, principal_components, rarity, token_counts, vocabulary
from finray.models.hash_encoder import HashEncoder
from finray.models.static_encoder import StaticEncoder

TOKENS = ["[PAD]", "[UNK]", "[unused0]", "the", "sales", "rose", "leases"]


def test_texts_with_common_words_are_close_and_frequent_words_count_little() -> None:
    texts = ["the sales rose"] * 5 + ["the leases"] * 20 + ["the"] * 400
    encoder = StaticEncoder(distil(HashEncoder(32), TOKENS, token_counts(TOKENS, texts), 5))
    sales, same, other = encoder.encode_passages(["the sales", "sales", "the leases"])
    assert sales @ same > 0.9
    assert sales @ same > sales @ other + 0.3


def test_special_tokens_have_no_vector() -> None:
    made = distil(HashEncoder(32), TOKENS, np.ones(len(TOKENS), dtype=np.int64), 4)
    assert not made.vectors[:3].any()
    assert made.vectors[3:].any(axis=1).all()
    assert made.vectors.shape == (len(TOKENS), 4)


def test_the_first_axis_carries_the_most_variance_and_runs_agree() -> None:
    given = (np.random.default_rng(0).normal(size=(50, 6)) * np.arange(1, 7)).astype(np.float32)
    reduced = principal_components(given, 3)
    assert (np.diff(reduced.var(axis=0)) <= 0).all()
    assert (reduced == principal_components(given, 3)).all()


def test_rarer_tokens_weigh_more() -> None:
    assert (np.diff(rarity(np.array([10_000, 100, 1, 0]))) > 0).all()


def test_a_vocabulary_without_the_unknown_token_is_refused() -> None:
    assert vocabulary("[UNK]\nsales\n") == ["[UNK]", "sales"]
    with pytest.raises(ValueError, match=r"\[UNK\]"):
        vocabulary("sales\nrose\n")
