"""Forward passes by ONNX Runtime and by torch: the states of transformers' own BERT, chosen by the processor."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import torch

from finray.models import devices
from finray.models.bert.forward import ForwardPass, OnnxPass, forward_pass, processor_threads
from finray.models.bert.packing import packed
from finray.models.bert.torch_pass import TorchPass
from finray.models.bert.weights import fitting, layer_shapes, minilm_weights
from finray.models.devices import fast_bf16, multiplies_bf16
from finray.models.minilm import minilm_folder

SEQUENCES = [list(range(2000, 2000 + length)) for length in (5, 30, 1, 17)]
SECOND = [2, 30, 0, 9]
LAYERS = 6


def _state() -> dict[str, np.typing.NDArray[np.float32]]:
    return fitting(minilm_weights(), layer_shapes(LAYERS))


@pytest.fixture(scope="module")
def expected() -> list[np.typing.NDArray[np.float32]]:
    """The states of each sequence alone."""
    from transformers import AutoModel

    bert = AutoModel.from_pretrained(str(minilm_folder())).eval()
    found = []
    with torch.inference_mode():
        for tokens, second in zip(SEQUENCES, SECOND, strict=True):
            types = (torch.arange(len(tokens)) >= second).long()[None]
            states = bert(input_ids=torch.tensor([tokens]), token_type_ids=types).last_hidden_state[0]
            found.append(states.numpy())
    return found


@pytest.mark.parametrize("backend", ["onnx", "torch"])
def test_states_are_those_of_each_sequence_alone(backend: str, expected: list[np.typing.NDArray[np.float32]]) -> None:
    one: ForwardPass = OnnxPass(_state(), LAYERS) if backend == "onnx" else TorchPass(_state(), LAYERS, torch.float32)
    states = one.states(packed(SEQUENCES, SECOND))
    assert [len(own) for own in states] == [len(own) for own in SEQUENCES]
    for own, wanted in zip(states, expected, strict=True):
        np.testing.assert_allclose(own, wanted, atol=1e-4)


def test_bf16_comes_close(expected: list[np.typing.NDArray[np.float32]]) -> None:
    for own, wanted in zip(TorchPass(_state(), LAYERS).states(packed(SEQUENCES, SECOND)), expected, strict=True):
        cosines = (own * wanted).sum(1) / np.linalg.norm(own, axis=1) / np.linalg.norm(wanted, axis=1)
        assert cosines.min() > 0.995


def test_threads_share_a_pass() -> None:
    one, given = OnnxPass(_state(), LAYERS), [packed([own], [0]) for own in SEQUENCES]
    alone = [one.states(each)[0] for each in given]
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(lambda each: one.states(each)[0], given * 5))
    for at, states in enumerate(together):
        np.testing.assert_array_equal(states, alone[at % len(alone)])


@pytest.mark.parametrize(
    ("text", "fast"),
    [
        ("vendor_id\t: AuthenticAMD\nflags\t\t: fpu avx2\nflags\t\t: fpu avx2 avx512_bf16\n", True),
        ("vendor_id : GenuineIntel\nflags : fpu avx2 avx512_bf16\n", False),
        ("vendor_id : GenuineIntel\nflags : avx512_bf16 amx_bf16\n", True),
        ("flags : amx_bf16 amx_tile\n", True),
        ("flags : fpu avx avx2 avx512f\nmodel name : avx512_bf16\n", False),
        (None, False),
    ],
)
def test_the_processor_chooses(text: str | None, fast: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    info = tmp_path / "cpuinfo"
    if text is not None:
        info.write_text(text)
    monkeypatch.setattr(devices, "_CPU_INFO", info)
    multiplies_bf16.cache_clear()
    try:
        assert isinstance(forward_pass(_state(), 1), TorchPass if fast else OnnxPass)
        assert fast_bf16(torch.device("cpu")) is fast
    finally:
        multiplies_bf16.cache_clear()


def test_threads_are_those_that_openmp_would_take(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert processor_threads() == 3
    for unset in ("", "0", "all"):
        monkeypatch.setenv("OMP_NUM_THREADS", unset)
        assert processor_threads() >= 1
