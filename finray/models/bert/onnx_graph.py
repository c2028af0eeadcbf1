"""Builds a graph of MiniLM's layers over packed sequences for ONNX Runtime, in float32 or with int8 linear layers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper

from finray.models.bert.int8 import InputRange, Int8Linear
from finray.models.bert.weights import EPSILON, HEADS, SIZE, Floats, State

EMBEDDINGS, PADDING, UNPADDING, LENGTHS = INPUTS = ("embeddings", "padding", "unpadding", "lengths")
_MICROSOFT = "com.microsoft"
"""Domain of the operators that only ONNX Runtime has."""
_OPSETS = (helper.make_opsetid("", 18), helper.make_opsetid(_MICROSOFT, 1))
_IR_VERSION = 9
_EXTERNAL = TensorProto.EXTERNAL
_FLAT = "flat"


@dataclass(frozen=True, slots=True)
class Graph:
    """``model`` is serialized. It refers to ``weights`` in memory by their names, so nothing copies them."""

    model: bytes
    weights: Mapping[str, npt.NDArray[Any]]


def layers_graph(state: State, layers: int, ranges: Mapping[str, InputRange] | None = None) -> Graph:
    """A graph from ``embeddings``, float32 [tokens, SIZE], to the last states of the tokens, of the same shape.

    ``padding``, int64 [sequences, longest], is the number of the token at each position of a sequence, any number after
    its end; ``unpadding``, int64 [tokens], the flat index of each token in ``padding``; ``lengths``, int32 [sequences],
    the number of tokens of each sequence.

    With the ``ranges`` of the inputs of all linear layers (``finray.models.bert.weights.linear_inputs``), these compute
    in int8.
    """
    builder = _GraphBuilder(state, ranges)
    states = EMBEDDINGS
    for number in range(layers):
        states = builder.layer(f"encoder.layer.{number}", states)
    model = helper.make_model(builder.graph(states), opset_imports=_OPSETS, ir_version=_IR_VERSION)
    return Graph(model.SerializeToString(), builder.weights)


class _GraphBuilder:
    """Adds nodes and weights; values between nodes go by their names."""

    def __init__(self, state: State, ranges: Mapping[str, InputRange] | None) -> None:
        self._state = state
        self._ranges = ranges
        self.weights: dict[str, npt.NDArray[Any]] = {}
        self._nodes: list[onnx.NodeProto] = []

    def layer(self, name: str, states: str) -> str:
        """Add the layer over ``states``; return the name of its output."""
        parts = [f"{name}.attention.self.{part}" for part in ("query", "key", "value")]
        weight, bias = (np.concatenate([self._state[f"{p}.{kind}"] for p in parts]) for kind in ("weight", "bias"))
        projected = self._linear(f"{name}.attention.self", states, weight, bias)
        padded = self._add("Gather", [projected, PADDING])
        attention = self._add("MultiHeadAttention", [*self._split(padded), "", LENGTHS], _MICROSOFT, num_heads=HEADS)
        unpadded = self._add("Gather", [self._add("Reshape", [attention, _FLAT]), UNPADDING])
        attended = self._residual(f"{name}.attention.output", unpadded, states)
        inner = self._add("Gelu", [self._dense(f"{name}.intermediate.dense", attended)], _MICROSOFT)
        return self._residual(f"{name}.output", inner, attended)

    def graph(self, output: str) -> onnx.GraphProto:
        info = helper.make_tensor_value_info
        inputs = [
            info(EMBEDDINGS, TensorProto.FLOAT, ["tokens", SIZE]),
            info(PADDING, TensorProto.INT64, ["sequences", "longest"]),
            info(UNPADDING, TensorProto.INT64, ["tokens"]),
            info(LENGTHS, TensorProto.INT32, ["sequences"]),
        ]
        last = info(output, TensorProto.FLOAT, ["tokens", SIZE])
        flat = helper.make_tensor(_FLAT, TensorProto.INT64, [2], [-1, SIZE])
        return helper.make_graph(self._nodes, "layers", inputs, [last], [flat, *map(self._external, self.weights)])

    def _residual(self, name: str, states: str, before: str) -> str:
        """A linear layer over ``states``, added to ``before`` and normalized."""
        norm = [self._weight(key, self._state[key]) for key in (f"{name}.LayerNorm.weight", f"{name}.LayerNorm.bias")]
        after = self._dense(f"{name}.dense", states)
        # ONNX Runtime's SkipLayerNormalization, which does both, takes six times as long.
        return self._add("LayerNormalization", [self._add("Add", [after, before]), *norm], epsilon=EPSILON)

    def _dense(self, name: str, states: str) -> str:
        return self._linear(name, states, self._state[f"{name}.weight"], self._state[f"{name}.bias"])

    def _linear(self, name: str, states: str, weight: Floats, bias: Floats) -> str:
        biases = self._weight(f"{name}.bias", bias)
        if self._ranges is not None:
            return self._int8(name, states, Int8Linear.of(weight, self._ranges[name]), biases)
        return self._add("Gemm", [states, self._weight(f"{name}.weight", weight), biases], transB=1)

    def _int8(self, name: str, states: str, layer: Int8Linear, biases: str) -> str:
        factor, weight, weight_steps, step, zero = (
            self._weight(f"{name}.{part}", value)
            for part, value in (
                ("factor", layer.factor),
                ("weight", layer.weight),
                ("weight_steps", layer.weight_steps),
                ("step", np.asarray(layer.step, dtype=np.float32)),
                ("zero", np.asarray(layer.zero, dtype=np.uint8)),
            )
        )
        rounded = self._add("QuantizeLinear", [self._add("Mul", [states, factor]), step, zero])
        inputs = [rounded, weight, step, weight_steps, zero, "", biases]
        return self._add("MatMulIntegerToFloat", inputs, _MICROSOFT)

    def _split(self, states: str) -> list[str]:
        parts = [f"{states}.{part}" for part in ("query", "key", "value")]
        self._nodes.append(helper.make_node("Split", [states], parts, axis=-1, num_outputs=3))
        return parts

    def _weight(self, name: str, value: npt.NDArray[Any]) -> str:
        self.weights[name] = np.ascontiguousarray(value)
        return name

    def _external(self, name: str) -> onnx.TensorProto:
        """Declare a weight that the session gets apart from the model."""
        value = self.weights[name]
        kind = helper.np_dtype_to_tensor_dtype(value.dtype)
        tensor = onnx.TensorProto(name=name, data_type=kind, dims=value.shape, data_location=_EXTERNAL)
        tensor.external_data.add(key="location", value="memory")
        return tensor

    def _add(self, operator: str, inputs: Sequence[str], domain: str = "", **attributes: Any) -> str:
        output = f"states.{len(self._nodes)}"
        self._nodes.append(helper.make_node(operator, inputs, [output], domain=domain, **attributes))
        return output
