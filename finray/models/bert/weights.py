"""Weights of MiniLM, of the small models that were fine-tuned from it, and what of a model's state is its layers.

A state is a mapping of names to arrays, as torch names them: ``encoder.layer.0.output.dense.weight``. The word
embeddings stay those of MiniLM's package, so only layers and heads come with finray, a byte a weight.
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
PLACES: Final = 512
"""Tokens of the longest sequence."""
EPSILON: Final = 1e-12
WORDS: Final = "embeddings.word_embeddings.weight"
Floats = npt.NDArray[np.float32]
State = Mapping[str, npt.NDArray[Any]]
Shapes = Mapping[str, tuple[int, ...]]


def layer_shapes(layers: int) -> dict[str, tuple[int, ...]]:
    """The weights of the first ``layers`` layers and of the embeddings, without those of words."""
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.position_embeddings.weight": (PLACES, SIZE),
        "embeddings.token_type_embeddings.weight": (2, SIZE),
        **_norm("embeddings.LayerNorm"),
    }
    for number in range(layers):
        own = f"encoder.layer.{number}"
        for name in ("query", "key", "value"):
            shapes |= _linear(f"{own}.attention.self.{name}", SIZE, SIZE)
        shapes |= _linear(f"{own}.attention.output.dense", SIZE, SIZE) | _norm(f"{own}.attention.output.LayerNorm")
        shapes |= _linear(f"{own}.intermediate.dense", INNER, SIZE)
        shapes |= _linear(f"{own}.output.dense", SIZE, INNER) | _norm(f"{own}.output.LayerNorm")
    return shapes


def fitting(state: State, shapes: Shapes, prefix: str = "") -> dict[str, Floats]:
    """The weights that ``shapes`` names, which ``state`` has under ``prefix``. Raises ModelUnavailableError if one is
    missing or has another shape."""
    lacking = [prefix + name for name in shapes if prefix + name not in state]
    if lacking:
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
    """What :func:`quantized` packed, as float32."""
    with np.load(file, allow_pickle=False) as saved:
        found = {}
        for name in saved.files:
            if not name.endswith(".scale"):
                value = saved[name].astype(np.float32)
                found[name] = value * saved[f"{name}.scale"] if f"{name}.scale" in saved.files else value
        return found


def shipped_weights(file: str) -> dict[str, Floats]:
    """The weights of ``file`` that come with finray."""
    with resources.files("finray.models").joinpath(file).open("rb") as opened:
        return read_weights(opened)


def _read_minilm(wanted: Callable[[str], bool]) -> dict[str, Floats]:
    from safetensors import safe_open

    with safe_open(minilm_folder() / "model.safetensors", framework="np") as file:
        return {name: file.get_tensor(name) for name in filter(wanted, file.keys())}


def _linear(name: str, outputs: int, inputs: int) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}


def _norm(name: str) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": (SIZE,), f"{name}.bias": (SIZE,)}
