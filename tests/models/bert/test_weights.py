"""Packing of weights."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import numpy.typing as npt

from finray.models.bert.weights import quantized, read_weights


def _packed(state: dict[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[np.float32]]:
    file = io.BytesIO()
    np.savez_compressed(file, **quantized(state))  # type: ignore[arg-type]
    file.seek(0)
    return read_weights(file)


def test_packed_weights_come_back_within_half_a_step() -> None:
    random = np.random.default_rng(0)
    state: dict[str, npt.NDArray[Any]] = {
        "bert.matrix": random.normal(size=(7, 5)).astype(np.float32),
        "bert.bias": random.normal(size=7).astype(np.float32),
    }
    back = _packed(state)
    step = np.abs(state["bert.matrix"]).max(axis=1, keepdims=True) / 127
    assert (np.abs(back["bert.matrix"] - state["bert.matrix"]) <= step / 2 + 1e-6).all()
    assert np.allclose(back["bert.bias"], state["bert.bias"], atol=2e-3)


def test_a_row_of_zeros_stays_zeros() -> None:
    assert not _packed({"ops.weight": np.zeros((2, 3), dtype=np.float32)})["ops.weight"].any()
