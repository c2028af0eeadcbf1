"""Runs a sentence-transformers model directly: tokenizer, transformer, pooling, unit length.

Why not ``SentenceTransformer.encode``: measured on two cores with MiniLM and 1,000-character passages, batches cut by
tokens instead of rows and pooling in float32 give 160 passages/s instead of 117 (bf16 weights) and a cosine to the fp32
model above 0.9999 instead of 0.996. The import takes a third of the time.

``encoder.backend`` chooses what computes the forward passes: torch, or OpenVINO (``openvino_pass``). In bf16, both
give vectors with a cosine above 0.9998 to float32's, so an index may be asked or continued with either.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import torch
from transformers import AutoModel, AutoTokenizer
from transformers.utils import logging as transformers_logging
from transformers.utils.hub import cached_file

from finray.core.errors import ModelUnavailableError
from finray.core.settings import EncoderSettings
from finray.models import hub
from finray.models.devices import device_of, fast_bf16, has_openvino
from finray.models.encoder import Vectors
from finray.models.openvino_pass import ForwardPass, openvino_pass

_CPU_TOKENS = 4096
"""Padded tokens of one forward pass; with more, the activations no longer fit the CPU caches."""
_GPU_TOKENS = 65_536
"""On a GPU. A fourth of it takes 1.8 times as long a token on an H100, four times as many .83 times as long."""
_WIDTH_STEP = 16
"""Batches are padded to a multiple of this, because every new shape costs another kernel and fragments the heap. With
it, memory of a long run stays at 650 MB; without it, it reaches 2 GB and grows."""


class TransformerEncoder:
    """``folder`` is a sentence-transformers folder or a hub name; mean and CLS pooling are supported.

    With ``fixed_shapes``, a passage's vector does not depend on the passages that are encoded with it: kernels are
    chosen by the shape of a forward pass, and another kernel rounds differently. So every pass over passages of one
    width has the same number of rows, some of them padding: on a GPU nine of ten, unless thousands of passages of each
    width are encoded at a time.

    ``parameters`` is the number of weights outside of the embeddings.
    Raises ModelUnavailableError if it cannot be loaded or pools in another way.
    """

    def __init__(
        self, folder: str, settings: EncoderSettings, *, threads: int | None = None, fixed_shapes: bool = False
    ) -> None:
        if threads is not None:
            torch.set_num_threads(threads)
        self._settings = settings
        self._fixed_shapes = fixed_shapes
        self._device = device_of(settings.device, "encoder")
        where = hub.source(folder, settings.revision)
        self._pooling = _pooling(folder, where)
        # Hide the progress bar and the report about unused pooler weights.
        log = logging.getLogger("transformers")
        level = log.level
        log.setLevel(logging.ERROR)
        transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        try:
            with hub.loading("encoder", folder):
                self._tokenizer = AutoTokenizer.from_pretrained(folder, **where)
                by_openvino = chosen_backend(settings, self._device) == "openvino"
                dtype = torch.float32 if by_openvino else _dtype(settings.dtype, self._device)
                options = {**where, **hub.WEIGHTS, "dtype": dtype, "attn_implementation": "sdpa"}
                model = AutoModel.from_pretrained(folder, **options).eval()
            self._states: ForwardPass
            if by_openvino:
                self._states = openvino_pass(model, settings.dtype, threads)
            else:
                self._states = _torch_pass(model.to(self._device), self._device)
        finally:
            log.setLevel(level)
        self.parameters = sum(each.numel() for name, each in model.named_parameters() if "embeddings" not in name)
        self._dimension = int(model.config.hidden_size)
        self._max_tokens = min(settings.max_tokens, token_positions(model.config))
        whole = _GPU_TOKENS if settings.batch_size == "auto" else settings.batch_size * self._max_tokens
        self._token_budget = min(whole, _CPU_TOKENS) if self._device.type == "cpu" else whole

    @property
    def dimension(self) -> int:
        return self._dimension

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        prefixed = [self._settings.passage_prefix + text for text in texts]
        return self._encode(prefixed, fixed_shapes=self._fixed_shapes)

    def encode_query(self, text: str) -> Vectors:
        vector: Vectors = self._encode([self._settings.query_prefix + text])[0]
        return vector

    def _encode(self, texts: list[str], *, fixed_shapes: bool = False) -> Vectors:
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        if not texts:
            return vectors
        tokens: list[list[int]] = self._tokenizer(
            texts, truncation=True, max_length=self._max_tokens, return_attention_mask=False, verbose=False
        )["input_ids"]
        with torch.inference_mode():
            for batch in _batches([self._width(len(t)) for t in tokens], self._token_budget, fixed_shapes):
                vectors[batch.rows] = self._forward([tokens[row] for row in batch.rows], batch.padded_to)
        return vectors

    def _width(self, length: int) -> int:
        return min(self._max_tokens, -(-length // _WIDTH_STEP) * _WIDTH_STEP)

    def _forward(self, tokens: list[list[int]], rows: int) -> Vectors:
        """Vectors of ``tokens``, from a pass of ``rows`` rows."""
        width = self._width(max(len(t) for t in tokens))
        ids = np.full((rows, width), self._tokenizer.pad_token_id or 0, dtype=np.int64)
        mask = np.zeros((rows, width), dtype=np.int64)
        mask[len(tokens) :, 0] = 1  # attention to nothing is not a number
        for row, token_ids in enumerate(tokens):
            ids[row, : len(token_ids)] = token_ids
            mask[row, : len(token_ids)] = 1
        states = self._states(ids, mask)
        if self._pooling == "cls":
            pooled = states[:, 0]
        else:
            weights = torch.from_numpy(mask).to(self._device).unsqueeze(-1).float()
            pooled = (states * weights).sum(1) / weights.sum(1)
        result: Vectors = torch.nn.functional.normalize(pooled[: len(tokens)]).cpu().numpy()
        return result


@dataclass(frozen=True, slots=True)
class _Batch:
    """Numbers of the texts of one forward pass, and its rows with padding."""

    rows: list[int]
    padded_to: int


def _batches(widths: Sequence[int], budget: int, fixed_shapes: bool) -> Iterator[_Batch]:
    """The widest texts first, in batches whose rows x widest is at most ``budget``.

    With ``fixed_shapes``, the texts of a batch have the same width, and it is padded to as many rows as fit.
    """
    order = sorted(range(len(widths)), key=lambda row: (-widths[row], row))
    start = 0
    while start < len(order):
        width = widths[order[start]]
        most = max(1, budget // max(1, width))
        rows = order[start : start + most]
        if fixed_shapes:
            rows = [row for row in rows if widths[row] == width]
        yield _Batch(rows, most if fixed_shapes else len(rows))
        start += len(rows)


def _torch_pass(model: torch.nn.Module, device: torch.device) -> ForwardPass:
    def run(ids: npt.NDArray[np.int64], mask: npt.NDArray[np.int64]) -> torch.Tensor:
        there = {"input_ids": torch.from_numpy(ids).to(device), "attention_mask": torch.from_numpy(mask).to(device)}
        states: torch.Tensor = model(**there).last_hidden_state.float()
        return states

    return run


def chosen_backend(settings: EncoderSettings, device: torch.device) -> Literal["torch", "openvino"]:
    """What computes the forward passes on ``device``: "auto" takes OpenVINO on a processor without AMX if it is
    installed; with AMX, torch in bf16. Raises ModelUnavailableError for OpenVINO on a GPU."""
    if settings.backend == "torch":
        return "torch"
    if settings.backend == "openvino":
        if device.type != "cpu":
            raise ModelUnavailableError(
                f"encoder.backend = 'openvino' computes on the CPU, but encoder.device is {settings.device!r}; set "
                "encoder.device = 'cpu', or encoder.backend = 'torch'"
            )
        return "openvino"
    can = device.type == "cpu" and settings.dtype != "float16" and not torch.cpu._is_amx_tile_supported()
    return "openvino" if can and has_openvino() else "torch"


def _dtype(wanted: str, device: torch.device) -> torch.dtype:
    """bf16 if the hardware multiplies it fast; otherwise it is slower than float32."""
    if wanted != "auto":
        return {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}[wanted]
    if fast_bf16(device):
        return torch.bfloat16
    return torch.float16 if device.type == "cuda" else torch.float32


def _pooling(folder: str, where: Mapping[str, Any]) -> str:
    """``mean`` or ``cls``, from the model's folder; the default is mean."""
    config = _json(folder, "1_Pooling/config.json", where)
    modes = {name for name, value in config.items() if name.startswith("pooling_mode_") and value is True}
    mode = config.get("pooling_mode")
    if isinstance(mode, str):
        modes.add(f"pooling_mode_{mode}")
    kinds = {name.removeprefix("pooling_mode_").partition("_token")[0] for name in modes} or {"mean"}
    if kinds not in ({"mean"}, {"cls"}):
        raise ModelUnavailableError(f"the encoder {folder!r} pools by {sorted(kinds)}, not by mean or CLS")
    return kinds.pop()


def token_positions(config: Any) -> int:
    """Maximum number of tokens of the model; RoBERTa models reserve the first ``pad_token_id + 1`` positions."""
    positions = int(getattr(config, "max_position_embeddings", 1 << 30))
    reserved = config.pad_token_id + 1 if config.model_type in ("roberta", "xlm-roberta", "camembert") else 0
    return positions - int(reserved)


def _json(folder: str, name: str, where: Mapping[str, Any]) -> dict[str, Any]:
    """The content of a file of the model; nothing if it has no such file."""
    with hub.loading("encoder", folder):
        path = cached_file(folder, name, revision=where["revision"], _raise_exceptions_for_missing_entries=False)
        loaded: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8")) if path is not None else {}
    return loaded
