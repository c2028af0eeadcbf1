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
from finray.models.bert.forward import minilm_pass, on_processors, processor_threads
from finray.models.bert.packing import packed
from finray.models.bert.tokens import CLS, SEP, tokens_of
from finray.models.bert.weights import MAX_POSITIONS, SIZE
from finray.models.devices import has_openvino, multiplies_bf16
from finray.models.encoder import Vectors

_PASS_TOKENS = 1_024
"""Tokens of a forward pass; with 8,000, each token takes a tenth longer."""
_GPUS = ("/dev/nvidiactl", "/dev/kfd", "/dev/dxg")


class MiniLmEncoder:
    """``finray.models.encoder.Encoder``, in float32. Texts are cut to ``encoder.max_tokens``.

    ``threads`` is the number of passes at a time; None for :func:`processor_threads`. With ``fixed_shapes``, the texts
    of one pass have the same length, as in TransformerEncoder. Raises ModelUnavailableError.
    """

    dimension = SIZE

    def __init__(self, settings: EncoderSettings, threads: int | None = None, *, fixed_shapes: bool = False) -> None:
        self._settings = settings
        self._forward = minilm_pass()
        self._threads = processor_threads() if threads is None else threads
        self._fixed_shapes = fixed_shapes
        self._longest = min(settings.max_tokens, MAX_POSITIONS) - 2

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        return self._encode([self._settings.passage_prefix + text for text in texts])

    def encode_query(self, text: str) -> Vectors:
        vector: Vectors = self._encode([self._settings.query_prefix + text])[0]
        return vector

    def _encode(self, texts: Sequence[str]) -> Vectors:
        means = np.empty((len(texts), SIZE), dtype=np.float32)
        sequences = [[CLS, *ids[: self._longest], SEP] for ids in tokens_of(texts)]

        def encode(rows: list[int]) -> None:
            batch = packed([sequences[row] for row in rows], [MAX_POSITIONS] * len(rows))
            means[rows] = [states.mean(0) for states in self._forward.states(batch)]

        passes = list(_passes([len(sequence) for sequence in sequences], same_length=self._fixed_shapes))
        on_processors(encode, passes, self._threads)
        vectors: Vectors = means / np.linalg.norm(means, axis=1, keepdims=True)
        return vectors


def _passes(lengths: Sequence[int], *, same_length: bool) -> Iterator[list[int]]:
    """The rows of each pass, of similar length because attention is padded to the longest."""
    rows: list[int] = []
    tokens = 0
    for row in sorted(range(len(lengths)), key=lambda row: lengths[row]):
        differs = same_length and rows and lengths[row] != lengths[rows[0]]
        if rows and (differs or tokens + lengths[row] > _PASS_TOKENS):
            yield rows
            rows, tokens = [], 0
        rows.append(row)
        tokens += lengths[row]
    if rows:
        yield rows


def computes_in_onnx(settings: EncoderSettings) -> bool:
    """Whether ONNX Runtime computes the encoder of ``settings``: ``encoder.backend`` is "onnx"; or it is "auto", the
    model is MiniLM in float32, the processor does not multiply bf16 fast, and there is no GPU and no OpenVINO.

    Raises ModelUnavailableError if the backend is "onnx", but it does not compute the model, device or precision.
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
    """Whether a GPU's driver is present; only torch can tell whether the GPU works."""
    return any(Path(device).exists() for device in _GPUS)
