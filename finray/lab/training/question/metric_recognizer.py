"""Fits ``finray.question.measures.metric_recognizer`` to people's wordings of metrics, over frozen token states.

The threshold is the lowest at which few phrases for another figure get a metric, by networks that were fitted without
their writer or filing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from finray.lab.training.group_folds import folds_by_group
from finray.lab.training.question.metric_examples import MetricPhrase, Wording
from finray.models.bert.weights import Floats
from finray.models.token_states import MiniLmTokens
from finray.question.measures.formulas import usual_names
from finray.question.measures.metric_recognizer import NONE, RecognizerWeights, phrase_features, scored

UNITS, DROPOUT, EPOCHS, BATCH, RATE, DECAY = 256, 0.4, 20, 128, 3e-3, 0.02
FOLDS: Final = 3
MOST_WRONG: Final = 0.02
"""Largest share of the phrases for another figure that may get a metric."""
_SMOOTHING = 0.02


@dataclass(frozen=True, slots=True)
class Read:
    """A phrase as the network sees it: ``x`` float32 [features]."""

    phrase: MetricPhrase
    x: Floats


@dataclass(frozen=True, slots=True)
class HeldOut:
    """The likeliest metric of a phrase by a network that was not trained on its group."""

    phrase: MetricPhrase
    metric: str
    probability: float


def metrics_of(wordings: Iterable[Wording]) -> tuple[str, ...]:
    """The classes: each metric that has wordings, and none."""
    return (*dict.fromkeys(each.metric for each in wordings if each.metric != NONE), NONE)


def read(given: Iterable[MetricPhrase], tokens: MiniLmTokens) -> Iterator[Read]:
    """Prepare the phrases, except those without tokens, for the network."""
    for phrase in given:
        x = phrase_features(phrase.text, tokens)
        if x is not None:
            yield Read(phrase, x)


def fit_recognizer(
    given: Sequence[Read], metrics: Sequence[str], *, seed: int = 0, epochs: int = EPOCHS
) -> RecognizerWeights:
    """Fit a network, with threshold 0. Raises ValueError without phrases."""
    if not given:
        raise ValueError("no phrases to learn from")
    torch.manual_seed(seed)
    number = {metric: at for at, metric in enumerate(metrics)}
    x = torch.from_numpy(np.stack([each.x for each in given]))
    labels = torch.tensor([number[each.phrase.metric] for each in given])
    hidden, out = nn.Linear(x.shape[1], UNITS), nn.Linear(UNITS, len(metrics))
    network = nn.Sequential(nn.Dropout(DROPOUT / 2), hidden, nn.ReLU(), nn.Dropout(DROPOUT), out)
    optimizer = torch.optim.AdamW(network.parameters(), lr=RATE, weight_decay=DECAY)
    steps = epochs * -(-len(given) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=steps + 1)
    for _ in range(epochs):
        for some in torch.randperm(len(given)).split(BATCH):  # type: ignore[no-untyped-call]
            loss = functional.cross_entropy(network(x[some]), labels[some], label_smoothing=_SMOOTHING)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            schedule.step()
    own, bias, last, last_bias = (p.detach().numpy() for n in (hidden, out) for p in (n.weight.T, n.bias))
    return RecognizerWeights(own, bias, last, last_bias, metrics=tuple(metrics), threshold=0.0)


def held_out(given: Sequence[Read], metrics: Sequence[str], folds: int = FOLDS) -> list[HeldOut]:
    """Read each phrase by a network that was fitted without its group."""
    result = []
    for rest, own in folds_by_group(given, lambda each: each.phrase.group, folds):
        weights = fit_recognizer(rest, metrics)
        result += [_said(weights, each) for each in own]
    return result


def _said(weights: RecognizerWeights, given: Read) -> HeldOut:
    """The likeliest metric with a usual name, even if "none" or another row is likelier."""
    logits = scored(weights, given.x)
    logs = logits - np.logaddexp.reduce(logits)
    known = [at for at, metric in enumerate(weights.metrics) if metric in usual_names()]
    best = max(known, key=lambda at: float(logs[at]))
    return HeldOut(given.phrase, weights.metrics[best], float(np.exp(logs[best])))


def threshold(said: Sequence[HeldOut], most_wrong: float = MOST_WRONG) -> float:
    """The lowest at which at most ``most_wrong`` of the phrases for another figure get a metric."""
    others = sorted((each.probability for each in said if each.phrase.metric not in usual_names()), reverse=True)
    allowed = int(most_wrong * len(others))
    return 0.0 if len(others) <= allowed else float(np.nextafter(others[allowed], 2.0))


def shares(said: Sequence[HeldOut], least: float) -> dict[str, tuple[list[float], list[float]]]:
    """For each kind of phrase, whether each phrase gets the right metric and whether it gets a wrong one. Phrases for
    another figure, which have no right metric, are kinds of their own."""
    found: dict[str, tuple[list[float], list[float]]] = {}
    for each in said:
        own, given = each.phrase, each.probability >= least
        kind = f"{own.kind}{'' if own.metric in usual_names() else ', another figure'}"
        right, wrong = found.setdefault(kind, ([], []))
        right.append(float(given and each.metric == own.metric))
        wrong.append(float(given and each.metric != own.metric))
    return found


def with_threshold(weights: RecognizerWeights, least: float) -> RecognizerWeights:
    """``weights`` that name a metric from a probability of ``least`` on."""
    return replace(weights, threshold=least)


def save_recognizer(weights: RecognizerWeights, path: Path) -> None:
    """Save in half precision."""
    names = ("hidden", "hidden_bias", "out", "out_bias")
    floats = {name: getattr(weights, name).astype(np.float16) for name in names}
    np.savez_compressed(path, metrics=np.asarray(weights.metrics), threshold=np.float64(weights.threshold), **floats)
