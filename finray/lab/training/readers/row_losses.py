"""Losses over the rows or figures beside questions, as padded matrices [questions, rows]."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import TypeVar

import numpy as np
import torch
from torch.nn import functional

Item = TypeVar("Item")


def choice_loss(logits: torch.Tensor, gold: torch.Tensor, there: torch.Tensor) -> torch.Tensor:
    """Negative log of the total probability of the ``gold`` rows, summed over the questions that have some. ``there``
    is False for padding."""
    known = gold.any(1)
    own, wanted = logits[known], gold[known]
    every = own.masked_fill(~there[known], float("-inf"))
    return (torch.logsumexp(every, 1) - torch.logsumexp(own.masked_fill(~wanted, float("-inf")), 1)).sum()


def each_loss(logits: torch.Tensor, gold: torch.Tensor, there: torch.Tensor) -> torch.Tensor:
    """Logistic loss of whether each row is ``gold``: mean over the rows of a question, summed over questions."""
    losses = functional.binary_cross_entropy_with_logits(logits, gold.to(logits.dtype), reduction="none")
    return ((losses * there).sum(1) / there.sum(1).clamp(min=1)).sum()


def padded(rows: Sequence[torch.Tensor]) -> torch.Tensor:
    """[questions, longest, ...] of tensors [length, ...]."""
    return torch.nn.utils.rnn.pad_sequence(list(rows), batch_first=True)


def split(items: Sequence[Item], sizes: Sequence[int]) -> list[Sequence[Item]]:
    """Split ``items`` into runs of these ``sizes``."""
    ends = list(accumulate(sizes))
    return [items[end - size : end] for size, end in zip(sizes, ends, strict=True)]


def marked(numbers: Sequence[Iterable[int]], longest: int, device: torch.device) -> torch.Tensor:
    """Bool [questions, longest]: which ``numbers`` each question has."""
    found = np.zeros((len(numbers), longest), dtype=bool)
    for at, own in enumerate(numbers):
        found[at, list(own)] = True
    return torch.from_numpy(found).to(device)
