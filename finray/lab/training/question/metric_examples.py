"""Questions that teach the recognizer of metrics, with the words that mean the metric.

People's wordings (benchmarks/metric_wordings) stand in the frames of ``metric_frames.toml``, or are whole questions. A
near miss, a metric of a part, two metrics at once and questions about other rows of tables mean none.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from finray.core.data_files import shipped_data
from finray.core.errors import UsageError
from finray.filings.tables.canonical import canonical_items, names_row_label
from finray.question.measures.formulas import formulas
from finray.question.measures.measure_tagger import Span
from finray.question.measures.metric_recognizer import NONE
from finray.question.measures.usual_names import usual_names
from finray.question.synonyms import words_of

KINDS: Final = ("phrase", "question", "near")
_FRAMES_OF_PHRASE = ("value", "value", "moving", "narrowed")
"""The kinds of frames that each phrase stands in."""
_PAIRED, _BEFORE, _AFTER = 0.4, 0.4, 0.4
"""Shares of phrases beside a second one, and of questions with a sentence before and after them."""
_BRACKETS = re.compile(r"\[\[([^\[\]]{1,300})\]\]")


@dataclass(frozen=True, slots=True)
class Wording:
    """``text``: a noun phrase for ``metric`` (a key of ``usual_names``, or another row), a question with its words in
    [[brackets]] and COMPANY and PERIOD as placeholders, or a noun phrase near it that means another figure."""

    metric: str
    kind: str
    text: str
    writer: str


@dataclass(frozen=True, slots=True)
class MetricExample:
    """``metric`` is what ``question`` asks for, or "none"; ``words`` are where its words stand, None if that is not
    known; ``companies`` where those of companies do. ``wording`` is the kind of the wording, "" for other questions;
    examples of a ``group`` have one writer or one company."""

    question: str
    metric: str
    words: tuple[Span, ...] | None
    companies: tuple[Span, ...]
    wording: str
    group: str


def read_wordings(path: Path) -> list[Wording]:
    """Raises UsageError if a line is no wording of a metric."""
    result = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            record = json.loads(line)
            wording = Wording(*(str(record[name]) for name in ("metric", "kind", "text", "writer")))
        except (ValueError, KeyError, TypeError) as error:
            raise UsageError(f"{path}, line {number}: no wording of a metric: {error!r}") from error
        if not wording.metric.isidentifier() or wording.kind not in KINDS:
            raise UsageError(f"{path}, line {number}: no metric {wording.metric!r}, or no kind {wording.kind!r}")
        result.append(wording)
    return result


def vocabulary() -> Iterator[Wording]:
    """The names by which the rules know each metric."""
    names = {item.key: item.names for item in canonical_items().values()}
    names |= {formula.key: formula.names for formula in formulas().values()}
    for metric, own in names.items():
        yield from (Wording(metric, "phrase", name, "vocabulary") for name in own)


def framed(wordings: Sequence[Wording], seed: int = 0) -> Iterator[MetricExample]:
    """The questions of ``wordings``: each phrase in several frames, the same for each seed."""
    chance = random.Random(seed)
    phrases = [each.text for each in wordings if each.kind == "phrase"]
    for each in wordings:
        if each.kind == "question":
            yield _of_question(each, chance)
            continue
        for kind in _FRAMES_OF_PHRASE if each.kind == "phrase" else ("value", "value"):
            metric = NONE if each.kind == "near" or kind == "narrowed" else each.metric
            yield _of_phrase(each, kind, metric, "", chance)
        if each.kind == "phrase" and chance.random() < _PAIRED:
            yield _of_phrase(each, "paired", NONE, chance.choice(phrases), chance)


def of_other_figures(lines: Iterable[Mapping[str, Any]]) -> Iterator[MetricExample]:
    """Questions of benchmarks/table_questions about cells of rows without a usual name, and for no figure at all."""
    for line in lines:
        named = any(_has_usual_name(str(cell["label"])) for cell in line.get("cells", ()))
        if "evidence" in line and line.get("kind") != "figure" and not named:
            yield MetricExample(str(line["question"]), NONE, None, (), "", str(line["evidence"][0]["doc_name"]))


def _has_usual_name(label: str) -> bool:
    words = set(words_of(label))
    return names_row_label(label) or any(name and set(words_of(name)) <= words for name in usual_names().values())


def _of_phrase(wording: Wording, kind: str, metric: str, other: str, chance: random.Random) -> MetricExample:
    frames = _frames()
    frame = chance.choice(frames[kind])
    if chance.random() < _BEFORE:
        frame = f"{chance.choice(frames['before'])} {frame}"
    if chance.random() < _AFTER:
        frame = f"{frame} {chance.choice(frames['after'])}"
    marked = frame.replace("{phrase}", f"[[{wording.text}]]").replace("{other}", other)
    marked = marked.replace("{part}", chance.choice(frames["parts"]))
    return _filled(marked, wording, metric, chance)


def _of_question(wording: Wording, chance: random.Random) -> MetricExample:
    marked = wording.text.replace("COMPANY", "{company}").replace("PERIOD", "{period}")
    return _filled(marked, wording, wording.metric, chance)


def _filled(marked: str, wording: Wording, metric: str, chance: random.Random) -> MetricExample:
    """``marked`` with its placeholders filled, [[brackets]] removed."""
    frames = _frames()
    marked = marked.replace("{earlier}", chance.choice(frames["periods"])).replace(
        "{period}", chance.choice(frames["periods"])
    )
    company = chance.choice(frames["companies"])
    marked = marked.replace("{company}", company)
    text, words, end = "", [], 0
    for match in _BRACKETS.finditer(marked):
        text += marked[end : match.start()]
        words.append((len(text), len(text) + len(match.group(1))))
        text, end = text + match.group(1), match.end()
    text += marked[end:]
    at = text.find(company)
    return MetricExample(text, metric, tuple(words), ((at, at + len(company)),), wording.kind, wording.writer)


@cache
def _frames() -> dict[str, list[str]]:
    frames: dict[str, list[str]] = shipped_data("finray.lab.training.question", "metric_frames.toml")
    return frames
