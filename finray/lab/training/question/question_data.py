"""What the question model learns from, and what is held out for its scores."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from finray.core.errors import UsageError
from finray.index.reading.reader import IndexReader
from finray.lab.training.question.marked_questions import (
    MarkedQuestion,
    bracketed,
    marked_questions,
    with_operations,
)
from finray.lab.training.question.measure_examples import framed_questions, phrases_of
from finray.lab.training.question.metric_examples import (
    MetricPhrase,
    Wording,
    narrowed,
    of_other_figures,
    parts_of,
    phrases,
    read_wordings,
    vocabulary,
)
from finray.lab.training.question.question_model import Tagged, metrics_of, tagged
from finray.models.question_model import question_model
from finray.question.companies.catalog import CompanyCatalog
from finray.question.measures.measure_tagger import MeasureTagger
from finray.question.rule_reader import RuleReader
from finray.question.trained_reader import marks

_NARROWED: Final = 4500
"""Phrases beside a part of the company that are learned: all of them would drown the others."""
_HELD_GROUPS: Final = 3
"""One of so many filings is held out if anything is."""

Each = TypeVar("Each")


@dataclass(frozen=True, slots=True)
class QuestionData:
    """``marked``, ``others`` and ``phrases`` are to learn from; ``metrics`` are the classes of phrases."""

    marked: list[Tagged]
    others: list[Tagged]
    phrases: list[MetricPhrase]
    metrics: tuple[str, ...]
    held_questions: list[Tagged]
    held_phrases: list[MetricPhrase]


def question_data(
    questions: Path,
    index: str,
    wordings: Path,
    lines: Sequence[Mapping[str, Any]],
    without: frozenset[str],
    framed: int,
) -> QuestionData:
    """The data of the files ``questions`` (marked) and ``wordings``, and of the ``lines`` of other questions.

    ``without`` are sources of marked questions and writers to hold out. Raises UsageError for a bad line, and if one of
    ``without`` has nothing.
    """
    rules = RuleReader(CompanyCatalog(IndexReader.open(index).filings()))
    known = [*read_wordings(wordings), *vocabulary()]
    marked = marked_questions(questions)
    names = {each.source for each in marked} | {each.writer for each in known}
    if strange := sorted(without - names):
        raise UsageError(f"no questions and no wordings are of {strange[0]!r}; there are {', '.join(sorted(names))}")
    held = {each.question for each in marked if each.source in without}
    others = [*_made(known, lines, framed), *with_operations(lines)]
    learned, tested = _split(marked, lambda each: each.source in without)
    more, of_writers = _split(others, lambda each: each.writer in without)
    parts = parts_of(lines)
    every = [*phrases(known), *(_some(narrowed(known, parts)) if parts else ()), *_of_others(lines)]
    own, apart = _split_phrases(every, without)

    def prepared(given: Iterable[MarkedQuestion]) -> list[Tagged]:
        return tagged(given, lambda text: marks(text, rules))

    return QuestionData(
        prepared(learned),
        prepared(each for each in more if each.question not in held),
        own,
        metrics_of(known),
        prepared([*tested, *of_writers]),
        apart,
    )


def _made(wordings: Sequence[Wording], lines: Sequence[Mapping[str, Any]], framed: int) -> Iterator[MarkedQuestion]:
    yield from bracketed(wordings)
    for writer in dict.fromkeys(each.writer for each in wordings):
        own = phrases_of([each for each in wordings if each.writer == writer], lines)
        yield from framed_questions(own, framed, writer=writer)


def _some(given: Iterable[MetricPhrase]) -> list[MetricPhrase]:
    every = list(given)
    return random.Random(0).sample(every, min(_NARROWED, len(every)))


def _of_others(lines: Sequence[Mapping[str, Any]]) -> Iterator[MetricPhrase]:
    """What questions about other rows measure, by the tagger that comes with finray."""
    return of_other_figures(lines, MeasureTagger(question_model()))


def _split_phrases(
    given: Sequence[MetricPhrase], without: frozenset[str]
) -> tuple[list[MetricPhrase], list[MetricPhrase]]:
    """To learn from, and held out: phrases of writers of ``without``, and of questions about a share of the filings."""
    filings = sorted({each.group for each in given if each.kind == "other"})
    random.Random(0).shuffle(filings)
    held = without | set(filings[::_HELD_GROUPS] if without else ())
    return _split(given, lambda each: each.group in held)


def _split(given: Iterable[Each], is_held: Callable[[Each], bool]) -> tuple[list[Each], list[Each]]:
    """To learn from, and held out."""
    learned: list[Each] = []
    held: list[Each] = []
    for each in given:
        (held if is_held(each) else learned).append(each)
    return learned, held
