"""Fine-tunes the models that read questions beside rows of tables and beside sentences, together.

Each question is read beside its gold rows and hard negatives. The first and second operand are chosen by a softmax over
the rows, listed rows by a logistic loss, the operation from the question alone; sentences by both losses. Whether a row
is an operand at all, and whether all operands are there, has a logistic loss; some questions are read without the rows
of an operand, and questions about sentences beside rows of tables, none of which is one.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch.nn import functional

from finray.core.digits import decimal_digits
from finray.core.errors import ModelUnavailableError
from finray.lab.training.input_ranges import observed_ranges
from finray.lab.training.minilm_module import minilm_layers
from finray.lab.training.readers.reader_module import (
    figure_state,
    load_state,
    role_logits,
    row_heads,
    sentence_heads,
)
from finray.lab.training.readers.row_examples import RowExample
from finray.lab.training.readers.row_losses import choice_loss, each_loss, marked, padded, split
from finray.lab.training.readers.trained_pairs import TrainedPairs
from finray.models.pair_reader import LAYERS
from finray.models.row_reader import MEASURES, OPERATIONS, ROW_TOKENS, RowReader
from finray.models.sentence_reader import SENTENCE_TOKENS

Report = Callable[[str], None]
_SIDE_WEIGHT, _LISTED_WEIGHT, _OPERAND_WEIGHT = 0.5, 3.0, 2.0
_DROPPED = 0.3
"""Share of the questions about tables that are read without the rows of one of their operands."""


_OBSERVED = 400
"""Questions on which the ranges of inputs are observed."""


@dataclass(frozen=True, slots=True)
class RowReaderOptions:
    """``rows`` is the number of rows beside a question, ``questions`` the size of a batch. ``rate`` is the learning
    rate of the layers, ``head_rate`` that of the heads. Training ends early after ``seconds``."""

    epochs: int = 2
    rows: int = 8
    questions: int = 16
    rate: float = 1.5e-4
    head_rate: float = 8e-4
    seed: int = 0
    seconds: float = float("inf")


def fine_tune(
    given: Sequence[RowExample],
    options: RowReaderOptions,
    report: Report,
    start: Mapping[str, npt.NDArray[Any]] | None = None,
) -> dict[str, npt.NDArray[Any]]:
    """The state of the fitted module for RowReader and SentenceReader, without word embeddings: those stay MiniLM's;
    with the ranges of inputs on some of ``given``.
    ``start`` is the state to go on from, instead of MiniLM's; heads that it lacks start anew.

    Raises ValueError without examples, and ModelUnavailableError if ``start`` has other layers.
    """
    if not given:
        raise ValueError("no question has its gold rows in the index: nothing to learn from")
    torch.manual_seed(options.seed)
    training = _Training(options, start or {})
    steps = options.epochs * -(-len(given) // options.questions)
    optimizer = torch.optim.AdamW(training.groups(), weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: _rate(step, steps))
    started, losses = time.monotonic(), 0.0
    for step, examples in enumerate(_batches(given, options), start=1):
        loss = training.loss(examples)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(training.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad(set_to_none=True)
        losses += float(loss.detach())
        if step % 25 == 0 or step == steps:
            report(f"step {step} of {steps}: loss {losses / (step % 25 or 25):.3f}")
            losses = 0.0
        if time.monotonic() - started > options.seconds and step < steps:
            report(f"time limit reached after step {step} of {steps}")
            break
    return training.state() | training.ranges(random.Random(options.seed).sample(given, min(len(given), _OBSERVED)))


def operand_recall(reader: RowReader, given: Sequence[RowExample], rows: int) -> list[float]:
    """Per question with a first operand among its likeliest ``rows``: 1.0 if it is scored highest."""
    found = []
    for example in given:
        if any(number < rows for number in example.first):
            scores = reader.rows(example.question, example.rows[:rows])
            found.append(float(int(scores.first.argmax()) in example.first))
    return found


class _Training:
    def __init__(self, options: RowReaderOptions, start: Mapping[str, npt.NDArray[Any]]) -> None:
        self._options = options
        self._random = random.Random(options.seed)
        self._device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self._bert = minilm_layers(LAYERS)
        self._pairs = TrainedPairs(self._bert, self._device)
        self._heads: dict[str, Any] = {**row_heads(), **sentence_heads()}
        lacking = load_state(self._bert, self._heads, start)
        if start and any(name.startswith("bert.") for name in lacking):
            raise ModelUnavailableError(f"these are no weights of the row reader: they lack {lacking[:3]}")
        for module in (self._bert, *self._heads.values()):
            module.to(self._device).train()

    def parameters(self) -> list[Any]:
        return [parameter for group in self.groups() for parameter in group["params"]]

    def groups(self) -> list[dict[str, Any]]:
        layers = [p for p in self._bert.parameters() if p.requires_grad]
        heads = [p for head in self._heads.values() for p in head.parameters()]
        return [{"params": layers, "lr": self._options.rate}, {"params": heads, "lr": self._options.head_rate}]

    def state(self) -> dict[str, npt.NDArray[Any]]:
        modules = {"bert": self._bert, **self._heads}
        return {
            f"{name}.{key}": value.detach().cpu().numpy()
            for name, module in modules.items()
            for key, value in module.state_dict().items()
            if "word_embeddings" not in key
        }

    def ranges(self, examples: Sequence[RowExample]) -> dict[str, npt.NDArray[Any]]:
        """The ranges of inputs (``finray.lab.training.input_ranges``) on ``examples``."""
        with observed_ranges(self._bert, LAYERS) as found:
            for example in examples:
                limit = SENTENCE_TOKENS if example.answering else ROW_TOKENS
                texts = (*example.rows[: self._options.rows], "")
                self._pairs.states([(example.question, text) for text in texts], limit)
        return dict(found)

    def loss(self, examples: Sequence[RowExample]) -> torch.Tensor:
        """Mean over ``examples``, which are all of tables or all of sentences."""
        chosen = [self._chosen(example) for example in examples]
        texts = [(*(e.rows[at] for at in numbers), "") for e, (numbers, _) in zip(examples, chosen, strict=True)]
        states, tokens = self._pairs.states(
            [(e.question, text) for e, own in zip(examples, texts, strict=True) for text in own],
            SENTENCE_TOKENS if examples[0].answering else ROW_TOKENS,
        )
        sizes = [len(own) for own in texts]
        total = self._of_questions(examples, states[torch.tensor(np.cumsum(sizes) - 1, device=self._device)])
        of_each: tuple[torch.Tensor, ...] = states.split(sizes)  # type: ignore[no-untyped-call]
        if examples[0].answering:
            rows = [numbers for numbers, _ in chosen]
            total = total + self._of_sentences(examples, rows, of_each, split(tokens, sizes))
        else:
            total = total + self._of_rows(examples, chosen, of_each)
        return total / len(examples)

    def _of_rows(
        self, examples: Sequence[RowExample], chosen: Sequence[tuple[list[int], bool]], states: Sequence[torch.Tensor]
    ) -> torch.Tensor:
        """``states``: for each question [rows + 1, STATE], the question alone last."""
        logits, present = role_logits(self._heads, states)
        roles = padded([own[:-1] for own in torch.split(logits, [len(own) for own in states])])
        there = self._marked([range(len(numbers)) for numbers, _ in chosen], roles.shape[1])
        numbered = list(zip(examples, (numbers for numbers, _ in chosen), strict=True))
        first, second, listed, operand = (
            self._marked([_places(numbers, gold(example)) for example, numbers in numbered], roles.shape[1])
            for gold in (attrgetter("first"), attrgetter("second"), attrgetter("listed"), attrgetter("gold"))
        )
        total = choice_loss(roles[..., 0], first, there) + choice_loss(roles[..., 1], second, there)
        known = listed.any(1)
        total = total + _LISTED_WEIGHT * each_loss(roles[known, :, 2], listed[known], there[known])
        total = total + _OPERAND_WEIGHT * each_loss(roles[..., 3], operand, there)
        complete = torch.tensor([float(each) for _, each in chosen], device=self._device)
        return total + functional.binary_cross_entropy_with_logits(present, complete, reduction="sum")

    def _of_sentences(
        self,
        examples: Sequence[RowExample],
        chosen: Sequence[Sequence[int]],
        states: Sequence[torch.Tensor],
        tokens: Sequence[Sequence[torch.Tensor]],
    ) -> torch.Tensor:
        answers = padded([self._heads["answers"](own)[:-1, 0] for own in states])
        there = self._marked([range(len(numbers)) for numbers in chosen], answers.shape[1])
        places = [_places(numbers, example.answering) for example, numbers in zip(examples, chosen, strict=True)]
        gold = self._marked(places, answers.shape[1])
        known = gold.any(1)
        total = choice_loss(answers, gold, there) + each_loss(answers[known], gold[known], there[known])
        for each in zip(examples, chosen, states, tokens, strict=True):
            total = total + self._of_figures(*each)
        return total

    def _of_questions(self, examples: Sequence[RowExample], states: torch.Tensor) -> torch.Tensor:
        """The loss of what is read from the questions alone; ``states`` [examples, STATE]."""
        wanted: Mapping[str, tuple[float, list[int | None]]] = {
            "ops": (1.0, [OPERATIONS.index(e.operation) for e in examples]),
            "axis": (_SIDE_WEIGHT, [e.several for e in examples]),
            "order": (_SIDE_WEIGHT, [e.backwards for e in examples]),
            "measure": (_SIDE_WEIGHT, [e.measure and MEASURES.index(e.measure) for e in examples]),
        }
        total = torch.zeros((), device=self._device)
        for name, (weight, gold) in wanted.items():
            known = [at for at, each in enumerate(gold) if each is not None]
            if known:
                target = torch.tensor([int(gold[at] or 0) for at in known], device=self._device)
                total = total + weight * functional.cross_entropy(
                    self._heads[name](states[known]), target, reduction="sum"
                )
        return total

    def _of_figures(
        self, example: RowExample, numbers: Sequence[int], states: torch.Tensor, tokens: Sequence[torch.Tensor]
    ) -> torch.Tensor:
        """The loss of which figure of the sentences answers; 0 if that is not known, or they have no figure."""
        read: list[torch.Tensor] = []
        gold: list[int] = []
        for number, state, own in zip(numbers, states, tokens, strict=False):  # the question alone is last
            text = example.rows[number]
            places, spans = self._pairs.figures(text)
            for (start, end), span in zip(places, spans, strict=True):
                if span[1] > span[0]:
                    if number in example.answering and _is_printed(example.figure or "", text[start:end]):
                        gold.append(len(read))
                    read.append(figure_state(own, span, state))
        if not read or example.figure is None or (example.figure and not gold):
            return torch.zeros((), device=self._device)
        logits = self._heads["figure"](torch.stack(read)).T
        there = torch.ones_like(logits, dtype=torch.bool)
        wanted = self._marked([gold], len(read))
        return each_loss(logits, wanted, there) + choice_loss(logits, wanted, there)

    def _marked(self, numbers: Sequence[Iterable[int]], longest: int) -> torch.Tensor:
        return marked(numbers, longest, self._device)

    def _chosen(self, example: RowExample) -> tuple[list[int], bool]:
        """At most six gold rows and the negatives, likely ones and an unlikely one; and whether all operands are there.
        Some questions lose the rows of an operand, and all rows with the same labels, which may state the same."""
        single = [(row,) for row in (*example.listed, *example.further)]
        needed = [each for each in (example.first, example.second, *single) if each]
        dropped = self._random.choice(needed) if needed and self._random.random() < _DROPPED else ()
        labels = {_label(example.rows[number]) for number in dropped}
        left = [number for number, row in enumerate(example.rows) if _label(row) not in labels]
        if not left:
            dropped, left = (), list(range(len(example.rows)))
        gold = [number for number in left if number in example.gold][:6]
        rest = [number for number in left if number not in example.gold]
        near, far = rest[: 2 * self._options.rows], rest[2 * self._options.rows :]
        self._random.shuffle(near)
        negatives = near[: max(self._options.rows - len(gold), 3)]
        if far and negatives:
            negatives[-1:] = [self._random.choice(far)]
        return gold + negatives, bool(gold) and not dropped


def _batches(given: Sequence[RowExample], options: RowReaderOptions) -> Iterator[list[RowExample]]:
    """Batches of tables or of sentences, never both, in a new order each epoch."""
    chance = random.Random(options.seed)
    for _ in range(options.epochs):
        epoch = []
        for sentences in (False, True):
            own = [example for example in given if bool(example.answering) == sentences]
            chance.shuffle(own)
            epoch += [own[start : start + options.questions] for start in range(0, len(own), options.questions)]
        chance.shuffle(epoch)
        yield from epoch


def _is_printed(figure: str, text: str) -> bool:
    printed = decimal_digits(figure)
    return figure.lower() == text.lower() or (printed != "" and printed == decimal_digits(text))


def _label(row: str) -> str:
    return row.partition(" | ")[0].lower()


def _places(numbers: Sequence[int], gold: Iterable[int]) -> list[int]:
    """Where the ``gold`` rows are among the chosen ``numbers``."""
    return [place for place, number in enumerate(numbers) if number in gold]


def _rate(step: int, steps: int) -> float:
    """Linear warm-up over a twentieth of the steps, then linear decay."""
    return min(1.0, (step + 1) / max(1.0, 0.05 * steps)) * max(0.02, 1 - step / max(1, steps))
