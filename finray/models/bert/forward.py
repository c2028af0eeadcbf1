"""Forward passes of MiniLM's layers on the CPU: by ONNX Runtime, or by torch if the processor multiplies bf16 fast.

ONNX Runtime loads in half a second instead of torch's three, and is at least as fast in float32. On an AMD processor
with AVX512-BF16, torch's bf16 takes 60% of its own float32 (``docs/benchmarks.md``).
"""

from __future__ import annotations

import os
from functools import cache
from typing import Protocol

import numpy as np

from finray.models.bert.packing import Packed
from finray.models.bert.weights import (
    EPSILON,
    MINILM_LAYERS,
    Floats,
    State,
    fitting,
    layer_shapes,
    minilm_weights,
    minilm_words,
)
from finray.models.devices import multiplies_bf16


class ForwardPass(Protocol):
    """Thread-safe."""

    def states(self, batch: Packed) -> list[Floats]:
        """The last states of each sequence, float32 [its tokens, SIZE]."""
        ...


def forward_pass(state: State, layers: int) -> ForwardPass:
    """Passes through the first ``layers`` layers of ``state``, over MiniLM's word embeddings.

    Raises ModelUnavailableError if MiniLM's package is missing.
    """
    if multiplies_bf16():
        from finray.models.bert.torch_pass import TorchPass

        return TorchPass(state, layers)
    return OnnxPass(state, layers)


class OnnxPass:
    """A ForwardPass by ONNX Runtime, in float32."""

    def __init__(self, state: State, layers: int, threads: int | None = None) -> None:
        """``threads`` of a pass; None for :func:`processor_threads`."""
        import onnxruntime

        from finray.models.bert.onnx_graph import layers_graph

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = processor_threads() if threads is None else threads
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # several processes share a machine
        graph = layers_graph(state, layers)
        self._weights = [onnxruntime.OrtValue.ortvalue_from_numpy(value) for value in graph.weights.values()]
        options.add_external_initializers(list(graph.weights), self._weights)
        self._session = onnxruntime.InferenceSession(graph.model, options, providers=["CPUExecutionProvider"])
        self._state = {name: value for name, value in state.items() if name.startswith("embeddings")}

    def states(self, batch: Packed, added: Floats | None = None) -> list[Floats]:
        """As in ForwardPass; ``added`` [tokens, SIZE] is added to the embeddings."""
        from finray.models.bert.onnx_graph import INPUTS

        lengths = batch.mask.sum(axis=1)
        embeddings = embedded(self._state, batch, added)
        inputs = (embeddings, batch.indexes, np.flatnonzero(batch.mask), lengths.astype(np.int32))
        (last,) = self._session.run(None, dict(zip(INPUTS, inputs, strict=True)))
        return np.split(last, np.cumsum(lengths)[:-1])


@cache
def minilm_pass(threads: int | None = None) -> OnnxPass:
    """Passes of MiniLM itself, loaded once per process. Raises ModelUnavailableError if its package is missing."""
    return OnnxPass(fitting(minilm_weights(), layer_shapes(MINILM_LAYERS)), MINILM_LAYERS, threads)


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


def processor_threads() -> int:
    """Threads of a pass: OMP_NUM_THREADS, as in torch, or one for each processor."""
    asked = os.environ.get("OMP_NUM_THREADS", "")
    return int(asked) if asked.isdecimal() and int(asked) else os.cpu_count() or 1
