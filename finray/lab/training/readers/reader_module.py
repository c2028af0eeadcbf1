"""The module that becomes a row reader or a sentence reader: MiniLM's first layers and heads, in torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import nn

from finray.core.errors import ModelUnavailableError
from finray.lab.training.minilm_module import Bert
from finray.models.bert.weights import SIZE, State
from finray.models.pair_reader import STATE
from finray.models.row_reader import NARROW, NARROW_HEADS, RIVAL_HEADS, ROW_HEADS
from finray.models.sentence_reader import SENTENCE_HEADS

Heads = Mapping[str, nn.Module]


def row_heads() -> dict[str, nn.Module]:
    """The heads of the row reader before training."""
    heads: dict[str, nn.Module] = {name: nn.Linear(STATE, outputs) for name, outputs in ROW_HEADS.items()}
    heads["among"] = nn.TransformerEncoderLayer(NARROW, NARROW_HEADS, 2 * NARROW, batch_first=True, norm_first=True)
    rivals = {name: nn.Linear(NARROW, outputs) for name, outputs in RIVAL_HEADS.items()}
    nn.init.zeros_(rivals["rivals"].weight)
    nn.init.zeros_(rivals["rivals"].bias)
    return heads | rivals


def sentence_heads() -> dict[str, nn.Module]:
    """The heads of the sentence reader before training."""
    return {name: nn.Linear(STATE, outputs) for name, outputs in SENTENCE_HEADS.items()}


def role_logits(heads: Heads, states: Sequence[torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
    """Logits of the roles of rows [total length of ``states``, ROLES], and of whether the operands of questions are
    present [len(states)]. Computes what RowReader does, for many questions at once.

    ``states``: for each question [rows + 1, STATE], the question alone last.
    """
    together = torch.cat(list(states))
    narrow = heads["narrow"](together).split([len(own) for own in states])
    padded = nn.utils.rnn.pad_sequence(list(narrow), batch_first=True)
    lengths = torch.tensor([len(own) for own in states], device=padded.device)
    absent = torch.arange(padded.shape[1], device=padded.device)[None, :] >= lengths[:, None]
    seen = heads["among"](padded, src_key_padding_mask=absent)
    questions = seen[torch.arange(len(states), device=padded.device), lengths - 1]
    return heads["roles"](together) + heads["rivals"](seen[~absent]), heads["present"](questions)[:, 0]


def figure_state(tokens: torch.Tensor, span: tuple[int, int], state: torch.Tensor) -> torch.Tensor:
    """[STATE]: the mean of a figure's ``tokens``, and the first state of the sentence."""
    return torch.cat([tokens[span[0] : span[1]].mean(0), state[:SIZE]], -1)


def load_state(bert: Bert, heads: Heads, state: State) -> list[str]:
    """Load ``state`` into the modules. Returns the names of what it lacks. Raises ModelUnavailableError if a shape
    differs."""
    lacking: list[str] = []
    modules: dict[str, Any] = {"bert": bert, **heads}
    for name, module in modules.items():
        own = {key.partition(".")[2]: value for key, value in state.items() if key.partition(".")[0] == name}
        tensors = {key: torch.from_numpy(np.array(value, dtype=np.float32)) for key, value in own.items()}
        try:
            missing = module.load_state_dict(tensors, strict=False).missing_keys
        except RuntimeError as error:
            raise ModelUnavailableError(f"weights of another reader: {error}; train it again") from error
        lacking += [f"{name}.{key}" for key in missing if "word_embeddings" not in key]
    return lacking
