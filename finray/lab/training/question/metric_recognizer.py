"""Fits ``finray.question.measures.metric_recognizer`` to people's wordings of metrics.

Two losses, over frozen token states: of the metric, and of which tokens mean it. The threshold is the lowest at which
few questions for another figure get a metric, by networks that were fitted without their writer or company.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.nn import functional

from finray.lab.training.group_folds import folds_by_group
from finray.lab.training.question.measure_tagger import Marks
from finray.lab.training.question.metric_examples import MetricExample, Wording
from finray.models.bert.weights import SIZE
from finray.models.token_states import MiniLmTokens
from finray.question.measures.metric_recognizer import NONE, RecognizerWeights, scored, token_features
from finray.question.measures.usual_names import usual_names
from finray.question.trained_reader import nameless_marks

UNITS, PARTS, DROPOUT, EPOCHS, BATCH, RATE, DECAY = 128, 192, 0.3, 7, 128, 2e-3, 0.02
FOLDS: Final = 3
MOST_WRONG: Final = 0.01
"""Share of the questions for another figure that may get a metric."""
_WORDS_WEIGHT, _SMOOTHING = 0.5, 0.02
_OF_LIKE_LENGTH = 20
"""Batches whose questions are sorted by length together."""


@dataclass(frozen=True, slots=True)
class Read:
    """A question as the network sees it: ``x`` float16 [tokens, features]; ``words`` bool [tokens], None if it is not
    known which mean the metric."""

    example: MetricExample
    x: npt.NDArray[np.float16]
    words: npt.NDArray[np.bool_] | None


@dataclass(frozen=True, slots=True)
class HeldOut:
    """What a network says of a question that it has not learned from."""

    example: MetricExample
    metric: str
    probability: float


def metrics_of(wordings: Iterable[Wording]) -> tuple[str, ...]:
    """The classes: each metric that has wordings, and none."""
    return (*dict.fromkeys(each.metric for each in wordings if each.metric != NONE), NONE)


def read(examples: Sequence[MetricExample], tokens: MiniLmTokens, marks: Marks) -> Iterator[Read]:
    """Questions without tokens, or whose words have none, are left out."""
    for example in examples:
        states = tokens.states(example.question)
        if not states.spans:
            continue
        words = None
        if example.words is not None:
            words = np.array([any(a < end and start < b for a, b in example.words) for start, end in states.spans])
        if words is None or words.any():
            named = example.companies
            marked = [named, *nameless_marks(example.question)] if named else marks(example.question)
            yield Read(example, token_features(example.question, states, marked).astype(np.float16), words)


class _Network(nn.Module):
    def __init__(self, features: int, metrics: int) -> None:
        super().__init__()
        self.drop = nn.Dropout(DROPOUT)
        self.hidden, self.telling = nn.Linear(features, UNITS), nn.Linear(UNITS, 1)
        self.value, self.out = nn.Linear(2 * SIZE, PARTS), nn.Linear(2 * PARTS, metrics)

    def forward(self, x: torch.Tensor, there: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits of tokens [questions, longest] and of metrics [questions, metrics]; as ``scored``, for many."""
        telling = self.telling(self.drop(torch.relu(self.hidden(self.drop(x)))))[..., 0].masked_fill(~there, -1e4)
        values = torch.relu(self.value(self.drop(x[..., : 2 * SIZE])))
        mean = (torch.softmax(telling, 1)[..., None] * values).sum(1)
        greatest = (values * torch.sigmoid(telling)[..., None]).max(1).values
        return telling, self.out(self.drop(torch.cat([mean, greatest], -1)))


def fit_recognizer(
    given: Sequence[Read], metrics: Sequence[str], *, seed: int = 0, epochs: int = EPOCHS
) -> RecognizerWeights:
    """Of threshold 0. Raises ValueError without questions."""
    if not given:
        raise ValueError("no questions to learn from")
    torch.manual_seed(seed)
    network = _Network(given[0].x.shape[1], len(metrics))
    number = {metric: at for at, metric in enumerate(metrics)}
    batches = epochs * -(-len(given) // BATCH)
    optimizer = torch.optim.AdamW(network.parameters(), lr=RATE, weight_decay=DECAY)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=batches + epochs)
    for some in _batches([len(each.x) for each in given], epochs, random.Random(seed)):
        batch = [given[at] for at in some]
        x, there, words = _padded(batch)
        telling, logits = network(x, there)
        labels = torch.tensor([number[each.example.metric] for each in batch])
        loss = functional.cross_entropy(logits, labels, label_smoothing=_SMOOTHING)
        known = there & torch.tensor([each.words is not None for each in batch])[:, None]
        if known.any():
            loss = loss + _WORDS_WEIGHT * functional.binary_cross_entropy_with_logits(telling[known], words[known])
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        schedule.step()
    state = {name: value.detach().numpy() for name, value in network.state_dict().items()}
    return RecognizerWeights(
        hidden=state["hidden.weight"].T, hidden_bias=state["hidden.bias"],
        telling=state["telling.weight"][0], telling_bias=state["telling.bias"],
        value=state["value.weight"].T, value_bias=state["value.bias"],
        out=state["out.weight"].T, out_bias=state["out.bias"],
        metrics=tuple(metrics), threshold=0.0,
    )  # fmt: skip


def held_out(given: Sequence[Read], metrics: Sequence[str], folds: int = FOLDS) -> list[HeldOut]:
    """Each question by a network that was fitted without its group."""
    result = []
    for rest, own in folds_by_group([each.example.group for each in given], folds):
        weights = fit_recognizer([given[at] for at in rest], metrics)
        result += [_said(weights, given[at]) for at in own]
    return result


def threshold(said: Sequence[HeldOut], most_wrong: float = MOST_WRONG) -> float:
    """The lowest at which at most ``most_wrong`` of the questions for another figure get a metric."""
    others = sorted((each.probability for each in said if each.example.metric not in usual_names()), reverse=True)
    allowed = int(most_wrong * len(others))
    return 0.0 if len(others) <= allowed else float(np.nextafter(others[allowed], 2.0))


def shares(said: Sequence[HeldOut], least: float) -> dict[str, tuple[list[float], list[float]]]:
    """By kind of question, whether each gets the right metric, and another one; questions for another figure, which
    have no right one, apart."""
    found: dict[str, tuple[list[float], list[float]]] = {}
    for each in said:
        own, given = each.example, each.probability >= least
        kind = f"{own.wording or 'table row'}{'' if own.metric in usual_names() else ', another figure'}"
        right, wrong = found.setdefault(kind, ([], []))
        right.append(float(given and each.metric == own.metric))
        wrong.append(float(given and each.metric != own.metric))
    return found


def with_threshold(weights: RecognizerWeights, least: float) -> RecognizerWeights:
    """``weights`` that name a metric from a probability of ``least`` on."""
    return replace(weights, threshold=least)


def save_recognizer(weights: RecognizerWeights, path: Path) -> None:
    """In half precision."""
    floats = {
        name: getattr(weights, name).astype(np.float16)
        for name in RecognizerWeights.__dataclass_fields__
        if name not in ("metrics", "threshold")
    }
    np.savez_compressed(
        path, allow_pickle=False, metrics=np.array(weights.metrics), threshold=np.float64(weights.threshold), **floats
    )


def _said(weights: RecognizerWeights, given: Read) -> HeldOut:
    """The likeliest metric, though none or another row may be likelier."""
    _, logits = scored(weights, given.x.astype(np.float32))
    logs = logits - np.logaddexp.reduce(logits)
    known = [at for at, metric in enumerate(weights.metrics) if metric in usual_names()]
    best = max(known, key=lambda at: float(logs[at]))
    return HeldOut(given.example, weights.metrics[best], float(np.exp(logs[best])))


def _batches(lengths: Sequence[int], epochs: int, chance: random.Random) -> Iterator[list[int]]:
    order = list(range(len(lengths)))
    for _ in range(epochs):
        chance.shuffle(order)
        for start in range(0, len(order), BATCH * _OF_LIKE_LENGTH):
            near = sorted(order[start : start + BATCH * _OF_LIKE_LENGTH], key=lambda at: lengths[at])
            batches = [near[at : at + BATCH] for at in range(0, len(near), BATCH)]
            chance.shuffle(batches)
            yield from batches


def _padded(batch: Sequence[Read]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """x [questions, longest, features], which tokens are there, and 1 for those that mean the metric."""
    longest = max(len(each.x) for each in batch)
    x = np.zeros((len(batch), longest, batch[0].x.shape[1]), dtype=np.float32)
    there, words = np.zeros((len(batch), longest), dtype=bool), np.zeros((len(batch), longest), dtype=np.float32)
    for row, each in enumerate(batch):
        x[row, : len(each.x)] = each.x
        there[row, : len(each.x)] = True
        if each.words is not None:
            words[row, : len(each.x)] = each.words
    return torch.from_numpy(x), torch.from_numpy(there), torch.from_numpy(words)
