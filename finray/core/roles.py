"""The roles of the loop as Protocols.

A role is an in-process object or a handle to a Ray Serve replica; the loop treats both alike. Roles share no state
across questions except what they are built from. Trace lines and token counts of a question go to its ``Journal``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from finray.core.journal import Journal
from finray.core.passages import Document, Passage, RenderedBlock
from finray.core.plan import Coverage, Plan
from finray.core.predictions import Answer
from finray.core.query import Query
from finray.core.spelled import Spelled


@dataclass(frozen=True, slots=True)
class Turn:
    """The present round of the loop: ``number`` counts from 1. The first ``kept`` passages were kept in earlier rounds,
    the others were retrieved for ``asked``, if the curator asked for something."""

    number: int = 1
    last: bool = False
    kept: int = 0
    asked: Query | None = None


FIRST = Turn()


@dataclass(frozen=True, slots=True)
class FollowUp:
    """What a model asks for: an answer to ``spelled``, with the pages that print its ``statements``, and the
    ``neighbors`` of passages that it has seen. Without a text, only the neighbors."""

    spelled: Spelled
    neighbors: tuple[Passage, ...] = ()

    def __str__(self) -> str:
        wanted = [self.spelled.text] if self.spelled.text else []
        wanted += [f"{name} statement" for name in self.spelled.statements]
        wanted += [f"what surrounds {p.doc_name} p. {p.page + 1}" for p in self.neighbors]
        return "; ".join(wanted)


@dataclass(frozen=True, slots=True)
class Curation:
    """The curator's decision about a set of passages.

    ``complementary`` is the question to retrieve for next if the kept passages do not suffice (HiREC's q_c),
    ``missing`` describes what is missing for a person. ``plans`` are ways to compute the answer, the likeliest first,
    ``coverage`` is that of the first one; a curator that does not plan omits both. ``follow_up`` takes the place of
    ``complementary`` if a model says in detail what it wants, and ``answer`` is set if it answered at once.
    ``filtered`` is false if the curator could decide nothing, so that all passages are kept, however many.
    """

    kept: tuple[Passage, ...]
    answerable: bool
    missing: tuple[str, ...] = ()
    complementary: str | None = None
    plans: tuple[Plan, ...] = ()
    coverage: Coverage | None = None
    follow_up: FollowUp | None = None
    answer: Answer | None = None
    filtered: bool = True


@dataclass(frozen=True, slots=True)
class Resolution:
    """A question of a conversation. ``question`` is complete in itself; or, if it is ``unclear`` what is meant, the
    question as asked."""

    question: str
    unclear: str = ""
    """What the question leaves open, for a person."""


class AnsweredPassages(tuple[Passage, ...]):
    """Passages of a method that has answered too, with its ``answer``."""

    answer: Answer

    def __new__(cls, passages: Iterable[Passage], answer: Answer) -> AnsweredPassages:
        answered = super().__new__(cls, passages)
        answered.answer = answer
        return answered

    def __reduce__(self) -> tuple[type[AnsweredPassages], tuple[tuple[Passage, ...], Answer]]:
        return (AnsweredPassages, (tuple(self), self.answer))


class QuestionReader(Protocol):
    async def read(self, question: str, journal: Journal) -> Query: ...


class ConversationReader(Protocol):
    async def resolve(self, question: str, earlier: Sequence[str], journal: Journal) -> Resolution:
        """``question`` with what it lacks taken from the questions ``earlier``, oldest first."""
        ...


class DocumentRetriever(Protocol):
    async def documents(self, query: Query, k: int, journal: Journal) -> Sequence[Document]: ...


class PassageRetriever(Protocol):
    async def passages(
        self, query: Query, documents: Sequence[Document], k: int, journal: Journal
    ) -> Sequence[Passage]: ...


class Curator(Protocol):
    async def curate(
        self, query: Query, passages: Sequence[Passage], journal: Journal, turn: Turn = FIRST
    ) -> Curation: ...


class FollowUps(Protocol):
    async def read(self, follow_up: FollowUp, before: Query, journal: Journal) -> Query:
        """The query for the question that a model wrote after ``before``, without asking a model again."""
        ...

    async def near(self, follow_up: FollowUp, documents: Sequence[Document], journal: Journal) -> Sequence[Passage]:
        """The neighbors and statements asked for; ``documents`` are those of its query."""
        ...


class Answerer(Protocol):
    async def answer(self, query: Query, curation: Curation, journal: Journal) -> Answer:
        """The answer that rests on ``curation.kept``."""
        ...


Renderer = Callable[[Query, Answer], tuple[RenderedBlock, ...]]
"""Renders the evidence of an answer for a reader."""


Check = Callable[[Answer], Answer]
"""The answer, with what the reader must know of its source, or a refusal in its place."""


def unchecked(answer: Answer) -> Answer:
    return answer


def no_blocks(_query: Query, _answer: Answer) -> tuple[RenderedBlock, ...]:
    return ()


@dataclass(frozen=True, slots=True)
class Roles:
    reader: QuestionReader
    documents: DocumentRetriever
    passages: PassageRetriever
    curator: Curator
    answerer: Answerer
    follow_ups: FollowUps | None = None
    """Needed by a curator that sets ``Curation.follow_up``."""
    check: Check = unchecked
    render: Renderer = no_blocks
    conversation: ConversationReader | None = None
    """Needed by questions with a context."""
    repeatable: bool = False
    """Whether a question always finds the same passages, so that a round need not ask again. A language model may read
    it differently the next time."""


class NoAnswerer:
    """For evaluating retrieval alone."""

    async def answer(self, query: Query, curation: Curation, journal: Journal) -> Answer:
        return Answer("Retrieval only: no answer was asked for.", "unanswerable")
