"""``self_rag_prompted``: Self-RAG's inference with any chat model, which is asked to write the reflection tokens.

Asai et al., "Self-RAG: Learning to Retrieve, Generate, and Critique through Self-Reflection" (ICLR 2024, arXiv
2310.11511), section 3.3: one passage at a time, the model writes the next sentence of the answer and criticizes it; a
beam of sentences with the best critique goes on. The paper tunes the model to write the tokens; here the prompt
describes them as the paper's table 1 and appendix A do. Its scores use the tokens' probabilities; here a token that was
written has probability 1, and the likelihood of the sentence is left out.

As HiREC runs it (arXiv 2505.20368, appendix C.2), ``retrieval.k_passages`` = 10 passages nearest to the question serve
all sentences. Without its own answer (``loop.answerer``) it is ``dense`` and asks no model, unless ``grade`` is set:
then the model first drops the passages that it grades irrelevant, as FinGEAR runs it (arXiv 2509.12042, appendix C).
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from finray.core.errors import ModelReplyError
from finray.core.journal import Journal
from finray.core.method_settings import SelfRagParameters
from finray.core.passages import Document, Passage
from finray.core.predictions import Answer
from finray.core.query import Query
from finray.core.question_fields import excerpt, single_spaced
from finray.core.readable import readable
from finray.core.roles import AnsweredPassages, PassageRetriever
from finray.models.chat import ChatModel
from finray.models.conversation import DATA_RULE, conversation
from finray.retrieval.methods.asking import Asker
from finray.retrieval.methods.dense import dense_passages
from finray.retrieval.methods.toolbox import Retrieval, Toolbox

STAGE: Final = "self_rag"
NEED: Final = (
    "Judge whether finding passages of SEC filings helps to answer the question. Reply with [Retrieval] if it does. "
    "Otherwise reply with [No Retrieval] and answer the question in one to three sentences."
)
SEGMENT: Final = (
    "You answer a question over SEC filings, one sentence at a time, from one passage, and judge what you write. "
    + DATA_RULE
    + " Write, on one line and in this order: [Relevant] if the passage gives useful information for the question, "
    "else [Irrelevant]; the next sentence of the answer; [Fully supported] if the passage supports all of it, "
    "[Partially supported] if it supports some of it, [No support / Contradictory] if it supports nothing of it or "
    "contradicts it (judge by the passage alone, not by what you know); [Utility:N] with N from 5 (the answer so far "
    "is complete and informative) over 4 (mostly complete), 3 (acceptable, but major parts are missing) and 2 (on the "
    "subject, but incomplete) to 1 (barely on the subject); last [Retrieval] if the answer needs another sentence from "
    "other passages, [Continue to Use Evidence] if it needs another one from this passage, or [No Retrieval] if it is "
    "complete. Name company, period, figure and unit in a sentence that states a figure."
)
GRADE: Final = (
    "Judge whether a passage of an SEC filing is relevant to a question. "
    + DATA_RULE
    + " Reply with [Relevant] if it holds keywords or meaning related to the question: the test is meant to filter out "
    "wrong hits, and need not be strict. Otherwise reply with [Irrelevant]. Write nothing else."
)
_FLAGS = re.I | re.A  # re.I alone lets "ı" match "i", but the tables below have ASCII keys
_RELEVANCE = re.compile(r"\[\s*(relevant|irrelevant)\s*\]", _FLAGS)
_SUPPORT = re.compile(r"\[\s*(fully supported|partially supported|no support(?:\s*/\s*contradictory)?)\s*\]", _FLAGS)
_UTILITY = re.compile(r"\[\s*utility\s*:\s*([1-5])\s*\]", _FLAGS)
_NEXT = re.compile(r"\[\s*(no retrieval|retrieval|continue to use evidence)\s*\]", _FLAGS)
_TOKEN = re.compile(
    "|".join(pattern.pattern.replace("(", "(?:", 1) for pattern in (_RELEVANCE, _SUPPORT, _UTILITY, _NEXT)), _FLAGS
)
_SUPPORTED = {"fully": 1.0, "partially": 0.5, "no": 0.0}
_USEFUL = {1: -1.0, 2: -0.5, 3: 0.0, 4: 0.5, 5: 1.0}
_MAX_SENTENCE_CHARACTERS = 2_000

Next = Literal["retrieve", "continue", "stop"]
_WANTED: Final[Mapping[str, Next]] = {
    "retrieval": "retrieve",
    "continue to use evidence": "continue",
    "no retrieval": "stop",
}


@dataclass(frozen=True, slots=True)
class Segment:
    """A sentence, the passage that it was written from, its critique, and what the model wants next."""

    text: str
    passage: Passage
    score: float
    supported: bool
    next: Next


@dataclass(frozen=True, slots=True)
class Beam:
    """The sentences of an answer so far. ``score`` is the mean of their scores."""

    segments: tuple[Segment, ...] = ()

    @property
    def text(self) -> str:
        return " ".join(segment.text for segment in self.segments)

    @property
    def score(self) -> float:
        return sum(segment.score for segment in self.segments) / max(len(self.segments), 1)

    @property
    def done(self) -> bool:
        return bool(self.segments) and self.segments[-1].next == "stop"


def read_segment(reply: str, passage: Passage, chosen: SelfRagParameters) -> Segment | None:
    """The segment in ``reply`` with its critique (section 3.3: the weighted sum of the scores of IsRel, IsSup, IsUse).

    None if the sentence, or the token for relevance or support, is missing. A missing utility counts 0.
    """
    text = readable(reply)
    relevance, support, utility = _RELEVANCE.search(text), _SUPPORT.search(text), _UTILITY.search(text)
    after = _NEXT.findall(text)
    end = support.start() if support and support.start() > 0 else len(text)
    sentence = single_spaced(_TOKEN.sub(" ", text[:end])) or single_spaced(_TOKEN.sub(" ", text))
    if relevance is None or support is None or not 0 < len(sentence) <= _MAX_SENTENCE_CHARACTERS:
        return None
    supported = _SUPPORTED[support[1].lower().split()[0]]
    score = (
        chosen.relevance_weight * (relevance[1].lower() == "relevant")
        + chosen.support_weight * supported
        + chosen.utility_weight * (_USEFUL[int(utility[1])] if utility else 0.0)
    )
    return Segment(sentence, passage, score, supported > 0, _WANTED[after[-1].lower()] if after else "stop")


class GradedPassages:
    """The passages of ``retriever`` that the model grades relevant, in their order."""

    def __init__(self, retriever: PassageRetriever, chat: ChatModel) -> None:
        self._retriever = retriever
        self._chat = chat

    async def passages(
        self, query: Query, documents: Sequence[Document], k: int, journal: Journal
    ) -> Sequence[Passage]:
        """Raises ModelReplyError if there are passages, and no reply is a grade."""
        asker = Asker(self._chat, STAGE, journal)
        found = await self._retriever.passages(query, documents, k, journal)
        grades = await asyncio.gather(*(self._grade(query.question, passage, asker) for passage in found))
        if found and all(grade is None for grade in grades):
            raise ModelReplyError(f"{STAGE}: none of {len(found)} replies is [Relevant] or [Irrelevant]")
        kept = [passage for passage, grade in zip(found, grades, strict=True) if grade]
        journal.note(f"{STAGE}: {len(kept)} of {len(found)} passages graded relevant")
        return kept

    async def _grade(self, question: str, passage: Passage, asker: Asker) -> bool | None:
        """Whether the model grades ``passage`` relevant; None if its reply is not a grade."""
        text = readable((await asker.reply(conversation(GRADE, question, [passage]))).text)
        grade = _RELEVANCE.search(text)
        if grade is None:
            asker.unusable(f"asked for [Relevant] or [Irrelevant], got {excerpt(text, 120)!r}")
            return None
        return grade[1].lower() == "relevant"


class SelfReflection:
    """Segment-level beam search over the passages of ``retriever``."""

    def __init__(self, retriever: PassageRetriever, chat: ChatModel, chosen: SelfRagParameters) -> None:
        self._retriever = retriever
        self._chat = chat
        self._chosen = chosen

    async def passages(
        self, query: Query, documents: Sequence[Document], k: int, journal: Journal
    ) -> Sequence[Passage]:
        """Raises ModelReplyError if no reply about the first sentence can be used."""
        asker = Asker(self._chat, STAGE, journal)
        if self._chosen.mode == "adaptive_retrieval" and (answer := await self._without(query.question, asker)):
            return AnsweredPassages((), answer)
        found = await self._retriever.passages(query, documents, k, journal)
        if not found:
            refusal = Answer("Not answerable: no passage was found.", "unanswerable", missing=("any passage",))
            return AnsweredPassages((), refusal)
        best = await self._search(query.question, found, asker)
        for segment in best.segments:
            journal.note(f"{STAGE}: {segment.score:+.2f} {segment.passage.doc_name} {excerpt(segment.text)}")
        kept = [s for s in best.segments if s.supported or not self._chosen.drop_unsupported]
        if not kept:
            refusal = Answer("Not answerable: no passage supports a sentence of the answer.", "unanswerable")
            return AnsweredPassages(found, refusal)
        evidence = tuple(dict.fromkeys(segment.passage for segment in kept))
        text = " ".join(segment.text for segment in kept)
        return AnsweredPassages(found, Answer(text, "answered", evidence=evidence))

    async def _without(self, question: str, asker: Asker) -> Answer | None:
        """The answer without retrieval; None if the model wants passages."""
        text = readable((await asker.reply(conversation(NEED, question))).text)
        wanted = _NEXT.search(text)
        if wanted is None:
            raise asker.unusable(f"asked for [Retrieval] or [No Retrieval], got {excerpt(text, 120)!r}")
        answer = single_spaced(_TOKEN.sub(" ", text))
        if wanted[1].lower() == "retrieval":
            return None
        if not answer:
            raise asker.unusable("[No Retrieval] without an answer")
        return Answer(answer, "answered")

    async def _search(self, question: str, found: Sequence[Passage], asker: Asker) -> Beam:
        beams = [Beam()]
        for _ in range(self._chosen.segments):
            grown = await asyncio.gather(*(self._grown(question, beam, found, asker) for beam in beams))
            candidates = [beam for more in grown for beam in more]
            if not candidates and not beams[0].segments:
                raise ModelReplyError(f"{STAGE}: none of {len(found)} replies has a sentence with its critique")
            beams = sorted(candidates or beams, key=lambda beam: -beam.score)[: self._chosen.beam]
            if not candidates or all(beam.done for beam in beams):
                break
        return beams[0]

    async def _grown(self, question: str, beam: Beam, found: Sequence[Passage], asker: Asker) -> list[Beam]:
        """``beam`` with each next sentence; ``beam`` itself if it is complete, or if no next sentence can be used."""
        if beam.done:
            return [beam]
        again = bool(beam.segments) and beam.segments[-1].next == "continue"
        over = [beam.segments[-1].passage] if again else found
        segments = await asyncio.gather(*(self._segment(question, beam, passage, asker) for passage in over))
        said = {segment.text for segment in beam.segments}
        fresh = [Beam((*beam.segments, segment)) for segment in segments if segment and segment.text not in said]
        return fresh or ([beam] if beam.segments else [])

    async def _segment(self, question: str, beam: Beam, passage: Passage, asker: Asker) -> Segment | None:
        so_far = f"{question}\n\nAnswer so far: {beam.text or '(none)'}\nNext sentence:"
        text = (await asker.reply(conversation(SEGMENT, so_far, [passage]))).text
        segment = read_segment(text, passage, self._chosen)
        if segment is None:
            asker.unusable(f"asked for a sentence with its critique, got {excerpt(text, 120)!r}")
        return segment


def build(tools: Toolbox) -> Retrieval:
    retriever: PassageRetriever = dense_passages(tools)
    chat, chosen = tools.chat_model(), tools.settings.methods.self_rag_prompted
    if chosen.grade:
        retriever = GradedPassages(retriever, chat)
    return tools.flat(SelfReflection(retriever, chat, chosen) if tools.answers else retriever)
