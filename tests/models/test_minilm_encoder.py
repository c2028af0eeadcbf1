"""MiniLM by ONNX Runtime: torch's vectors, whatever is encoded together, chosen only if nothing faster is at hand."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from finray.core.errors import ModelUnavailableError
from finray.core.settings import EncoderSettings
from finray.models import minilm_encoder
from finray.models.devices import multiplies_bf16
from finray.models.encoder_loading import load_encoder
from finray.models.minilm_encoder import MiniLmEncoder, computes_in_onnx

TEXTS = ["Net sales by segment: " + "Safety 12,767 Transport 9,486 " * 60, "short", "", "dividends of $0.25", "\ud83d?"]
SEVERAL_PASSES = 5
"""That many long texts have more tokens than one pass over the model."""
ONNX = EncoderSettings(model="minilm", backend="onnx")


@pytest.fixture(scope="module")
def encoder() -> MiniLmEncoder:
    return MiniLmEncoder(ONNX, threads=1)


def test_vectors_are_those_of_torch(encoder: MiniLmEncoder) -> None:
    torch = EncoderSettings(model="minilm", backend="torch", dtype="float32", device="cpu")
    expected = load_encoder(torch, threads=1).encode_passages(TEXTS[:-1])
    np.testing.assert_allclose(encoder.encode_passages(TEXTS[:-1]), expected, atol=1e-5)
    np.testing.assert_allclose(
        encoder.encode_query("dividends"), load_encoder(torch).encode_query("dividends"), atol=1e-5
    )


def test_a_vector_does_not_depend_on_what_is_encoded_with_it(encoder: MiniLmEncoder) -> None:
    together = encoder.encode_passages(TEXTS * SEVERAL_PASSES)
    alone = np.concatenate([encoder.encode_passages([text]) for text in TEXTS])
    np.testing.assert_allclose(together, np.concatenate([alone] * SEVERAL_PASSES), atol=1e-6)
    assert encoder.encode_passages([]).shape == (0, encoder.dimension)


@pytest.mark.skipif(multiplies_bf16(), reason="another encoder is taken on this processor")
def test_with_fixed_shapes_it_has_the_same_bits() -> None:
    encoder = MiniLmEncoder(ONNX, threads=1, fixed_shapes=True)
    alone = np.concatenate([encoder.encode_passages([text]) for text in TEXTS])
    np.testing.assert_array_equal(
        encoder.encode_passages(TEXTS * SEVERAL_PASSES), np.concatenate([alone] * SEVERAL_PASSES)
    )


def test_a_text_is_cut_to_max_tokens() -> None:
    cut = MiniLmEncoder(EncoderSettings(model="minilm", max_tokens=8), threads=1)
    np.testing.assert_array_equal(
        cut.encode_query("one two three four five six"), cut.encode_query("one two three four five six seven")
    )
    assert not np.array_equal(cut.encode_query("one two three"), cut.encode_query("one two four"))


@pytest.mark.parametrize(
    ("wanted", "bf16", "openvino", "gpu", "onnx"),
    [
        ({"model": "minilm"}, False, False, False, True),
        ({"model": "minilm", "device": "cpu"}, False, False, True, True),
        ({"model": "minilm"}, True, False, False, False),
        ({"model": "minilm"}, False, True, False, False),
        ({"model": "minilm"}, False, False, True, False),
        ({"model": "minilm", "device": "cuda"}, False, False, False, False),
        ({"model": "minilm", "dtype": "bfloat16"}, False, False, False, False),
        ({"model": "minilm", "backend": "torch"}, False, False, False, False),
        ({"model": "intfloat/e5-large"}, False, False, False, False),
        ({"model": "minilm", "backend": "onnx"}, True, True, True, True),
    ],
)
def test_it_is_chosen_if_nothing_faster_is_at_hand(
    wanted: dict[str, Any],
    bf16: bool,
    openvino: bool,
    gpu: bool,
    onnx: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    device = tmp_path / "gpu"
    if gpu:
        device.touch()
    monkeypatch.setattr(minilm_encoder, "_GPUS", (str(device),))
    monkeypatch.setattr(minilm_encoder, "multiplies_bf16", lambda: bf16)
    monkeypatch.setattr(minilm_encoder, "has_openvino", lambda: openvino)
    assert computes_in_onnx(EncoderSettings(**wanted)) is onnx


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"model": "intfloat/e5-large"}, r"encoder\.model = 'minilm' only, not 'intfloat/e5-large'"),
        ({"model": "minilm", "device": "cuda"}, r"encoder\.device = 'cpu' only"),
        ({"model": "minilm", "dtype": "bfloat16"}, r"encoder\.dtype = 'float32' only"),
    ],
)
def test_what_it_does_not_compute_is_refused_with_the_fix(wanted: dict[str, Any], said: str) -> None:
    with pytest.raises(ModelUnavailableError, match=said):
        load_encoder(EncoderSettings(**wanted, backend="onnx"))


def test_it_loads_neither_torch_nor_transformers() -> None:
    code = (
        "import sys; from finray.core.settings import EncoderSettings;"
        "from finray.models.encoder_loading import load_encoder;"
        "load_encoder(EncoderSettings(model='minilm', backend='onnx')).encode_query('sales');"
        "print(sorted({'torch', 'transformers'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
