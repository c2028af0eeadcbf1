"""Observes the ranges of the inputs of linear layers, by which a model computes in int8 afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import numpy as np
import torch
from torch import nn

from finray.lab.training.minilm_module import Bert
from finray.models.bert.weights import Floats, linear_inputs


@contextmanager
def observed_ranges(bert: Bert, layers: int) -> Iterator[dict[str, Floats]]:
    """The lowest and the highest input of each linear layer while ``bert`` computes, without dropout and gradients.

    Filled when the block ends: ``bert.LAYER.low`` and ``bert.LAYER.high``, float32 [inputs]
    (``finray.models.bert.forward.input_ranges`` reads them). Raises ValueError if nothing was computed.
    """
    seen: dict[str, tuple[torch.Tensor, torch.Tensor]] = {}

    def observe(name: str, _: nn.Module, inputs: tuple[torch.Tensor]) -> None:
        flat = inputs[0].float().flatten(0, -2)
        low, high = flat.amin(0), flat.amax(0)
        if name in seen:
            low, high = torch.minimum(low, seen[name][0]), torch.maximum(high, seen[name][1])
        seen[name] = low, high

    modules = dict(bert.named_modules())
    hooks = []
    for name in linear_inputs(layers):
        # Query, key and value have the same inputs.
        module = modules[f"{name}.query" if name.endswith(".self") else name]
        hooks.append(module.register_forward_pre_hook(partial(observe, name)))
    training, found = bert.training, dict[str, Floats]()
    try:
        with torch.inference_mode():
            bert.eval()
            yield found
    finally:
        bert.train(training)
        for hook in hooks:
            hook.remove()
    if not seen:
        raise ValueError("no input was observed: compute at least one pass")
    for name, (low, high) in seen.items():
        found[f"bert.{name}.low"] = low.cpu().numpy().astype(np.float32)
        found[f"bert.{name}.high"] = high.cpu().numpy().astype(np.float32)
