"""A small transformer that reads a question beside another text, with heads that say what it found.

The first four layers of all-MiniLM-L6-v2, fine-tuned as a cross-encoder. The word embeddings are those of the package,
so only layers and heads come with finray, a byte a weight.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import resources
from typing import IO, Any, Final

import numpy as np
import numpy.typing as npt

from finray.core.errors import ModelUnavailableError
from finray.models.minilm import minilm_folder
from finray.models.packed_pass import packed, packed_states

LAYERS: Final = 4
STATE: Final = 768
"""Components of what is read: the first state, and the mean of all."""
QUESTION_TOKENS: Final = 56
"""Tokens of a question that are read: its first and last ones."""
_CLS, _SEP = 101, 102
_PASS_TOKENS = 1_500
"""Tokens of one forward pass, about."""
Logits = npt.NDArray[np.float64]
State = Mapping[str, npt.NDArray[Any]]


class PairReader:
    """Reads pairs on the CPU; thread-safe. ``heads`` are modules over states [pairs, STATE]."""

    def __init__(self, state: State, heads: Mapping[str, Any]) -> None:
        """Raises ModelUnavailableError if MiniLM's package is missing or ``state`` does not fit."""
        import torch

        from finray.models.devices import fast_bf16

        self._torch = torch
        self._tokenizer, self._bert = pair_module()
        self.heads = heads
        lacking = load_state(self._bert, heads, state)
        if lacking:
            raise ModelUnavailableError(f"these weights are of another version: they lack {lacking[:3]}; train again")
        if fast_bf16(torch.device("cpu")):  # logits move by less than 0.1, in 60% of the time
            self._bert.to(torch.bfloat16)
        for module in (self._bert, *heads.values()):
            module.eval()

    def states(self, question: str, texts: Sequence[str], tokens: int) -> Any:
        """[texts, STATE]: ``question`` beside the first ``tokens`` of each text, alone if it is empty."""
        return self.token_states(question, texts, tokens)[0]

    def token_states(self, question: str, texts: Sequence[str], tokens: int) -> tuple[Any, list[Any]]:
        """The :meth:`states`, and those of each text's tokens, [tokens, STATE / 2]."""
        words = token_ids(self._tokenizer, question, QUESTION_TOKENS, both_ends=True)
        return self._states([(words, token_ids(self._tokenizer, text, tokens) if text else []) for text in texts])

    def _states(self, pairs: Sequence[tuple[list[int], list[int]]]) -> tuple[Any, list[Any]]:
        states, tokens = [], []
        size = max(1, _PASS_TOKENS // (3 + max(len(first) + len(second) for first, second in pairs)))
        with self._torch.inference_mode():
            for start in range(0, len(pairs), size):
                pooled, own = read_pairs(self._bert, pairs[start : start + size])
                states.append(pooled)
                tokens += own
        return self._torch.cat(states), tokens


def pair_module() -> tuple[Any, Any]:
    """(tokenizer, transformer) before fine-tuning. Raises ModelUnavailableError."""
    from transformers import AutoModel, AutoTokenizer
    from transformers.utils import logging as transformers_logging

    folder = str(minilm_folder())
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    bert = AutoModel.from_pretrained(folder)
    bert.encoder.layer = bert.encoder.layer[:LAYERS]
    bert.pooler = None
    return AutoTokenizer.from_pretrained(folder), bert


def linear(outputs: int) -> Any:
    """A head over states."""
    import torch

    return torch.nn.Linear(STATE, outputs)


def load_state(bert: Any, heads: Mapping[str, Any], state: Mapping[str, npt.NDArray[Any]]) -> list[str]:
    """Loads ``state`` into the modules; the names of what it lacks. Raises ModelUnavailableError if a shape differs."""
    import torch

    lacking: list[str] = []
    for name, module in (("bert", bert), *heads.items()):
        own = {key.partition(".")[2]: value for key, value in state.items() if key.partition(".")[0] == name}
        tensors = {key: torch.from_numpy(np.asarray(value, dtype=np.float32)) for key, value in own.items()}
        try:
            missing = module.load_state_dict(tensors, strict=False).missing_keys
        except RuntimeError as error:
            raise ModelUnavailableError(f"weights of another reader: {error}; train it again") from error
        # The word embeddings are those of MiniLM's package.
        kept = ("word_embeddings", "position_ids")
        lacking += [f"{name}.{key}" for key in missing if not any(part in key for part in kept)]
    return lacking


def token_ids(tokenizer: Any, text: str, limit: int, *, both_ends: bool = False) -> list[int]:
    """The tokens of ``text``, at most ``limit``: the first ones, with ``both_ends`` half of them the last."""
    found: list[int] = tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
    if len(found) <= limit:
        return found
    half = limit // 2
    return found[:half] + found[half - limit :] if both_ends else found[:limit]


def read_pairs(bert: Any, pairs: Sequence[tuple[list[int], list[int]]]) -> tuple[Any, list[Any]]:
    """[pairs, STATE], the first state and the mean of all; and for each pair the states of its second part's tokens."""
    import torch

    starts = [len(first) + 2 for first, _ in pairs]
    sequences = [[_CLS, *first, _SEP, *([*second, _SEP] if second else [])] for first, second in pairs]
    states = packed_states(bert, packed(sequences, starts))
    pooled = torch.stack([torch.cat([own[0], own.mean(0)]) for own in states])
    return pooled, [
        own[start : start + len(second)] for own, start, (_, second) in zip(states, starts, pairs, strict=True)
    ]


def token_spans(tokenizer: Any, text: str, limit: int, marked: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The tokens, from and to, that stretches of characters of ``text`` consist of; (0, 0) past the first ``limit``."""
    tokens = tokenizer(text, add_special_tokens=False, verbose=False, return_offsets_mapping=True)
    read = tokens["offset_mapping"][:limit]
    reach = read[-1][1] if read else 0
    found = []
    for start, end in marked:
        inside = [at for at, (first, last) in enumerate(read) if first < end and last > start] if start < reach else []
        found.append((inside[0], inside[-1] + 1) if inside else (0, 0))
    return found


def quantized(state: Mapping[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
    """``state`` with matrices as int8, each row with its own scale (``NAME.scale``), and the rest as float16."""
    packed: dict[str, npt.NDArray[Any]] = {}
    for name, value in state.items():
        if value.ndim != 2:
            packed[name] = value.astype(np.float16)
            continue
        scale = np.maximum(np.abs(value).max(axis=1, keepdims=True), 1e-8) / 127
        packed[name] = np.round(value / scale).astype(np.int8)
        packed[f"{name}.scale"] = scale.astype(np.float32)
    return packed


def read_weights(file: IO[bytes]) -> dict[str, npt.NDArray[np.float32]]:
    """What :func:`quantized` packed, as float32."""
    with np.load(file, allow_pickle=False) as saved:
        found = {}
        for name in saved.files:
            if not name.endswith(".scale"):
                value = saved[name].astype(np.float32)
                found[name] = value * saved[f"{name}.scale"] if f"{name}.scale" in saved.files else value
        return found


def shipped_weights(file: str) -> dict[str, npt.NDArray[np.float32]]:
    """The weights of ``file`` that come with finray."""
    with resources.files("finray.models").joinpath(file).open("rb") as opened:
        return read_weights(opened)
