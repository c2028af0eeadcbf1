"""MiniLM's layers in torch, over packed sequences: for training, and for processors that multiply bf16."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional

from finray.models.bert.packing import Packed
from finray.models.bert.weights import EPSILON, HEADS, INNER, PLACES, SIZE, Floats, State, minilm_words

_DROPOUT = 0.1


class Bert(nn.Module):
    """Embeddings and ``layers`` layers; its parameters have the names of a state (``finray.models.bert.weights``)."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        words = torch.from_numpy(minilm_words())
        self.embeddings: Any = nn.ModuleDict(
            {
                "word_embeddings": nn.Embedding.from_pretrained(words),  # type: ignore[no-untyped-call]
                "position_embeddings": nn.Embedding(PLACES, SIZE),
                "token_type_embeddings": nn.Embedding(2, SIZE),
                "LayerNorm": nn.LayerNorm(SIZE, eps=EPSILON),
            }
        )
        self.encoder: Any = nn.ModuleDict({"layer": nn.ModuleList(_Layer() for _ in range(layers))})

    def forward(self, given: Packed) -> list[torch.Tensor]:
        """The last states of each sequence, float32 [its tokens, SIZE]."""
        device = self.embeddings["LayerNorm"].weight.device
        ids, types, places, there, at = (torch.from_numpy(each).to(device) for each in given)
        parts = {"word_embeddings": ids, "position_embeddings": places, "token_type_embeddings": types}
        total = torch.stack([self.embeddings[name](own) for name, own in parts.items()]).sum(0)
        states = functional.dropout(self.embeddings["LayerNorm"](total), _DROPOUT, self.training)
        hidden = torch.zeros(there.shape, dtype=states.dtype, device=device).masked_fill(~there, float("-inf"))
        for layer in self.encoder["layer"]:
            states = layer(states, there, at, hidden)
        return list(torch.split(states.float(), there.sum(1).tolist()))


class TorchPass:
    """A ``finray.models.bert.forward.ForwardPass`` by torch on the CPU, in bf16."""

    def __init__(self, state: State, layers: int, dtype: torch.dtype = torch.bfloat16) -> None:
        self._bert = Bert(layers)
        # Not strict: the words are there already.
        self._bert.load_state_dict({name: torch.from_numpy(value) for name, value in state.items()}, strict=False)
        self._bert.to(dtype).eval()

    def states(self, given: Packed) -> list[Floats]:
        with torch.inference_mode():
            return [states.numpy() for states in self._bert(given)]


class _Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        own = nn.ModuleDict({name: nn.Linear(SIZE, SIZE) for name in ("query", "key", "value")})
        self.attention: Any = nn.ModuleDict({"self": own, "output": _normed(SIZE)})
        self.intermediate: Any = nn.ModuleDict({"dense": nn.Linear(SIZE, INNER)})
        self.output = _normed(INNER)

    def forward(self, states: Any, there: Any, at: Any, hidden: Any) -> Any:
        attended = self._after(self.attention["output"], self._attended(states, there, at, hidden), states)
        return self._after(self.output, functional.gelu(self.intermediate["dense"](attended)), attended)

    def _after(self, part: Any, states: Any, before: Any) -> Any:
        return part["LayerNorm"](functional.dropout(part["dense"](states), _DROPOUT, self.training) + before)

    def _attended(self, states: Any, there: Any, at: Any, hidden: Any) -> Any:
        """[tokens, SIZE]. For texts this short, products of matrices take half the time of torch's attention."""
        sequences, longest = at.shape

        def per_head(name: str) -> Any:  # [sequences * HEADS, longest, size of a head]
            read = self.attention["self"][name](states)
            return read[at].unflatten(-1, (HEADS, -1)).transpose(1, 2).flatten(0, 1)

        query, key, value = (per_head(name) for name in ("query", "key", "value"))
        mask = hidden[:, None, None, :].expand(-1, HEADS, -1, -1).reshape(sequences * HEADS, 1, longest)
        weights = torch.baddbmm(mask, query, key.transpose(1, 2), alpha=query.shape[-1] ** -0.5).softmax(-1)
        dropped = functional.dropout(weights, _DROPOUT, self.training)
        seen = torch.bmm(dropped, value).view(sequences, HEADS, longest, -1).transpose(1, 2)
        return seen[there].flatten(1)


def _normed(inputs: int) -> nn.ModuleDict:
    return nn.ModuleDict({"dense": nn.Linear(inputs, SIZE), "LayerNorm": nn.LayerNorm(SIZE, eps=EPSILON)})
