"""Fine-tunes ``finray.models.question_model``: the words and the operation of questions, and the metrics of phrases.

Each step reads some questions that people marked, some made-up or unmarked ones, and some phrases. A model of frozen
MiniLM states recognizes far fewer metrics: .62 instead of .81 of 1,614 phrases of writers that it never saw.
"""

from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.nn import functional

from finray.lab.training.question.marked_questions import MarkedQuestion
from finray.lab.training.question.metric_examples import MetricPhrase, Wording
from finray.lab.training.question.question_module import QuestionModule
from finray.models.bert.tokens import placed_tokens
from finray.models.bert.weights import Floats, State, quantized
from finray.models.question_model import LABELS, MAX_TOKENS, OPERATIONS, WEIGHTS, MetricLabels, QuestionModel
from finray.question.measures.formulas import usual_names
from finray.question.measures.measure_tagger import (
    FIRST,
    FIRST_ON,
    OUTSIDE,
    SECOND,
    SECOND_ON,
    Span,
    best_tags,
    pieces,
    token_marks,
    words_at,
)
from finray.question.measures.metric_recognizer import NONE
from finray.question.trained_reader import nameless_marks

MARKED, OTHERS, PHRASES = 10, 22, 48
"""Questions that people marked, other questions, and phrases of a step."""
MOST_WRONG: Final = 0.02
"""Largest share of the phrases for another figure that may get a metric."""
_RATE, _HEAD_RATE, _DECAY, _WARM_UP = 2e-4, 2e-3, 0.01, 0.1
_TAG_WEIGHT, _OPERATION_WEIGHT, _SMOOTHING = 2.0, 0.5, 0.02
_PHRASE_TOKENS = 62
_REPORT = 50
_WORD = re.compile(r"\w+")

Marks = Callable[[str], Sequence[Iterable[Span]]]
Each = TypeVar("Each")


@dataclass(frozen=True, slots=True)
class Tagged:
    """A question as the module sees it: ``ids`` of its tokens, ``spans`` their places, ``marks`` [tokens, MARKS],
    ``tags`` int64 [tokens], None if they are not known."""

    marked: MarkedQuestion
    ids: Sequence[int]
    spans: Sequence[Span]
    marks: Floats
    tags: npt.NDArray[np.int64] | None


@dataclass(frozen=True, slots=True)
class Named:
    """The likeliest metric of a phrase with a usual name."""

    phrase: MetricPhrase
    metric: str
    probability: float


def metrics_of(wordings: Iterable[Wording]) -> tuple[str, ...]:
    """The classes: each metric that has wordings, and none."""
    return (*dict.fromkeys(each.metric for each in wordings if each.metric != NONE), NONE)


def tagged(questions: Iterable[MarkedQuestion], marks: Marks) -> list[Tagged]:
    """Prepare ``questions``, except those without tokens, for the module."""
    result = []
    for marked in questions:
        ids, spans = placed_tokens(marked.question)
        ids, spans = ids[:MAX_TOKENS], spans[:MAX_TOKENS]
        if ids:
            named = marked.companies
            known = [named, *nameless_marks(marked.question)] if named else marks(marked.question)
            flags = token_marks(marked.question, spans, known)
            result.append(Tagged(marked, ids, spans, flags, _tags(marked, spans)))
    return result


def _tags(marked: MarkedQuestion, spans: Sequence[Span]) -> npt.NDArray[np.int64] | None:
    """The tag of each token. A third quantity is tagged like the second."""
    if marked.measures is None:
        return None
    where = np.asarray(spans)
    tags = np.full(len(spans), OUTSIDE, dtype=np.int64)
    for number, group in enumerate(marked.measures):
        first, on = (FIRST, FIRST_ON) if number == 0 else (SECOND, SECOND_ON)
        for piece in group:
            start = marked.question.find(piece)
            inside = np.flatnonzero((where[:, 0] < start + len(piece)) & (where[:, 1] > start))
            tags[inside] = on
            tags[inside[:1]] = first
    return tags


def fine_tune(
    marked: Sequence[Tagged],
    others: Sequence[Tagged],
    phrases: Sequence[MetricPhrase],
    metrics: Sequence[str],
    *,
    steps: int,
    seed: int = 0,
    report: Callable[[str], None] = lambda _: None,
) -> dict[str, npt.NDArray[np.float32]]:
    """The state of a model for these ``metrics``. Raises ValueError without questions or phrases."""
    number = {metric: at for at, metric in enumerate(metrics)}
    meant = [(ids, number[each.metric]) for each in phrases if (ids := _phrase_ids(each))]
    if not (marked and others and meant):
        raise ValueError("give marked questions, other questions and phrases to learn from")
    torch.manual_seed(seed)
    chance, module = random.Random(seed), QuestionModule(len(metrics)).train()
    optimizer = torch.optim.AdamW(module.groups(_RATE, _HEAD_RATE), weight_decay=_DECAY)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, [_RATE, _HEAD_RATE], total_steps=steps + 1, pct_start=_WARM_UP
    )
    streams = [_endless(marked, chance), _endless(others, chance)]
    of_phrases = _endless(meant, chance)
    started, losses = time.monotonic(), 0.0
    for step in range(1, steps + 1):
        asked = [next(stream) for stream, count in zip(streams, (MARKED, OTHERS), strict=True) for _ in range(count)]
        loss = _of_questions(module, asked) + _of_phrases(module, [next(of_phrases) for _ in range(PHRASES)])
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(module.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        losses += float(loss.detach())
        if step % _REPORT == 0 or step == steps:
            seconds = time.monotonic() - started
            report(f"step {step} of {steps}: loss {losses / (step % _REPORT or _REPORT):.3f}, {seconds:.0f} s")
            losses = 0.0
    return module.eval().state()


def _of_questions(module: QuestionModule, given: Sequence[Tagged]) -> torch.Tensor:
    tags, operations = module.questions([each.ids for each in given], [each.marks for each in given])
    known = [(own, torch.from_numpy(each.tags)) for own, each in zip(tags, given, strict=True) if each.tags is not None]
    named = [at for at, each in enumerate(given) if each.marked.operation]
    gold = torch.tensor([OPERATIONS.index(given[at].marked.operation) for at in named])
    words, wanted = (torch.cat(part) for part in zip(*known, strict=True))
    return _TAG_WEIGHT * functional.cross_entropy(words, wanted) + _OPERATION_WEIGHT * functional.cross_entropy(
        operations[named], gold
    )


def _of_phrases(module: QuestionModule, given: Sequence[tuple[list[int], int]]) -> torch.Tensor:
    logits = module.phrases([ids for ids, _ in given])
    return functional.cross_entropy(logits, torch.tensor([metric for _, metric in given]), label_smoothing=_SMOOTHING)


def _endless(given: Sequence[Each], chance: random.Random) -> Iterator[Each]:
    """``given`` again and again, each time in a new order."""
    while True:
        yield from chance.sample(given, len(given))


def _phrase_ids(phrase: MetricPhrase) -> list[int]:
    return placed_tokens(phrase.text)[0][:_PHRASE_TOKENS]


def operation_accuracy(model: QuestionModel, questions: Iterable[Tagged]) -> list[float]:
    """For each question whose operation is known, 1 if the model names it, else 0."""
    known = [each for each in questions if each.marked.operation]
    best = [int(model.question(each.ids, each.marks).operations.argmax()) for each in known]
    return [float(OPERATIONS[at] == each.marked.operation) for at, each in zip(best, known, strict=True)]


def word_f1(model: QuestionModel, questions: Iterable[Tagged]) -> list[float]:
    """F1 of the marked words, for each question that has any."""
    scores = []
    for each in questions:
        gold = _words(each.marked.measures or ())
        if gold:
            tags = best_tags(model.question(each.ids, each.marks).tags)
            found = _words(words_at(each.marked.question, pieces(each.marked.question, each.spans, tags)))
            scores.append(2 * len(gold & found) / (len(gold) + len(found)))
    return scores


def named(model: QuestionModel, phrases: Iterable[MetricPhrase]) -> list[Named]:
    """The likeliest metric of each phrase that has tokens, even if "none" or another row is likelier."""
    metrics = model.labels.metrics
    known = [at for at, metric in enumerate(metrics) if metric in usual_names()]
    result = []
    for each in phrases:
        ids = _phrase_ids(each)
        if ids:
            logs = model.phrase(ids)
            best = max(known, key=lambda at: float(logs[at]))
            result.append(Named(each, metrics[best], float(np.exp(logs[best]))))
    return result


def threshold(said: Sequence[Named], most_wrong: float = MOST_WRONG) -> float:
    """The lowest at which at most ``most_wrong`` of the phrases for another figure get a metric."""
    others = sorted((each.probability for each in said if each.phrase.metric not in usual_names()), reverse=True)
    allowed = int(most_wrong * len(others))
    return 0.0 if len(others) <= allowed else float(np.nextafter(others[allowed], 2.0))


def shares(said: Sequence[Named], least: float) -> dict[str, tuple[list[float], list[float]]]:
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


def save_model(state: State, labels: MetricLabels, folder: Path) -> None:
    """Write the weights, a byte for each, and the labels to ``folder``."""
    np.savez_compressed(folder / WEIGHTS, allow_pickle=False, **quantized(state))
    record = {"threshold": round(labels.threshold, 4), "metrics": list(labels.metrics)}
    (folder / LABELS).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def _words(measures: Iterable[Iterable[str]]) -> set[str]:
    return {word for group in measures for piece in group for word in _WORD.findall(piece.lower())}
