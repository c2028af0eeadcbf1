"""A small trained model that reads a question beside each row of a table, or beside each sentence.

The first four layers of all-MiniLM-L6-v2, fine-tuned as a cross-encoder, and one that compares the rows of a question
with one another. The word embeddings are those of the package, so only layers and heads come with finray
(``row_reader.npz``, a byte a weight). ``finray train row-reader`` fits it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import IO, Any, Final

import numpy as np
import numpy.typing as npt

from finray.core.errors import ModelUnavailableError
from finray.models.minilm import minilm_folder

OPERATIONS: Final = (
    "value", "difference", "growth", "share", "ratio", "sum", "average", "max", "min", "which_max", "which_min", "none",
)  # fmt: skip
MEASURES: Final = ("money", "shares", "per share", "percent", "number")
LAYERS: Final = 4
QUESTION_TOKENS, ROW_TOKENS, SENTENCE_TOKENS = 56, 48, 72
"""Longest parts that are read: of a question its first and last tokens, of a row or sentence its first."""
HEADS: Final[Mapping[str, int]] = {
    "roles": 3, "ops": len(OPERATIONS), "axis": 2, "answers": 1, "measure": len(MEASURES), "order": 2,
}  # fmt: skip
"""Linear layers over [first state, mean state] and their outputs."""
_NARROW = 192
"""Components of a row's state in the layer that compares rows with one another."""
_CLS, _SEP = 101, 102
_PASS_TOKENS = 1_500
"""Padded tokens of one forward pass."""
Logits = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class RowScores:
    """Logits, float64. ``first``, ``second`` and ``listed`` [rows]: the row is the first operand (the only one, the
    numerator, what is compared), the second one (the denominator, what it is compared with), or one of several that are
    added up or ranked. ``operations`` [len(OPERATIONS)] and ``measures`` [len(MEASURES)], what the operands measure,
    are log probabilities; ``several`` is the log odds that the operands are of several rows, not of several periods of
    one; ``backwards`` that the first of two operands is of the earlier period: "by how much did it fall"."""

    first: Logits
    second: Logits
    listed: Logits
    operations: Logits
    several: float
    measures: Logits
    backwards: float


class RowReader:
    """On the CPU; thread-safe. Raises ModelUnavailableError if MiniLM's package is missing or weights do not fit."""

    def __init__(self, weights: Mapping[str, npt.NDArray[Any]] | None = None) -> None:
        """``weights`` are by default those that come with finray: the module's state, as float arrays."""
        import torch  # 3 s, and not everyone who imports this module reads rows

        from finray.models.transformer_encoder import fast_bf16

        self._torch = torch
        self._tokenizer, self._bert, self._heads = reader_module()
        state = shipped_weights() if weights is None else weights
        lacking = load_state(self._bert, self._heads, state)
        if lacking:
            raise ModelUnavailableError(f"row_reader.npz is of another version: it lacks {lacking[:3]}; train it again")
        if fast_bf16(torch.device("cpu")):  # logits move by less than 0.1, in 60% of the time
            self._bert.to(torch.bfloat16)
        for module in (self._bert, *self._heads.values()):
            module.eval()
        self._read: tuple[tuple[str, ...], Logits] | None = None
        self._measured: tuple[str, Logits] | None = None

    def rows(self, question: str, rows: Sequence[str]) -> RowScores:
        """How each of ``rows`` may serve in the computation that ``question`` asks for."""
        words = token_ids(self._tokenizer, question, QUESTION_TOKENS, both_ends=True)
        pairs = [(words, token_ids(self._tokenizer, row, ROW_TOKENS)) for row in rows]
        states = self._states([*pairs, (words, [])])
        with self._torch.inference_mode():
            roles = role_logits(self._heads, [states])[:-1].double().numpy()
            operations, measures = (
                self._torch.log_softmax(self._heads[name](states[-1]), -1).double().numpy()
                for name in ("ops", "measure")
            )
            several, backwards = (
                float(logits[1] - logits[0]) for logits in (self._heads[name](states[-1]) for name in ("axis", "order"))
            )
        self._measured = question, measures
        return RowScores(roles[:, 0], roles[:, 1], roles[:, 2], operations, several, measures, backwards)

    def measures(self, question: str) -> Logits:
        """Log probabilities [len(MEASURES)] of what the figures that ``question`` asks for measure. Those of the last
        question are kept."""
        if self._measured is None or self._measured[0] != question:
            words = token_ids(self._tokenizer, question, QUESTION_TOKENS, both_ends=True)
            states = self._states([(words, [])])
            with self._torch.inference_mode():
                logits = self._heads["measure"](states[0])
                self._measured = question, self._torch.log_softmax(logits, -1).double().numpy()
        return self._measured[1]

    def sentences(self, question: str, sentences: Sequence[str]) -> Logits:
        """Logits [sentences] of answering ``question``. Those of the last call are kept: answers in words and figures
        of sentences read the same ones."""
        read, last = (question, *sentences), self._read
        if last is not None and last[0] == read:
            return last[1]
        words = token_ids(self._tokenizer, question, QUESTION_TOKENS, both_ends=True)
        states = self._states(
            [(words, token_ids(self._tokenizer, sentence, SENTENCE_TOKENS)) for sentence in sentences]
        )
        with self._torch.inference_mode():
            logits: Logits = self._heads["answers"](states)[:, 0].double().numpy()
        self._read = (read, logits)
        return logits

    def _states(self, pairs: Sequence[tuple[list[int], list[int]]]) -> Any:
        """[pairs, 2 * 384]: pairs of like length are read together."""
        torch = self._torch
        lengths = [len(first) + len(second) for first, second in pairs]
        order = sorted(range(len(pairs)), key=lengths.__getitem__)
        found: dict[int, Any] = {}
        while order:
            size = max(1, _PASS_TOKENS // (lengths[order[-1]] + 3))
            part, order = order[-size:], order[:-size]
            with torch.inference_mode():
                states = pooled(self._bert, batch([pairs[number] for number in part]))
            found.update(zip(part, states, strict=True))
        return torch.stack([found[number] for number in range(len(pairs))])


def reader_module() -> tuple[Any, Any, dict[str, Any]]:
    """(tokenizer, transformer, heads) before fine-tuning. Raises ModelUnavailableError."""
    import torch
    from transformers import AutoModel, AutoTokenizer
    from transformers.utils import logging as transformers_logging

    folder = str(minilm_folder())
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    bert = AutoModel.from_pretrained(folder)
    bert.encoder.layer = bert.encoder.layer[:LAYERS]
    bert.pooler = None
    size = 2 * int(bert.config.hidden_size)
    heads: dict[str, Any] = {name: torch.nn.Linear(size, outputs) for name, outputs in HEADS.items()}
    heads["narrow"] = torch.nn.Linear(size, _NARROW)
    heads["among"] = torch.nn.TransformerEncoderLayer(_NARROW, 4, 2 * _NARROW, batch_first=True, norm_first=True)
    heads["rivals"] = torch.nn.Linear(_NARROW, HEADS["roles"])
    torch.nn.init.zeros_(heads["rivals"].weight)
    torch.nn.init.zeros_(heads["rivals"].bias)
    return AutoTokenizer.from_pretrained(folder), bert, heads


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
            raise ModelUnavailableError(f"weights of another row reader: {error}; train it again") from error
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


def batch(pairs: Sequence[tuple[list[int], list[int]]]) -> dict[str, Any]:
    """The padded inputs of a forward pass; a pair with an empty second part is the first alone."""
    import torch

    sequences = [([_CLS, *first, _SEP], [*second, _SEP] if second else []) for first, second in pairs]
    width = max(len(first) + len(second) for first, second in sequences)
    ids, types, mask = (torch.zeros(len(pairs), width, dtype=torch.long) for _ in range(3))
    for row, (first, second) in enumerate(sequences):
        length = len(first) + len(second)
        ids[row, :length] = torch.tensor(first + second)
        types[row, len(first) : length] = 1
        mask[row, :length] = 1
    return {"input_ids": ids, "token_type_ids": types, "attention_mask": mask}


def pooled(bert: Any, inputs: dict[str, Any]) -> Any:
    """[pairs, 2 * 384]: the first state, and the mean of all."""
    import torch

    states = bert(**inputs).last_hidden_state.float()
    mask = inputs["attention_mask"].unsqueeze(-1).to(states.dtype)
    return torch.cat([states[:, 0], (states * mask).sum(1) / mask.sum(1)], -1)


def role_logits(heads: Mapping[str, Any], states: Sequence[Any]) -> Any:
    """[sum of the lengths of ``states``, 3]: each row by itself, and beside the others of its question. ``states``: for
    each question [rows + 1, 2 * 384], the question alone last."""
    import torch

    together = torch.cat(list(states))
    narrow = heads["narrow"](together).split([len(own) for own in states])
    padded = torch.nn.utils.rnn.pad_sequence(list(narrow), batch_first=True)
    lengths = torch.tensor([len(own) for own in states])
    absent = torch.arange(padded.shape[1])[None, :] >= lengths[:, None]
    seen = heads["among"](padded, src_key_padding_mask=absent)
    return heads["roles"](together) + heads["rivals"](seen[~absent])


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


def shipped_weights() -> dict[str, npt.NDArray[np.float32]]:
    """The weights that come with finray."""
    with resources.files("finray.models").joinpath("row_reader.npz").open("rb") as file:
        return read_weights(file)


@cache
def row_reader() -> RowReader:
    """The reader that comes with finray, loaded once per process."""
    return RowReader()
