"""Fits ``finray.question.measures.measure_tagger`` to questions whose measured words a person marked.

Two layers over frozen token states, trained with dropout; the score is the F1 of the marked words on questions that
were held out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from finray.core.errors import UsageError
from finray.models.bert.weights import Floats
from finray.models.token_states import MiniLmTokens, TokenStates
from finray.question.measures.measure_tagger import (
    FIRST,
    FIRST_ON,
    OPERATIONS,
    OUTSIDE,
    SECOND,
    SECOND_ON,
    Span,
    TaggerWeights,
    best_tags,
    features,
    pieces,
    question_features,
    tag_logits,
    words_at,
)
from finray.question.trained_reader import nameless_marks

UNITS, DROPOUT, EPOCHS, BATCH, RATE, DECAY = 96, 0.3, 14, 512, 2e-3, 0.02
OPERATION_EPOCHS, OPERATION_BATCH = 60, 64
_FRAMED = 0.5
"""Framed questions for each real one, when operations are learned."""
_WORD = re.compile(r"\w+")

Marks = Callable[[str], Sequence[Iterable[Span]]]


@dataclass(frozen=True, slots=True)
class MarkedQuestion:
    """``measures``: for each quantity to look up, the pieces of ``question`` that name it; ``operation`` combines the
    quantities. ``source`` is the set that the question is from. ``companies``: where the question names them, if that
    is known."""

    question: str
    measures: tuple[tuple[str, ...], ...]
    operation: str
    source: str
    companies: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class Tagged:
    """A question as the network sees it: ``x`` float32 [tokens, features], ``tags`` int64 [tokens]."""

    marked: MarkedQuestion
    states: TokenStates
    x: Floats
    tags: np.typing.NDArray[np.int64]


def marked_questions(path: Path) -> list[MarkedQuestion]:
    """Read a .jsonl file. Raises UsageError if a line is not a marked question or marks words that it does not have."""
    result = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            record = json.loads(line)
            measures = tuple(tuple(map(str, group)) for group in record["measures"])
            marked = MarkedQuestion(record["question"], measures, record["operation"], record["source"])
        except (ValueError, KeyError, TypeError) as error:
            raise UsageError(f"{path}, line {number}: not a marked question: {error!r}") from error
        absent = [piece for group in measures for piece in group if piece not in marked.question]
        if absent or marked.operation not in OPERATIONS:
            wrong = f"{absent[0]!r} is not in the question" if absent else f"no operation {marked.operation!r}"
            raise UsageError(f"{path}, line {number}: {wrong}")
        result.append(marked)
    return result


def tagged(questions: Iterable[MarkedQuestion], tokens: MiniLmTokens, marks: Marks) -> list[Tagged]:
    """Prepare ``questions``, except those without tokens, for the network."""
    result = []
    for marked in questions:
        states = tokens.states(marked.question)
        if states.spans:
            named = marked.companies
            known = [named, *nameless_marks(marked.question)] if named else marks(marked.question)
            x = features(marked.question, states, known)
            result.append(Tagged(marked, states, x, _tags(marked, states.spans)))
    return result


def _tags(marked: MarkedQuestion, spans: Sequence[Span]) -> np.typing.NDArray[np.int64]:
    """The tag of each token. A third quantity is tagged like the second."""
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


def fit_tagger(
    questions: Sequence[Tagged], framed: Sequence[Tagged] = (), *, seed: int = 0, epochs: int = EPOCHS
) -> TaggerWeights:
    """Fit to ``questions`` and ``framed`` ones: words to all of these, operations to a part, because real questions ask
    for other operations. Raises ValueError without questions."""
    torch.manual_seed(seed)
    every = [*questions, *framed]
    x, tags = np.concatenate([each.x for each in every]), np.concatenate([each.tags for each in every])
    hidden, out = torch.nn.Linear(x.shape[1], UNITS), torch.nn.Linear(UNITS, SECOND_ON + 1)
    drop = torch.nn.Dropout
    _train(torch.nn.Sequential(drop(DROPOUT), hidden, torch.nn.ReLU(), drop(DROPOUT), out), x, tags, epochs, BATCH)
    some = [*questions, *framed[: int(_FRAMED * len(questions))]]
    whole = np.stack([question_features(each.states, each.x) for each in some])
    named = np.array([OPERATIONS.index(each.marked.operation) for each in some])
    operation = torch.nn.Linear(whole.shape[1], len(OPERATIONS))
    _train(torch.nn.Sequential(drop(DROPOUT), operation), whole, named, OPERATION_EPOCHS, OPERATION_BATCH)
    layers = (hidden, out, operation)
    parts = (part.detach().numpy() for layer in layers for part in (layer.weight.T, layer.bias))
    return TaggerWeights(*parts)


def _train(network: torch.nn.Sequential, x: Floats, y: np.typing.NDArray[np.int64], epochs: int, batch: int) -> None:
    inputs, labels = torch.from_numpy(x), torch.from_numpy(y)
    optimizer = torch.optim.AdamW(network.parameters(), lr=RATE, weight_decay=DECAY)
    for _ in range(epochs):
        for rows in torch.randperm(len(inputs)).split(batch):  # type: ignore[no-untyped-call]
            loss = torch.nn.functional.cross_entropy(network(inputs[rows]), labels[rows])
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()


def operation_accuracy(weights: TaggerWeights, questions: Sequence[Tagged]) -> list[float]:
    """1 for each question whose operation is right, else 0."""
    scores = (question_features(each.states, each.x) @ weights.operation + weights.operation_bias for each in questions)
    named = (OPERATIONS[int(score.argmax())] for score in scores)
    return [float(name == each.marked.operation) for name, each in zip(named, questions, strict=True)]


def word_f1(weights: TaggerWeights, questions: Sequence[Tagged]) -> list[float]:
    """F1 of the marked words, for each question that has any."""
    scores = []
    for each in questions:
        gold = _words(each.marked.measures)
        if gold:
            places = pieces(each.marked.question, each.states.spans, best_tags(tag_logits(weights, each.x)))
            found = _words(words_at(each.marked.question, places))
            scores.append(2 * len(gold & found) / (len(gold) + len(found)))
    return scores


def save_tagger(weights: TaggerWeights, path: Path) -> None:
    """Save in half precision, which does not change the tags."""
    parts = {name: getattr(weights, name).astype(np.float16) for name in TaggerWeights.__dataclass_fields__}
    np.savez_compressed(path, allow_pickle=False, **parts)


def _words(measures: Iterable[Iterable[str]]) -> set[str]:
    return {word for group in measures for piece in group for word in _WORD.findall(piece.lower())}
