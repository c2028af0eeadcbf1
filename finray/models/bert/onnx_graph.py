"""MiniLM's layers over packed sequences as a graph for ONNX Runtime, built when it is needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

from finray.models.bert.weights import EPSILON, HEADS, SIZE, Floats, State

EMBEDDED, PLACES, TOKENS, LENGTHS = INPUTS = ("embedded", "places", "tokens", "lengths")
_OWN = "com.microsoft"
"""Operators of ONNX Runtime alone: attention, and sums that are normalized."""
_OPSETS = (helper.make_opsetid("", 18), helper.make_opsetid(_OWN, 1))
_IR_VERSION = 9
_EXTERNAL = TensorProto.EXTERNAL
_FLAT = "flat"


@dataclass(frozen=True, slots=True)
class Graph:
    """``model`` is serialized and expects ``weights`` under their names, in memory: nothing copies them."""

    model: bytes
    weights: Mapping[str, Floats]


def layers_graph(state: State, layers: int) -> Graph:
    """From ``embedded``, float32 [tokens, SIZE], to the last states of the tokens, of that shape.

    ``places``, int64 [sequences, longest], is the token at each place of a sequence, any if it ends before; ``tokens``,
    int64 [tokens], where each token stands in these, counted through; ``lengths``, int32, the tokens of each sequence.
    """
    graph = _Building(state)
    states = EMBEDDED
    for number in range(layers):
        states = graph.layer(f"encoder.layer.{number}", states)
    model = helper.make_model(graph.finished(states), opset_imports=_OPSETS, ir_version=_IR_VERSION)
    return Graph(model.SerializeToString(), graph.weights)


class _Building:
    def __init__(self, state: State) -> None:
        self._state = state
        self.weights: dict[str, Floats] = {}
        self._nodes: list[onnx.NodeProto] = []

    def layer(self, name: str, states: str) -> str:
        """Adds the layer over ``states`` and returns what its states are called."""
        own = [f"{name}.attention.self.{part}" for part in ("query", "key", "value")]
        weight, bias = (np.concatenate([self._state[f"{part}.{kind}"] for part in own]) for kind in ("weight", "bias"))
        each = self._linear(f"{name}.attention.self", states, weight, bias)
        padded = self._add("Gather", [each, PLACES])
        seen = self._add("MultiHeadAttention", [*self._split(padded), "", LENGTHS], _OWN, num_heads=HEADS)
        there = self._add("Gather", [self._add("Reshape", [seen, _FLAT]), TOKENS])
        attended = self._normed(f"{name}.attention.output", there, states)
        inner = self._add("Gelu", [self._dense(f"{name}.intermediate.dense", attended)], _OWN)
        return self._normed(f"{name}.output", inner, attended)

    def finished(self, states: str) -> onnx.GraphProto:
        info = helper.make_tensor_value_info
        given = [
            info(EMBEDDED, TensorProto.FLOAT, ["tokens", SIZE]),
            info(PLACES, TensorProto.INT64, ["sequences", "longest"]),
            info(TOKENS, TensorProto.INT64, ["tokens"]),
            info(LENGTHS, TensorProto.INT32, ["sequences"]),
        ]
        last = info(states, TensorProto.FLOAT, ["tokens", SIZE])
        flat = helper.make_tensor(_FLAT, TensorProto.INT64, [2], [-1, SIZE])
        return helper.make_graph(self._nodes, "layers", given, [last], [flat, *map(self._elsewhere, self.weights)])

    def _normed(self, name: str, states: str, before: str) -> str:
        """The states after a linear layer, added to those ``before``, and normalized."""
        norm = [self._named(f"{name}.LayerNorm.{kind}") for kind in ("weight", "bias")]
        after = self._dense(f"{name}.dense", states)
        return self._add("SkipLayerNormalization", [after, before, *norm], _OWN, epsilon=EPSILON)

    def _dense(self, name: str, states: str) -> str:
        return self._linear(name, states, self._state[f"{name}.weight"], self._state[f"{name}.bias"])

    def _linear(self, name: str, states: str, weight: Floats, bias: Floats) -> str:
        weights = self._weight(f"{name}.weight", weight), self._weight(f"{name}.bias", bias)
        return self._add("Gemm", [states, *weights], transB=1)

    def _split(self, states: str) -> list[str]:
        parts = [f"{states}.{part}" for part in ("query", "key", "value")]
        self._nodes.append(helper.make_node("Split", [states], parts, axis=-1, num_outputs=3))
        return parts

    def _named(self, name: str) -> str:
        return self._weight(name, self._state[name])

    def _weight(self, name: str, value: Floats) -> str:
        self.weights[name] = np.ascontiguousarray(value)
        return name

    def _elsewhere(self, name: str) -> onnx.TensorProto:
        """Declares a weight that the session gets apart from the model."""
        shape = self.weights[name].shape
        tensor = onnx.TensorProto(name=name, data_type=TensorProto.FLOAT, dims=shape, data_location=_EXTERNAL)
        tensor.external_data.add(key="location", value="memory")
        return tensor

    def _add(self, operator: str, given: Sequence[str], domain: str = "", **attributes: Any) -> str:
        made = f"states.{len(self._nodes)}"
        self._nodes.append(helper.make_node(operator, given, [made], domain=domain, **attributes))
        return made
