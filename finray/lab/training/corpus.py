"""What a model learns from: questions, the units (pages or passages) that answer them, and all other units."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from finray.core.errors import UsageError

UnitKind = Literal["pages", "passages"]
"""What is ranked: whole pages (page scorer), or chunks, tables and paragraphs (reranker)."""

_WORD = re.compile(r"[^\s|]+")
_TABLE_NUMBERS = 10
_TABLE_SHARE = 0.3


@dataclass(frozen=True, slots=True)
class Unit:
    """One text that can be ranked. ``page`` names the page it stands on: the units of a gold page are never
    negatives. ``key`` is its own name, and equals ``page`` where units are pages."""

    key: str
    page: str
    text: str
    is_table: bool = False


@dataclass(frozen=True, slots=True)
class TrainingQuestion:
    """``gold`` are the keys of the units that answer, ``spared`` the pages that must not serve as negatives (gold
    pages, and others that say the same). ``within`` says where negatives come from: the question's own documents, or,
    where a document is a single page (TAT-QA), the other documents of its source."""

    qid: str
    question: str
    source: str
    documents: tuple[str, ...]
    gold: tuple[str, ...]
    spared: frozenset[str]
    within: bool = True


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A question that cannot be learned from, and why."""

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
        """SHA-256 over every text and label: the same digest is the same training data."""
        digest = hashlib.sha256()
        for document in sorted(self.units):
            digest.update(json.dumps([document, [[u.key, u.text] for u in self.units[document]]]).encode())
        for question in self.questions:
            spared = sorted(question.spared)
            digest.update(json.dumps([question.qid, question.question, question.gold, spared]).encode())
        return digest.hexdigest()


def joined(corpora: Sequence[Corpus]) -> Corpus:
    """All of ``corpora`` as one. Raises UsageError when that leaves no question to learn from."""
    result = Corpus(
        units={document: units for corpus in corpora for document, units in corpus.units.items()},
        sources={document: source for corpus in corpora for document, source in corpus.sources.items()},
        questions=tuple(question for corpus in corpora for question in corpus.questions),
        left_out=tuple(left for corpus in corpora for left in corpus.left_out),
    )
    if not result.questions:
        reasons = "; ".join(sorted({left.reason for left in result.left_out})) or "the inputs hold none"
        raise UsageError(f"no question with evidence to learn from: {reasons}")
    return result


def looks_like_a_table(text: str) -> bool:
    """Whether the text is mostly rows of numbers: at least 10 words with digits, and 30% of all words."""
    words = _WORD.findall(text)
    numbers = sum(any(character.isdigit() for character in word) for word in words)
    return numbers >= _TABLE_NUMBERS and numbers >= _TABLE_SHARE * len(words)
