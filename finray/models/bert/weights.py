"""Weights of MiniLM and of the small models fine-tuned from it.

A state maps torch's names of weights to arrays: ``encoder.layer.0.output.dense.weight``. Word embeddings stay those of
MiniLM's package, so that finray ships only layers and heads, a byte for each weight.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import resources
from typing import IO, Any, Final

import numpy as np
import numpy.typing as npt

from finray.core.errors import ModelUnavailableError
from finray.models.minilm import minilm_folder

SIZE: Final = 384
"""Components of a token's state."""
HEADS: Final = 12
INNER: Final = 1536
"""Components between the two linear layers of a block."""
MINILM_LAYERS: Final = 6
MAX_POSITIONS: Final = 512
"""Tokens of the longest sequence."""
EPSILON: Final = 1e-12
WORDS: Final = "embeddings.word_embeddings.weight"
Floats = npt.NDArray[np.float32]
State = Mapping[str, npt.NDArray[Any]]
Shapes = Mapping[str, tuple[int, ...]]


def layer_shapes(layers: int) -> dict[str, tuple[int, ...]]:
    """Shapes of the weights of the first ``layers`` layers and of the embeddings, except those of words."""
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.position_embeddings.weight": (MAX_POSITIONS, SIZE),
        "embeddings.token_type_embeddings.weight": (2, SIZE),
        **_norm("embeddings.LayerNorm"),
    }
    for number in range(layers):
        layer = f"encoder.layer.{number}"
        shapes |= linear_shapes({f"{layer}.attention.self.{name}": SIZE for name in ("query", "key", "value")}, SIZE)
        shapes |= linear_shapes({f"{layer}.attention.output.dense": SIZE, f"{layer}.intermediate.dense": INNER}, SIZE)
        shapes |= linear_shapes({f"{layer}.output.dense": SIZE}, INNER)
        shapes |= _norm(f"{layer}.attention.output.LayerNorm") | _norm(f"{layer}.output.LayerNorm")
    return shapes


def linear_inputs(layers: int) -> dict[str, int]:
    """The number of inputs of each linear layer of the first ``layers`` layers; query, key and value count as one."""
    sizes = {"attention.self": SIZE, "attention.output.dense": SIZE, "intermediate.dense": SIZE, "output.dense": INNER}
    return {f"encoder.layer.{number}.{name}": size for number in range(layers) for name, size in sizes.items()}


def linear_shapes(outputs: Mapping[str, int], inputs: int) -> dict[str, tuple[int, ...]]:
    """Shapes of the weights of linear layers over ``inputs`` components, by the number of ``outputs`` of each."""
    weights: dict[str, tuple[int, ...]] = {f"{name}.weight": (size, inputs) for name, size in outputs.items()}
    return weights | {f"{name}.bias": (size,) for name, size in outputs.items()}


def fitting(state: State, shapes: Shapes, prefix: str = "") -> dict[str, Floats]:
    """The weights of ``state`` that ``shapes`` lists, without the ``prefix`` of their names. Raises
    ModelUnavailableError if one is missing or has another shape."""
    if lacking := [prefix + name for name in shapes if prefix + name not in state]:
        raise ModelUnavailableError(f"these weights are of another version: they lack {lacking[:3]}; train again")
    for name, shape in shapes.items():
        if (found := state[prefix + name].shape) != shape:
            raise ModelUnavailableError(
                f"weights of another reader: {prefix + name} is {list(found)} instead of {list(shape)}; train it again"
            )
    return {name: np.asarray(state[prefix + name], dtype=np.float32) for name in shapes}


def minilm_weights() -> dict[str, Floats]:
    """The state of all-MiniLM-L6-v2, float32, without word embeddings. Raises ModelUnavailableError if its package is
    missing."""
    return _read_minilm(lambda name: name != WORDS)


@cache
def minilm_words() -> Floats:
    """MiniLM's word embeddings, float32 [words, SIZE], read once per process. Raises ModelUnavailableError if its
    package is missing."""
    return _read_minilm(lambda name: name == WORDS)[WORDS]


def quantized(state: State) -> dict[str, npt.NDArray[Any]]:
    """``state`` with matrices as int8, each row with its own scale (``NAME.scale``), and the rest as float16."""
    small: dict[str, npt.NDArray[Any]] = {}
    for name, value in state.items():
        if value.ndim != 2:
            small[name] = value.astype(np.float16)
            continue
        scale = np.maximum(np.abs(value).max(axis=1, keepdims=True), 1e-8) / 127
        small[name] = np.round(value / scale).astype(np.int8)
        small[f"{name}.scale"] = scale.astype(np.float32)
    return small


def read_weights(file: IO[bytes]) -> dict[str, Floats]:
    """The float32 weights of a file that :func:`quantized` made."""
    with np.load(file, allow_pickle=False) as saved:
        found = {}
        for name in saved.files:
            if not name.endswith(".scale"):
                value = saved[name].astype(np.float32)
                found[name] = value * saved[f"{name}.scale"] if f"{name}.scale" in saved.files else value
        return found


def shipped_weights(file: str) -> dict[str, Floats]:
    """The weights in ``file``, which ships with finray."""
    with resources.files("finray.models").joinpath(file).open("rb") as opened:
        return read_weights(opened)


def _read_minilm(wanted: Callable[[str], bool]) -> dict[str, Floats]:
    from safetensors import safe_open

    with safe_open(minilm_folder() / "model.safetensors", framework="np") as file:
        return {name: file.get_tensor(name) for name in filter(wanted, file.keys())}


def _norm(name: str) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": (SIZE,), f"{name}.bias": (SIZE,)}
