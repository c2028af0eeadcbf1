"""Forward passes of MiniLM's layers on the CPU by ONNX Runtime, which loads in half a second instead of torch's three.

Fine-tuned layers compute in int8 if the processor multiplies bytes fast, and in float32 otherwise
(``docs/benchmarks.md``).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TypeVar

import numpy as np

from finray.models.bert.int8 import InputRange
from finray.models.bert.packing import Packed
from finray.models.bert.weights import (
    EPSILON,
    MINILM_LAYERS,
    Floats,
    State,
    fitting,
    layer_shapes,
    linear_inputs,
    minilm_weights,
    minilm_words,
)
from finray.models.devices import multiplies_int8

T = TypeVar("T")
R = TypeVar("R")


class ForwardPass:
    """Passes through the first ``layers`` layers of ``state``, over MiniLM's word embeddings; each takes one processor.
    Thread-safe."""

    def __init__(
        self,
        state: State,
        layers: int,
        ranges: Mapping[str, InputRange] | None = None,
    ) -> None:
        """``ranges`` are those of the inputs of the linear layers, for int8. Raises ModelUnavailableError if MiniLM's
        package is missing."""
        import onnxruntime

        from finray.models.bert.onnx_graph import layers_graph

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # to keep processors busy, compute several passes at a time
        graph = layers_graph(state, layers, ranges)
        self._weights = [onnxruntime.OrtValue.ortvalue_from_numpy(value) for value in graph.weights.values()]
        options.add_external_initializers(list(graph.weights), self._weights)
        self._session = onnxruntime.InferenceSession(graph.model, options, providers=["CPUExecutionProvider"])
        self._state = {name: value for name, value in state.items() if name.startswith("embeddings")}

    def states(self, batch: Packed, added: Floats | None = None) -> list[Floats]:
        """The last states of each sequence, float32 [its tokens, SIZE]. ``added`` [tokens, SIZE] is added to the
        embeddings."""
        from finray.models.bert.onnx_graph import INPUTS

        lengths = batch.mask.sum(axis=1)
        embeddings = embedded(self._state, batch, added)
        inputs = (embeddings, batch.indexes, np.flatnonzero(batch.mask), lengths.astype(np.int32))
        (last,) = self._session.run(None, dict(zip(INPUTS, inputs, strict=True)))
        return np.split(last, np.cumsum(lengths)[:-1])


def fine_tuned_pass(state: State, layers: int) -> ForwardPass:
    """Passes of fine-tuned layers, whose weights and ranges are in ``state`` under the prefix ``bert.``.

    Raises ModelUnavailableError if MiniLM's package is missing or ``state`` does not fit.
    """
    ranges = input_ranges(state, layers)
    return ForwardPass(fitting(state, layer_shapes(layers), "bert."), layers, ranges if multiplies_int8() else None)


def input_ranges(state: State, layers: int) -> dict[str, InputRange]:
    """The ranges in ``state`` under the prefix ``bert.``. Raises ModelUnavailableError if one is missing."""
    sizes = linear_inputs(layers)
    shapes = {f"{name}.{end}": (size,) for name, size in sizes.items() for end in ("low", "high")}
    found = fitting(state, shapes, "bert.")
    return {name: InputRange(found[f"{name}.low"], found[f"{name}.high"]) for name in sizes}


@cache
def minilm_pass() -> ForwardPass:
    """Passes of MiniLM itself, loaded once per process. Raises ModelUnavailableError if its package is missing."""
    return ForwardPass(fitting(minilm_weights(), layer_shapes(MINILM_LAYERS)), MINILM_LAYERS)


def embedded(state: State, batch: Packed, added: Floats | None = None) -> Floats:
    """The input of the first layer, [tokens, SIZE]: embeddings of word, position and type, and ``added``, added up and
    normalized."""
    total = minilm_words()[batch.ids]
    if added is not None:
        total += added
    total += state["embeddings.position_embeddings.weight"][batch.positions]
    total += state["embeddings.token_type_embeddings.weight"][batch.types]
    total -= total.mean(axis=1, keepdims=True)
    total /= np.sqrt((total * total).mean(axis=1, keepdims=True) + EPSILON)
    normed: Floats = total * state["embeddings.LayerNorm.weight"] + state["embeddings.LayerNorm.bias"]
    return normed


def on_processors(function: Callable[[T], R], given: Sequence[T], threads: int) -> list[R]:
    """``function`` of each of ``given``, for ``threads`` of them at a time."""
    if threads == 1 or len(given) < 2:
        return [function(each) for each in given]
    with ThreadPoolExecutor(min(threads, len(given))) as pool:
        return list(pool.map(function, given))


def processor_threads() -> int:
    """Passes at a time: OMP_NUM_THREADS, as in torch, or one for each processor that this process may use."""
    asked = os.environ.get("OMP_NUM_THREADS", "")
    return int(asked) if asked.isdecimal() and int(asked) else len(os.sched_getaffinity(0))
