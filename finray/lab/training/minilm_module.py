"""MiniLM's layers in torch, over packed sequences, for training."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional

from finray.models.bert.packing import Packed
from finray.models.bert.weights import (
    EPSILON,
    HEADS,
    INNER,
    MAX_POSITIONS,
    SIZE,
    fitting,
    layer_shapes,
    minilm_weights,
    minilm_words,
)

_DROPOUT = 0.1


class Bert(nn.Module):
    """Embeddings and ``layers`` layers; its parameters have the names of a state (``finray.models.bert.weights``)."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        words = torch.from_numpy(minilm_words())
        self.embeddings: Any = nn.ModuleDict(
            {
                "word_embeddings": nn.Embedding.from_pretrained(words),  # type: ignore[no-untyped-call]
                "position_embeddings": nn.Embedding(MAX_POSITIONS, SIZE),
                "token_type_embeddings": nn.Embedding(2, SIZE),
                "LayerNorm": nn.LayerNorm(SIZE, eps=EPSILON),
            }
        )
        self.encoder: Any = nn.ModuleDict({"layer": nn.ModuleList(_Layer() for _ in range(layers))})

    def forward(self, batch: Packed, added: torch.Tensor | None = None) -> list[torch.Tensor]:
        """The last states of each sequence, float32 [its tokens, SIZE]; ``added`` [tokens, SIZE] is added to the
        embeddings."""
        device = self.embeddings["LayerNorm"].weight.device
        ids, types, positions, mask, indexes = (torch.from_numpy(array).to(device) for array in batch)
        parts = {"word_embeddings": ids, "position_embeddings": positions, "token_type_embeddings": types}
        total = torch.stack([self.embeddings[name](numbers) for name, numbers in parts.items()]).sum(0)
        if added is not None:
            total = total + added
        states = functional.dropout(self.embeddings["LayerNorm"](total), _DROPOUT, self.training)
        bias = torch.zeros(mask.shape, dtype=states.dtype, device=device).masked_fill(~mask, float("-inf"))
        for layer in self.encoder["layer"]:
            states = layer(states, mask, indexes, bias)
        return list(torch.split(states.float(), mask.sum(1).tolist()))


def minilm_layers(layers: int) -> Bert:
    """MiniLM's first ``layers`` layers, to fine-tune; the word embeddings are not trained. Raises
    ModelUnavailableError."""
    bert = Bert(layers)
    state = fitting(minilm_weights(), layer_shapes(layers))
    bert.load_state_dict({name: torch.from_numpy(value) for name, value in state.items()}, strict=False)
    return bert


class _Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        projections = nn.ModuleDict({name: nn.Linear(SIZE, SIZE) for name in ("query", "key", "value")})
        self.attention: Any = nn.ModuleDict({"self": projections, "output": _residual(SIZE)})
        self.intermediate: Any = nn.ModuleDict({"dense": nn.Linear(SIZE, INNER)})
        self.output = _residual(INNER)

    def forward(self, states: Any, mask: Any, indexes: Any, bias: Any) -> Any:
        """``mask`` and ``indexes`` are those of Packed; ``bias`` [sequences, longest] is -inf for padding, else 0."""
        attended = self._added(self.attention["output"], self._attention(states, mask, indexes, bias), states)
        return self._added(self.output, functional.gelu(self.intermediate["dense"](attended)), attended)

    def _added(self, part: Any, states: Any, before: Any) -> Any:
        """The linear layer of ``part`` over ``states``, added to ``before`` and normalized."""
        return part["LayerNorm"](functional.dropout(part["dense"](states), _DROPOUT, self.training) + before)

    def _attention(self, states: Any, mask: Any, indexes: Any, bias: Any) -> Any:
        """[tokens, SIZE]. For texts this short, products of matrices take half the time of torch's attention."""
        sequences, longest = indexes.shape

        def per_head(name: str) -> Any:  # [sequences * HEADS, longest, size of a head]
            projected = self.attention["self"][name](states)
            return projected[indexes].unflatten(-1, (HEADS, -1)).transpose(1, 2).flatten(0, 1)

        query, key, value = (per_head(name) for name in ("query", "key", "value"))
        bias = bias[:, None, None, :].expand(-1, HEADS, -1, -1).reshape(sequences * HEADS, 1, longest)
        weights = torch.baddbmm(bias, query, key.transpose(1, 2), alpha=query.shape[-1] ** -0.5).softmax(-1)
        dropped = functional.dropout(weights, _DROPOUT, self.training)
        values = torch.bmm(dropped, value).view(sequences, HEADS, longest, -1).transpose(1, 2)
        return values[mask].flatten(1)


def _residual(inputs: int) -> nn.ModuleDict:
    return nn.ModuleDict({"dense": nn.Linear(inputs, SIZE), "LayerNorm": nn.LayerNorm(SIZE, eps=EPSILON)})
