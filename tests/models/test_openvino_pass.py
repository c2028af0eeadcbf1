"""Forward passes by OpenVINO: as near to float32 as torch's, chosen only where they are faster, silent."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import numpy as np
import pytest
import torch

from finray.core.errors import MissingExtraError, ModelUnavailableError
from finray.core.settings import EncoderSettings
from finray.models import openvino_pass, transformer_encoder
from finray.models.encoder_loading import load_encoder
from finray.models.transformer_encoder import chosen_backend

CPU = torch.device("cpu")
TEXTS = ["Net sales by segment: " + "Safety 12,767 Transport 9,486 " * 60, "short", "", "dividends of $0.25 a share"]
needs_openvino = pytest.mark.skipif(
    importlib.util.find_spec("openvino") is None, reason="needs the extra openvino: pip install 'finray[openvino]'"
)


def test_auto_takes_openvino_if_it_is_there_and_the_processor_has_no_amx(monkeypatch: pytest.MonkeyPatch) -> None:
    for installed, amx, chosen in ((True, False, "openvino"), (True, True, "torch"), (False, False, "torch")):
        monkeypatch.setattr(transformer_encoder, "has_openvino", lambda installed=installed: installed)
        monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda amx=amx: amx)
        assert chosen_backend(EncoderSettings(), CPU) == chosen
        assert chosen_backend(EncoderSettings(), torch.device("cuda")) == "torch"
        assert chosen_backend(EncoderSettings(backend="torch"), CPU) == "torch"


def test_openvino_on_a_gpu_and_in_float16_are_refused_with_the_fix() -> None:
    with pytest.raises(ModelUnavailableError, match=r"encoder\.device = 'cpu'"):
        chosen_backend(EncoderSettings(backend="openvino", device="cuda"), torch.device("cuda"))
    with pytest.raises(ModelUnavailableError, match="'float16'"):
        openvino_pass.openvino_pass(torch.nn.Linear(1, 1), "float16", 1)


def test_a_missing_openvino_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openvino", None)
    with pytest.raises(MissingExtraError, match=r"finray\[openvino\]"):
        load_encoder(EncoderSettings(model="minilm", backend="openvino"), threads=1)


@needs_openvino
@pytest.mark.parametrize("fixed_shapes", [False, True])
def test_vectors_of_both_backends_agree(fixed_shapes: bool) -> None:
    exact = load_encoder(EncoderSettings(model="minilm", backend="torch", dtype="float32"), threads=1).encode_passages(
        TEXTS
    )
    encoder = load_encoder(EncoderSettings(model="minilm", backend="openvino"), threads=1, fixed_shapes=fixed_shapes)
    vectors = encoder.encode_passages(TEXTS)
    assert (exact * vectors).sum(axis=1).min() > 0.9998
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    np.testing.assert_array_equal(vectors, encoder.encode_passages(TEXTS))


@needs_openvino
def test_openvino_does_not_report_its_use() -> None:
    code = (
        "import sys; from finray.core.settings import EncoderSettings;"
        "from finray.models.encoder_loading import load_encoder;"
        "load_encoder(EncoderSettings(model='minilm', backend='openvino'), threads=1);"
        "print('openvino_telemetry' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert found == "False\n"
