"""The module that becomes a question model (``finray.models.question_model``), in torch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from finray.lab.training.minilm_module import minilm_layers
from finray.models.bert.packing import packed
from finray.models.bert.tokens import CLS, SEP
from finray.models.bert.weights import SIZE, Floats
from finray.models.question_model import LAYERS, MARKS, OPERATIONS, TAGS

_DROPOUT = 0.1


class QuestionModule(nn.Module):
    """MiniLM's first layers below heads for tags, operations and ``metrics`` classes of phrases."""

    def __init__(self, metrics: int) -> None:
        super().__init__()
        self.bert = minilm_layers(LAYERS)
        marks = nn.Linear(MARKS, SIZE, bias=False)
        nn.init.zeros_(marks.weight)
        self.heads: Any = nn.ModuleDict(
            {
                "tags": nn.Linear(SIZE, TAGS),
                "operations": nn.Linear(2 * SIZE, len(OPERATIONS)),
                "metrics": nn.Linear(2 * SIZE, metrics),
                "marks": marks,
            }
        )
        self._drop = nn.Dropout(_DROPOUT)

    def questions(
        self, ids: Sequence[Sequence[int]], marks: Sequence[Floats]
    ) -> tuple[list[torch.Tensor], torch.Tensor]:
        """Logits of the tags of each question, [its tokens, TAGS], and of the operations, [questions, OPERATIONS].
        ``marks`` are as in QuestionModel.question."""
        padded = torch.from_numpy(np.concatenate([np.pad(own, ((1, 1), (0, 0))) for own in marks]))
        states = self._states(ids, self.heads["marks"](padded))
        tags = [self.heads["tags"](self._drop(own[1:-1])) for own in states]
        return tags, self.heads["operations"](self._pooled(states))

    def phrases(self, ids: Sequence[Sequence[int]]) -> torch.Tensor:
        """Logits of the metrics, [phrases, metrics]."""
        logits: torch.Tensor = self.heads["metrics"](self._pooled(self._states(ids)))
        return logits

    def groups(self, rate: float, head_rate: float) -> list[dict[str, Any]]:
        """Parameters for an optimizer: the layers with ``rate``, the heads with ``head_rate``."""
        layers = [parameter for parameter in self.bert.parameters() if parameter.requires_grad]
        return [{"params": layers, "lr": rate}, {"params": list(self.heads.parameters()), "lr": head_rate}]

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """The weights by their names in QuestionModel, without word embeddings: those stay MiniLM's."""
        named = {name.removeprefix("heads."): value for name, value in self.state_dict().items()}
        return {name: value.numpy() for name, value in named.items() if "word_embeddings" not in name}

    def _states(self, ids: Sequence[Sequence[int]], added: torch.Tensor | None = None) -> list[torch.Tensor]:
        sequences = [[CLS, *own, SEP] for own in ids]
        states: list[torch.Tensor] = self.bert(packed(sequences, [len(own) for own in sequences]), added)
        return states

    def _pooled(self, states: Sequence[torch.Tensor]) -> torch.Tensor:
        pooled: torch.Tensor = self._drop(torch.stack([torch.cat([own.mean(0), own.max(0).values]) for own in states]))
        return pooled
