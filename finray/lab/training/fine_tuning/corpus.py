"""Training data: questions, the units (pages or passages) that answer them, and all other units."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from finray.core.errors import UsageError

UnitKind = Literal["pages", "passages"]
"""Units to rank: whole pages (page scorer), or chunks, tables and paragraphs (reranker)."""

_WORD = re.compile(r"[^\s|]+")
_TABLE_NUMBERS = 10
_TABLE_SHARE = 0.3


@dataclass(frozen=True, slots=True)
class Unit:
    """One text to rank. ``key`` identifies the unit, ``page`` its page; they are equal if units are pages. Units of a
    gold page are not used as negatives."""

    key: str
    page: str
    text: str
    is_table: bool = False


@dataclass(frozen=True, slots=True)
class TrainingQuestion:
    """``gold`` are the keys of the units that answer, ``spared`` the pages that must not be negatives (gold pages and
    alternatives). If ``within``, negatives come from the question's own documents; otherwise (TAT-QA, where a document
    is a single page) from the other documents of its source."""

    qid: str
    question: str
    source: str
    documents: tuple[str, ...]
    gold: tuple[str, ...]
    spared: frozenset[str]
    within: bool = True


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A question that cannot be used, with the reason."""

    qid: str
    reason: str


@dataclass(frozen=True)
class Corpus:
    """``units`` maps a document (a filing id, a TAT-QA context) to its units; keys are unique over all documents."""

    units: Mapping[str, Sequence[Unit]]
    sources: Mapping[str, str]
    """Document to the name of its source."""
    questions: Sequence[TrainingQuestion]
    left_out: Sequence[LeftOut] = ()

    def gold_units(self, question: TrainingQuestion) -> list[Unit]:
        wanted = set(question.gold)
        return [unit for document in question.documents for unit in self.units[document] if unit.key in wanted]

    def digest(self) -> str:
        """SHA-256 of all texts and labels: equal digests mean equal training data."""
        digest = hashlib.sha256()
        for document in sorted(self.units):
            digest.update(json.dumps([document, [[u.key, u.text] for u in self.units[document]]]).encode())
        for question in self.questions:
            spared = sorted(question.spared)
            digest.update(json.dumps([question.qid, question.question, question.gold, spared]).encode())
        return digest.hexdigest()


def joined(corpora: Sequence[Corpus]) -> Corpus:
    """Merge ``corpora``. Raises UsageError if no question is left."""
    result = Corpus(
        units={document: units for corpus in corpora for document, units in corpus.units.items()},
        sources={document: source for corpus in corpora for document, source in corpus.sources.items()},
        questions=tuple(question for corpus in corpora for question in corpus.questions),
        left_out=tuple(left for corpus in corpora for left in corpus.left_out),
    )
    if not result.questions:
        reasons = "; ".join(sorted({left.reason for left in result.left_out})) or "the inputs have none"
        raise UsageError(f"no question with evidence to learn from: {reasons}")
    return result


def looks_like_a_table(text: str) -> bool:
    """Whether the text is mostly rows of numbers: at least 10 words with digits, and 30% of all words."""
    words = _WORD.findall(text)
    numbers = sum(any(character.isdigit() for character in word) for word in words)
    return numbers >= _TABLE_NUMBERS and numbers >= _TABLE_SHARE * len(words)
