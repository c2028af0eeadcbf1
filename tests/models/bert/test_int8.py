"""Linear layers in int8."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.models.bert.int8 import InputRange, Int8Linear
from finray.models.bert.weights import Floats


def _computed(layer: Int8Linear, inputs: Floats) -> Floats:
    """What ONNX Runtime computes from a layer."""
    rounded = np.clip(np.round(inputs * layer.factor / layer.step) + layer.zero, 0, 255) - layer.zero
    product: Floats = (rounded @ layer.weight.astype(np.float32)) * layer.step * layer.weight_steps
    return product


def _range(inputs: Floats) -> InputRange:
    return InputRange(inputs.min(axis=0), inputs.max(axis=0))


def _ones(*shape: int) -> Floats:
    return np.ones(shape, dtype=np.float32)


@given(st.integers(0, 2**32 - 1), st.floats(0.1, 30.0))
def test_products_are_close(seed: int, outlier: float) -> None:
    """Also if one input reaches much further than the others, as MiniLM's do."""
    random = np.random.default_rng(seed)
    inputs = random.normal(size=(40, 64)).astype(np.float32)
    inputs[:, 3] *= outlier
    weight = random.normal(size=(16, 64)).astype(np.float32) * 0.05
    exact = inputs @ weight.T
    found = _computed(Int8Linear.of(weight, _range(inputs)), inputs)
    assert np.abs(found - exact).mean() < 0.03 * np.abs(exact).mean()


def test_zero_stays_zero() -> None:
    reach: Floats = 2 * _ones(3)
    layer = Int8Linear.of(_ones(2, 3), InputRange(_ones(3), reach))
    assert not _computed(layer, 0 * _ones(1, 3)).any()


def test_inputs_out_of_range_count_as_its_ends() -> None:
    layer = Int8Linear.of(_ones(1, 2), InputRange(-_ones(2), _ones(2)))
    assert _computed(layer, 9 * _ones(1, 2)) == pytest.approx(2 * _ones(1, 1), abs=0.05)


def test_layers_without_weights_or_inputs_are_finite() -> None:
    layer = Int8Linear.of(0 * _ones(2, 3), InputRange(0 * _ones(3), 0 * _ones(3)))
    assert not _computed(layer, _ones(1, 3)).any()
