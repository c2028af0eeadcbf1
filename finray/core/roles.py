"""The five roles of the loop, each a Protocol with one method.

A role is an in-process object or a handle to a Ray Serve replica; the loop treats both alike. Roles share no state
across questions except what they are built from. Trace lines and token counts of a question go to its ``Journal``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from finray.core.journal import Journal
from finray.core.plan import Coverage, Plan
from finray.core.query import Query
from finray.core.types import Answer, Document, Passage


@dataclass(frozen=True, slots=True)
class Curation:
    """The curator's decision about a set of passages.

    ``complementary`` is the question to retrieve for next if the kept passages do not suffice (HiREC's q_c),
    ``missing`` describes what is missing for a person. ``plans`` are ways to compute the answer, the likeliest first,
    ``coverage`` is that of the first one; a curator that does not plan omits both.
    """

    kept: tuple[Passage, ...]
    answerable: bool
    missing: tuple[str, ...] = ()
    complementary: str | None = None
    plans: tuple[Plan, ...] = ()
    coverage: Coverage | None = None


class QuestionReader(Protocol):
    async def read(self, question: str, journal: Journal) -> Query: ...


class DocumentRetriever(Protocol):
    async def documents(self, query: Query, k: int, journal: Journal) -> Sequence[Document]: ...


class PassageRetriever(Protocol):
    async def passages(
        self, query: Query, documents: Sequence[Document], k: int, journal: Journal
    ) -> Sequence[Passage]: ...


class Curator(Protocol):
    async def curate(self, query: Query, passages: Sequence[Passage], journal: Journal) -> Curation: ...


class Answerer(Protocol):
    async def answer(self, query: Query, curation: Curation, journal: Journal) -> Answer:
        """The answer that rests on ``curation.kept``."""
        ...


@dataclass(frozen=True, slots=True)
class Roles:
    reader: QuestionReader
    documents: DocumentRetriever
    passages: PassageRetriever
    curator: Curator
    answerer: Answerer


class NoAnswerer:
    """For evaluating retrieval alone."""

    async def answer(self, query: Query, curation: Curation, journal: Journal) -> Answer:
        return Answer("Retrieval only: no answer was asked for.", "unanswerable")
