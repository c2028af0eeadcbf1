"""Phrases to train the recognizer of metrics.

People's wordings (benchmarks/metric_wordings) and the vocabulary's names mean their metric. A near miss, a metric of a
part, and what questions about other rows of tables measure mean none.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from finray.core.errors import UsageError
from finray.filings.tables.canonical import canonical_items, names_row_label
from finray.question.measures.formulas import formulas, usual_names
from finray.question.measures.measure_tagger import MeasureTagger, words_at
from finray.question.measures.metric_recognizer import NONE
from finray.question.synonyms import words_of
from finray.question.trained_reader import nameless_marks

KINDS: Final = ("phrase", "question", "near")
BRACKETS: Final = re.compile(r"\[\[([^\[\]]{1,300})\]\]")
"""The words of a question that mean its metric."""
_LINKS: Final = ("in", "from", "of", "for", "on", "to", "by", "at")
_BEFORE, _BARE = 0.2, 0.2
"""Shares of parts that stand before the metric, and right after it without a word between."""
_PART = re.compile(r"[A-Za-z .&'-]{3,30}")
_PART_WORDS = 3


@dataclass(frozen=True, slots=True)
class Wording:
    """``text``: a noun phrase for ``metric`` (a key of ``usual_names``, or another row), a question with its words in
    [[brackets]] and COMPANY and PERIOD as placeholders, or a noun phrase near it that means another figure."""

    metric: str
    kind: str
    text: str
    writer: str


@dataclass(frozen=True, slots=True)
class MetricPhrase:
    """``metric`` is what ``text`` means, or "none"; ``kind`` is that of its wording, "narrowed" or "other"; phrases of
    a ``group`` have one writer, or are from questions about one filing."""

    text: str
    metric: str
    kind: str
    group: str


def read_wordings(path: Path) -> list[Wording]:
    """Read a .jsonl file. Raises UsageError if a line is not a wording of a metric."""
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


def phrases(wordings: Iterable[Wording]) -> Iterator[MetricPhrase]:
    """The phrase of each wording: of a question, its words in brackets."""
    for each in wordings:
        text = each.text
        if each.kind == "question":
            text = " ".join(" ".join(BRACKETS.findall(text)).replace("COMPANY", " ").replace("PERIOD", " ").split())
        if text:
            yield MetricPhrase(text, NONE if each.kind == "near" else each.metric, each.kind, each.writer)


def narrowed(wordings: Iterable[Wording], parts: Sequence[str], seed: int = 0) -> Iterator[MetricPhrase]:
    """Each noun phrase with one of ``parts`` beside it: "net sales from Cloud services". The same for each seed."""
    chance = random.Random(seed)
    for each in wordings:
        if each.kind == "phrase":
            part, place = chance.choice(parts), chance.random()
            link = "" if place < _BEFORE + _BARE else f"{chance.choice(_LINKS)} "
            text = f"{part} {each.text}" if place < _BEFORE else f"{each.text} {link}{part}"
            yield MetricPhrase(text, NONE, "narrowed", each.writer)


def parts_of(lines: Iterable[Mapping[str, Any]]) -> list[str]:
    """Short names of rows, columns and sections without a usual name, of questions of benchmarks/table_questions."""
    named = {
        " ".join(str(cell[place]).strip(" :").split())
        for line in lines
        for cell in line.get("cells", ())
        for place in ("label", "column", "section")
        if cell.get(place)
    }
    short = (each for each in named if len(each.split()) <= _PART_WORDS and _PART.fullmatch(each))
    return sorted(each for each in short if not has_usual_name(each))


def of_other_figures(lines: Iterable[Mapping[str, Any]], tagger: MeasureTagger) -> Iterator[MetricPhrase]:
    """The quantities of questions of benchmarks/table_questions about rows without a usual name, and for no figure."""
    for line in lines:
        named = any(has_usual_name(str(cell["label"])) for cell in line.get("cells", ()))
        if "evidence" not in line or line.get("kind") == "figure" or named:
            continue
        question = str(line["question"])
        found = tagger.measured(question, [[], *nameless_marks(question)])
        for pieces in words_at(question, found.quantities) if found is not None else ():
            yield MetricPhrase(" ".join(pieces), NONE, "other", str(line["evidence"][0]["doc_name"]))


def has_usual_name(label: str) -> bool:
    """Whether ``label`` has the words of a metric's usual name."""
    words = set(words_of(label))
    return names_row_label(label) or any(name and set(words_of(name)) <= words for name in usual_names().values())
