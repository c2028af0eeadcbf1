"""Questions whose measured words, or whose operation, are known.

People marked the words of benchmarks/measure_spans; wordings of metrics (benchmarks/metric_wordings) have them in
brackets; what is computed is known of the questions of benchmarks/table_questions.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from finray.core.errors import UsageError
from finray.lab.training.question.metric_examples import BRACKETS, Wording
from finray.lab.training.question.surroundings import surroundings
from finray.models.question_model import OPERATIONS
from finray.question.measures.measure_tagger import Span

BRACKETED: Final = "bracketed"
_BEFORE, _AFTER, _LOWER = 0.3, 0.3, 0.15
"""Shares of bracketed questions with a sentence before and after them, and in lower case."""
_OPERATION_OF: Final = {
    "which_max": "which", "which_min": "which", "share_change": "difference", "sum_share": "share",
    "sum_change": "difference", "change_share": "share", "gap_change": "difference", "sum_growth": "growth",
}  # fmt: skip
"""What computations over several rows of a table ask for."""
_OPERATION_OF_KIND: Final = {
    "figure": "value", "what": "words", "why": "words", "who": "words", "when": "date", "yesno": "yesno",
    "which": "which",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class MarkedQuestion:
    """``measures``: for each quantity to look up, the pieces of ``question`` that name it; None if that is not known.
    ``operation`` combines the quantities, "" if that is not known. ``source`` is the set that the question is from,
    ``writer`` who wrote its words. ``companies``: where the question names them, if that is known."""

    question: str
    measures: tuple[tuple[str, ...], ...] | None
    operation: str
    source: str
    companies: tuple[Span, ...] = ()
    writer: str = ""


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


def bracketed(wordings: Iterable[Wording], seed: int = 0) -> Iterator[MarkedQuestion]:
    """The whole questions among ``wordings``, about a company and a period, some with sentences around them."""
    chance, around = random.Random(seed), surroundings()
    for each in wordings:
        if each.kind == "question":
            company = chance.choice(around["companies"])
            text = each.text.replace("COMPANY", company).replace("PERIOD", chance.choice(around["periods"]))
            before = f"{chance.choice(around['before'])} " if chance.random() < _BEFORE else ""
            after = f" {chance.choice(around['after'])}" if chance.random() < _AFTER else ""
            text = before + text + after
            if chance.random() < _LOWER:
                text, company = text.lower(), company.lower()
            pieces = tuple(BRACKETS.findall(text))
            bare = BRACKETS.sub(r"\1", text)
            if pieces and all(bare.count(piece) == 1 for piece in pieces):
                start = bare.find(company)
                places = ((start, start + len(company)),) if start >= 0 else ()
                yield MarkedQuestion(bare, (pieces,), "", BRACKETED, places, each.writer)


def with_operations(lines: Iterable[Mapping[str, Any]]) -> Iterator[MarkedQuestion]:
    """Questions of benchmarks/table_questions by what they ask for, without marks; those of other computations are left
    out."""
    for line in lines:
        if "operation" in line:
            operation = _OPERATION_OF.get(line["operation"], line["operation"])
        else:
            operation = _OPERATION_OF_KIND.get(line.get("kind", ""), "")
        if operation in OPERATIONS and "evidence" in line:
            yield MarkedQuestion(line["question"], None, operation, "table_questions")
