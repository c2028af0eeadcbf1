"""Ranges of the inputs of linear layers."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from finray.lab.training.input_ranges import observed_ranges
from finray.lab.training.minilm_module import minilm_layers
from finray.models.bert.forward import input_ranges
from finray.models.bert.packing import packed
from finray.models.bert.weights import linear_inputs

LAYERS = 2
SHORT, LONG = packed([[2000, 2001]], [2]), packed([[3000, 3001, 3002, 3003]], [4])


def test_every_linear_layer_has_a_range_that_grows_with_what_is_seen() -> None:
    bert = minilm_layers(LAYERS)
    with observed_ranges(bert, LAYERS) as of_one:
        bert(SHORT)
    with observed_ranges(bert, LAYERS) as of_both:
        bert(SHORT)
        bert(LONG)
    few, more = input_ranges(of_one, LAYERS), input_ranges(of_both, LAYERS)
    assert few.keys() == more.keys() == linear_inputs(LAYERS).keys()
    for name, size in linear_inputs(LAYERS).items():
        assert few[name].low.shape == (size,)
        assert (few[name].low <= few[name].high).all()
        assert (more[name].low <= few[name].low).all()
        assert (more[name].high >= few[name].high).all()
    assert any((more[name].high > few[name].high).any() for name in more)


def test_the_module_is_trained_on_afterwards() -> None:
    bert = minilm_layers(LAYERS).train()
    with observed_ranges(bert, LAYERS) as found:
        assert not bert.training
        bert(SHORT)
    assert bert.training
    before = {name: value.copy() for name, value in found.items()}
    torch.stack(bert(LONG)).sum().backward()
    assert all(np.array_equal(found[name], value) for name, value in before.items())


def test_nothing_computed_is_an_error() -> None:
    with pytest.raises(ValueError, match="at least one pass"), observed_ranges(minilm_layers(LAYERS), LAYERS):
        pass
