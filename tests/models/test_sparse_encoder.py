"""The sparse-encoder role: the fake, and sentence-transformers with a model of random weights."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from finray.core.errors import ModelUnavailableError
from finray.core.settings import SparseEncoderSettings
from finray.models.sparse_encoder import HashSparseEncoder, SparseVector, load_sparse_encoder


def dot(first: SparseVector, second: SparseVector) -> float:
    weights = dict(zip(first.terms.tolist(), first.weights.tolist(), strict=True))
    pairs = zip(second.terms.tolist(), second.weights.tolist(), strict=True)
    return float(sum(weights.get(term, 0.0) * weight for term, weight in pairs))


def test_the_fake_scores_shared_words() -> None:
    encoder = HashSparseEncoder()
    query = encoder.encode_query("net income of the year")
    near, far, empty = encoder.encode_passages(["Net income rose", "A patent dispute", ""])
    assert dot(query, near) > dot(query, far) == 0.0
    assert len(empty.terms) == 0


def test_a_model_that_is_not_there_is_an_error_that_names_the_setting(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailableError, match=r"sparse_encoder\.model"):
        load_sparse_encoder(SparseEncoderSettings(model=str(tmp_path / "nowhere")))


def test_a_splade_model_of_sentence_transformers(tmp_path: Path) -> None:
    folder = _random_splade(tmp_path)
    encoder = load_sparse_encoder(SparseEncoderSettings(model=str(folder), max_tokens=16, device="cpu"))
    vectors = encoder.encode_passages(["net income", "", "revenue of the year " * 50])
    assert len(vectors) == 3
    for vector in vectors:
        assert vector.terms.dtype == np.int32 and vector.weights.dtype == np.float32
        assert (np.diff(vector.terms) > 0).all() and (vector.weights > 0).all()
        assert vector.terms.size and vector.terms.max() < 40
    again = encoder.encode_query("net income")
    np.testing.assert_array_equal(again.terms, vectors[0].terms)
    np.testing.assert_allclose(again.weights, vectors[0].weights, rtol=1e-3, atol=1e-4)
    assert encoder.encode_passages([]) == []
    few = load_sparse_encoder(SparseEncoderSettings(model=str(folder), max_tokens=16, device="cpu", max_terms=3))
    kept, whole = few.encode_query("net income"), vectors[0]
    assert set(kept.terms) == set(whole.terms[np.argsort(-whole.weights)[:3]])


def _random_splade(folder: Path) -> Path:
    """A SPLADE model over forty words, as a sentence-transformers folder."""
    from sentence_transformers import SparseEncoder
    from sentence_transformers.sparse_encoder.modules import MLMTransformer, SpladePooling
    from transformers import BertConfig, BertForMaskedLM, BertTokenizer

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "net", "income", "revenue", "of", "the", "year"]
    words += [f"word{number}" for number in range(40 - len(words))]
    base = folder / "base"
    base.mkdir()
    (base / "vocab.txt").write_text("\n".join(words))
    BertTokenizer(vocab=str(base / "vocab.txt")).save_pretrained(base)
    config = BertConfig(
        vocab_size=40, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
        max_position_embeddings=64,
    )  # fmt: skip
    BertForMaskedLM(config).save_pretrained(base)
    model = SparseEncoder(modules=[MLMTransformer(str(base)), SpladePooling()], device="cpu")
    model.save_pretrained(str(folder / "splade"))
    return folder / "splade"
