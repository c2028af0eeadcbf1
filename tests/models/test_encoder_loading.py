from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from finray.core.errors import ModelUnavailableError
from finray.core.settings import EncoderSettings, load_settings
from finray.models.encoder import Encoder
from finray.models.encoder_loading import encoder_dimension, load_encoder
from finray.models.minilm import check_weights, minilm_folder

PASSAGES = [
    "Capital expenditures were $1.6 billion in 2018, mostly for plant and equipment.",
    "The board declared a quarterly dividend of $0.25 per share.",
    "short",
    "Net sales by segment: " + "Safety 12,767 Transport 9,486 " * 60,
    "",
]


@pytest.fixture(scope="module")
def minilm() -> Encoder:
    return load_encoder(EncoderSettings(model="minilm"), threads=1)


@pytest.mark.parametrize("model", ["minilm", "static", "hash"])
def test_vectors_have_unit_length_and_the_announced_dimension(model: str) -> None:
    wanted = EncoderSettings(model=model)
    encoder = load_encoder(wanted, threads=1)
    vectors = encoder.encode_passages(PASSAGES)
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(PASSAGES), encoder.dimension) == (len(PASSAGES), encoder_dimension(wanted))
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    assert encoder.encode_query("dividends").shape == (encoder.dimension,)
    assert encoder.encode_passages([]).shape == (0, encoder.dimension)


def test_minilm_finds_the_passage_that_answers(minilm: Encoder) -> None:
    vectors = minilm.encode_passages(PASSAGES)
    for question, best in (("How much was spent on capex?", 0), ("What does the company pay its shareholders?", 1)):
        assert int(np.argmax(vectors @ minilm.encode_query(question))) == best


def test_minilm_agrees_with_sentence_transformers(minilm: Encoder) -> None:
    from sentence_transformers import SentenceTransformer

    reference = SentenceTransformer(str(minilm_folder()), device="cpu", local_files_only=True)
    expected = reference.encode(PASSAGES, normalize_embeddings=True, show_progress_bar=False)
    cosines = (minilm.encode_passages(PASSAGES) * expected).sum(axis=1)
    assert cosines.min() > 0.999


@pytest.mark.slow
def test_a_passage_has_the_same_vector_however_many_come_with_it(minilm: Encoder) -> None:
    together = minilm.encode_passages(PASSAGES * 20)
    alone = np.stack([minilm.encode_passages([text])[0] for text in PASSAGES])
    assert (together[: len(PASSAGES)] * alone).sum(axis=1).min() > 0.9995
    np.testing.assert_array_equal(together, minilm.encode_passages(PASSAGES * 20))


def test_prefixes_are_put_before_the_text() -> None:
    plain = load_encoder(EncoderSettings(model="minilm"), threads=1)
    prefixed = load_encoder(
        EncoderSettings(model="minilm", query_prefix="query: ", passage_prefix="passage: "), threads=1
    )
    np.testing.assert_allclose(prefixed.encode_query("x"), plain.encode_query("query: x"), atol=1e-6)
    np.testing.assert_allclose(prefixed.encode_passages(["x"]), plain.encode_passages(["passage: x"]), atol=1e-6)


def test_a_cls_model_pools_the_first_token(tmp_path: Path, minilm: Encoder) -> None:
    folder = tmp_path / "cls"
    shutil.copytree(minilm_folder(), folder)
    config = folder / "1_Pooling" / "config.json"
    modes = json.loads(config.read_text())
    modes |= {"pooling_mode_mean_tokens": False, "pooling_mode_cls_token": True}
    config.write_text(json.dumps(modes))
    cls = load_encoder(EncoderSettings(model=str(folder)), threads=1)
    assert abs(float(cls.encode_query("dividends") @ minilm.encode_query("dividends"))) < 0.9
    config.write_text(json.dumps(modes | {"pooling_mode_max_tokens": True}))
    with pytest.raises(ModelUnavailableError, match="not by mean or CLS"):
        load_encoder(EncoderSettings(model=str(folder)))


def test_damaged_weights_are_refused(tmp_path: Path) -> None:
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(b"not the published ones")
    with pytest.raises(ModelUnavailableError, match="damaged or changed"):
        check_weights(weights, "0" * 64)
    with pytest.raises(ModelUnavailableError, match="reinstall"):
        check_weights(tmp_path / "none", "0" * 64)


def test_a_model_that_is_not_there_is_named(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(ModelUnavailableError, match="empty"):
        load_encoder(EncoderSettings(model=str(tmp_path / "empty")))


@pytest.mark.parametrize("backend", ["openvino", "onnx"])
def test_the_backend_changes_neither_the_index_nor_which_answers_are_done(backend: str) -> None:
    torch, other = (load_settings(overrides={"encoder.backend": name}) for name in ("torch", backend))
    assert torch.index_hash() == other.index_hash()
    assert torch.answer_hash() == other.answer_hash()


def test_a_device_that_is_not_there_is_named() -> None:
    with pytest.raises(ModelUnavailableError, match="no GPU"):
        load_encoder(EncoderSettings(model="minilm", device="cuda:7"))
