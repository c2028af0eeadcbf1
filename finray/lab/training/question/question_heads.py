"""Fits linear heads over the row reader's states of questions (``finray.answering.question_heads``): multinomial
regressions with an L2 penalty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from finray.answering.question_heads import QuestionHeads
from finray.core.arrays import Floats
from finray.lab.training.group_folds import folds_by_group

UNKNOWN = -1
"""Label of a question that says nothing about a head."""
L2 = 10.0
_STEPS = 300


@dataclass(frozen=True)
class HeadData:
    """``states`` float64 [questions, state]; ``labels`` int64 [questions] by head; folds do not split a group."""

    states: Floats
    labels: Mapping[str, npt.NDArray[np.int64]]
    groups: Sequence[str]

    def of(self, rows: Sequence[int]) -> HeadData:
        """The questions with these numbers."""
        return HeadData(
            self.states[rows],
            {name: labels[rows] for name, labels in self.labels.items()},
            [self.groups[row] for row in rows],
        )


def fit_heads(data: HeadData, outputs: Mapping[str, int], l2: float = L2) -> QuestionHeads:
    """Fit heads with this number of ``outputs`` each. Raises ValueError if no question has one of the labels."""
    weights, biases = {}, {}
    for name, size in outputs.items():
        known = data.labels[name] != UNKNOWN
        labels = data.labels[name][known]
        if len(np.unique(labels)) < size:
            raise ValueError(f"no question shows each of the {size} answers of the head {name!r}")
        weights[name], biases[name] = _regression(data.states[known], labels, size, l2)
    return QuestionHeads(weights, biases)


def held_out_heads(data: HeadData, outputs: Mapping[str, int], l2: float = L2) -> list[QuestionHeads]:
    """For each question, heads that were fitted without its group. Raises ValueError if all are of one group, or if
    :func:`fit_heads` does."""
    result: dict[int, QuestionHeads] = {}
    for rest, own in folds_by_group(range(len(data.groups)), data.groups.__getitem__):
        heads = fit_heads(data.of(rest), outputs, l2)
        result |= dict.fromkeys(own, heads)
    if len(result) < len(data.groups):
        raise ValueError(f"{len(data.groups)} questions of one group: none can be held out")
    return [result[number] for number in range(len(data.groups))]


def _regression(
    x: Floats, y: npt.NDArray[np.int64], outputs: int, l2: float
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    import torch

    inputs, labels = torch.from_numpy(np.ascontiguousarray(x)), torch.from_numpy(np.ascontiguousarray(y))
    weight = torch.zeros((x.shape[1], outputs), dtype=torch.float64, requires_grad=True)
    bias = torch.zeros(outputs, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([weight, bias], max_iter=_STEPS, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        optimizer.zero_grad()
        value = torch.nn.functional.cross_entropy(inputs @ weight + bias, labels, reduction="sum")
        value = value + l2 / 2 * (weight**2).sum()
        value.backward()  # type: ignore[no-untyped-call]
        return value

    optimizer.step(loss)  # type: ignore[no-untyped-call]
    return weight.detach().numpy().astype(np.float32), bias.detach().numpy().astype(np.float32)
