"""all-MiniLM-L6-v2 by ONNX Runtime, for processors that do not multiply bf16: a sixth faster there than torch, and
without the seconds that torch and transformers take to load.

Passes are packed: on the processors that were tried, a vector has the same bits whatever is encoded with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from finray.core.errors import ModelUnavailableError
from finray.core.settings import EncoderSettings
from finray.models.bert.forward import minilm_pass
from finray.models.bert.packing import packed
from finray.models.bert.tokens import CLS, SEP, tokens_of
from finray.models.bert.weights import PLACES, SIZE
from finray.models.devices import has_openvino, multiplies_bf16
from finray.models.encoder import Vectors

_PASS_TOKENS = 1_024
"""Tokens of a forward pass; one with 8,000 takes a tenth longer for each."""
_GPUS = ("/dev/nvidiactl", "/dev/kfd", "/dev/dxg")


class MiniLmEncoder:
    """``finray.models.encoder.Encoder``, in float32. Texts are cut to ``encoder.max_tokens``.

    ``threads``: those of a pass; None: as many as ONNX Runtime may take. ``fixed_shapes``: as for TransformerEncoder,
    texts of one pass are of one length. Raises ModelUnavailableError.
    """

    dimension = SIZE

    def __init__(self, settings: EncoderSettings, threads: int | None = None, *, fixed_shapes: bool = False) -> None:
        self._settings = settings
        self._forward = minilm_pass(threads)
        self._fixed_shapes = fixed_shapes
        self._longest = min(settings.max_tokens, PLACES) - 2

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        return self._encode([self._settings.passage_prefix + text for text in texts])

    def encode_query(self, text: str) -> Vectors:
        vector: Vectors = self._encode([self._settings.query_prefix + text])[0]
        return vector

    def _encode(self, texts: Sequence[str]) -> Vectors:
        means = np.empty((len(texts), SIZE), dtype=np.float32)
        read = [[CLS, *ids[: self._longest], SEP] for ids in tokens_of(texts)]
        for numbers in _passes([len(ids) for ids in read], same_length=self._fixed_shapes):
            given = packed([read[number] for number in numbers], [PLACES] * len(numbers))
            means[numbers] = [states.mean(0) for states in self._forward.states(given)]
        vectors: Vectors = means / np.linalg.norm(means, axis=1, keepdims=True)
        return vectors


def _passes(lengths: Sequence[int], *, same_length: bool) -> Iterator[list[int]]:
    """Numbers of the texts of each pass: texts of like length, because attention is padded to the longest."""
    numbers: list[int] = []
    tokens = 0
    for number in sorted(range(len(lengths)), key=lambda number: lengths[number]):
        other = same_length and numbers and lengths[number] != lengths[numbers[0]]
        if numbers and (other or tokens + lengths[number] > _PASS_TOKENS):
            yield numbers
            numbers, tokens = [], 0
        numbers.append(number)
        tokens += lengths[number]
    if numbers:
        yield numbers


def computes_in_onnx(settings: EncoderSettings) -> bool:
    """Whether ONNX Runtime computes the encoder of ``settings``: if ``encoder.backend`` says so, or with "auto" MiniLM
    in float32 on a processor without bf16, if neither a GPU nor OpenVINO is at hand.

    Raises ModelUnavailableError for a model, a device or a precision that it does not compute.
    """
    if settings.backend == "auto":
        return (
            settings.model == "minilm"
            and settings.dtype in ("auto", "float32")
            and (settings.device == "cpu" or (settings.device == "auto" and not _may_have_gpu()))
            and not multiplies_bf16()
            and not has_openvino()
        )
    if settings.backend != "onnx":
        return False
    for name, value, computed in (
        ("model", settings.model, ("minilm",)),
        ("device", settings.device, ("auto", "cpu")),
        ("dtype", settings.dtype, ("auto", "float32")),
    ):
        if value not in computed:
            raise ModelUnavailableError(
                f"encoder.backend = 'onnx' computes encoder.{name} = {computed[-1]!r} only, not {value!r}; set it so, "
                "or encoder.backend = 'torch'"
            )
    return True


def _may_have_gpu() -> bool:
    """Whether a GPU's driver is there; only torch can tell whether it computes."""
    return any(Path(device).exists() for device in _GPUS)
