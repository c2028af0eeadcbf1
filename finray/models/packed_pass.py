"""Forward passes of a BERT over packed sequences: linear layers, which are most of the work, compute no padding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple


class Packed(NamedTuple):
    """Sequences one behind another. ``ids``, ``types`` and ``places`` int64 [tokens]; ``there`` bool [sequences,
    longest]: the sequence has a token at this place; ``at`` int64 of the same shape: which of all tokens that is."""

    ids: Any
    types: Any
    places: Any
    there: Any
    at: Any


def packed(sequences: Sequence[Sequence[int]], second: Sequence[int]) -> Packed:
    """``second`` is where the second part of each sequence begins, whose tokens have type 1."""
    import torch

    lengths = torch.tensor([len(own) for own in sequences])
    place = torch.arange(int(lengths.max()))[None, :]
    there = place < lengths[:, None]
    at = torch.zeros(there.shape, dtype=torch.long)
    at[there] = torch.arange(int(lengths.sum()))
    types = (place >= torch.tensor(second)[:, None])[there].long()
    ids = torch.tensor([token for own in sequences for token in own])
    return Packed(ids, types, place.expand(there.shape)[there], there, at)


def packed_states(bert: Any, given: Packed) -> list[Any]:
    """The last states of each sequence, float32 [its tokens, size]."""
    import torch

    device = bert.embeddings.word_embeddings.weight.device
    if device.type != "cpu":
        given = Packed(*(each.to(device) for each in given))
    states = bert.embeddings(
        input_ids=given.ids[None], token_type_ids=given.types[None], position_ids=given.places[None]
    )[0]
    hidden = torch.zeros(given.there.shape, dtype=states.dtype, device=device).masked_fill(~given.there, float("-inf"))
    for layer in bert.encoder.layer:
        attended = layer.attention.output(_attended(layer.attention.self, states, given, hidden), states)
        states = layer.output(layer.intermediate(attended), attended)
    read: list[Any] = list(states.float().split(given.there.sum(1).tolist()))
    return read


def _attended(attention: Any, states: Any, given: Packed, hidden: Any) -> Any:
    """[tokens, size]. For texts this short, products of matrices take half the time of torch's attention."""
    import torch

    heads = attention.num_attention_heads
    sequences, longest = given.at.shape

    def per_head(module: Any) -> Any:  # [sequences * heads, longest, size of a head]
        return module(states)[given.at].unflatten(-1, (heads, -1)).transpose(1, 2).flatten(0, 1)

    query, key, value = (per_head(module) for module in (attention.query, attention.key, attention.value))
    mask = hidden[:, None, None, :].expand(-1, heads, -1, -1).reshape(sequences * heads, 1, longest)
    weights = torch.baddbmm(mask, query, key.transpose(1, 2), alpha=query.shape[-1] ** -0.5).softmax(-1)
    dropped = torch.nn.functional.dropout(weights, attention.dropout.p, training=attention.training)
    seen = torch.bmm(dropped, value).view(sequences, heads, longest, -1).transpose(1, 2)
    return seen[given.there].flatten(1)
