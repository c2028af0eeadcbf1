"""``rq_rag_prompted``: RQ-RAG's tree of refined queries with any chat model.

Chan et al., "RQ-RAG: Learning to Refine Queries for Retrieval Augmented Generation" (arXiv 2404.00610): at each step
the model rewrites, decomposes or disambiguates the question in view of what was found, and searches again; all three
ways are tried. Each path ends in an answer. The paper tunes a model that writes the queries after special tokens; here
a prompt asks for each, with the wording of the prompts that made its training data (appendix) as a model.

As HiREC runs it (arXiv 2505.20368, appendix C.2): depth 2 and 3 passages a query, found by vectors; (3 + 9) x 3 = 36
passages, the k of its table 2. Each is counted once here. The paper chooses the answer by the model's confidence or
perplexity, or by its ensemble; without probabilities that is a vote, in which ties go to the answer from more
evidence.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from finray.core.errors import ModelReplyError
from finray.core.journal import Journal
from finray.core.method_settings import RqRagParameters
from finray.core.passages import Document, Passage
from finray.core.predictions import Answer
from finray.core.query import Query
from finray.core.question_fields import excerpt, single_spaced
from finray.core.roles import AnsweredPassages, PassageRetriever
from finray.models.chat import ChatModel
from finray.models.conversation import DATA_RULE, conversation
from finray.retrieval.fusion import place
from finray.retrieval.methods.asking import OVER_PASSAGES, Asker
from finray.retrieval.methods.dense import dense_passages
from finray.retrieval.methods.toolbox import Retrieval, Toolbox

STAGE: Final = "rq_rag"
_REFINE = f"You refine a question into one search query over SEC filings. {DATA_RULE} "
_ONLY = " Take the passages into account, and repeat no earlier query. Write only the query, on one line."
REFINEMENTS: Final[Mapping[str, str]] = {
    "rewrite": _REFINE
    + "Rewrite the question so that a search finds what answers it: clear, concise, with the keywords and the terms of "
    "the field, and with the question's intent." + _ONLY,
    "decompose": _REFINE
    + "Decompose the question: write the next simpler question that has to be answered on the way, understandable on "
    "its own." + _ONLY,
    "disambiguate": _REFINE
    + "Resolve what is ambiguous in the question: write it with the one interpretation that fits best, with company, "
    "period, measure and kind of report spelled out." + _ONLY,
}
"""Instructions for each of the special tokens S_Rewritten_Query, S_Decomposed_Query and S_Disambiguated_Query."""
ANSWER: Final = f"The question may need several steps: decompose it, and answer it from the context. {OVER_PASSAGES}"


@dataclass(frozen=True, slots=True)
class Path:
    """The queries of one path of the tree, and the passages that they found, each once."""

    queries: tuple[str, ...] = ()
    passages: tuple[Passage, ...] = ()


class RefinedQueries:
    """The passages of all paths in the order in which they were found, each once; the score is 1 / rank."""

    def __init__(self, retriever: PassageRetriever, chat: ChatModel, chosen: RqRagParameters, *, answers: bool) -> None:
        self._retriever = retriever
        self._chat = chat
        self._chosen = chosen
        self._answers = answers

    async def passages(
        self, query: Query, documents: Sequence[Document], k: int, journal: Journal
    ) -> Sequence[Passage]:
        """All of them rank before the cut at ``k``. Raises ModelReplyError if no query or no answer can be used."""
        asker = Asker(self._chat, STAGE, journal)
        level, paths = [Path()], [Path()]
        for _ in range(self._chosen.depth):
            steps = [(path, way) for path in level for way in REFINEMENTS]
            grown = await asyncio.gather(*(self._step(query, path, way, documents, asker) for path, way in steps))
            level = [path for path in grown if path is not None]
            paths += level
        if len(paths) == 1:
            raise ModelReplyError(f"{STAGE}: no reply is a search query")
        found = list({place(passage): passage for path in paths for passage in path.passages}.values())
        journal.note(f"{STAGE}: {len(paths) - 1} queries found {len(found)} different passages")
        ranked = [replace(passage, score=1.0 / rank) for rank, passage in enumerate(found[:k], start=1)]
        return AnsweredPassages(ranked, await self._voted(query.question, paths, asker)) if self._answers else ranked

    async def _step(
        self, query: Query, path: Path, way: str, documents: Sequence[Document], asker: Asker
    ) -> Path | None:
        """``path`` with one more query and its passages; None if the model writes no query."""
        earlier = "".join(f"\nEarlier query: {text}" for text in path.queries)
        messages = conversation(REFINEMENTS[way], f"{query.question}{earlier}\nQuery:", path.passages)
        try:
            refined = await asker.query(messages)
        except ModelReplyError:
            return None
        asker.journal.note(f"{STAGE}: {way}: {excerpt(refined)}")
        searched = replace(query, question=refined, text=refined)
        more = await self._retriever.passages(searched, documents, self._chosen.step_passages, asker.journal)
        union = {place(passage): passage for passage in (*path.passages, *more)}
        return Path((*path.queries, refined), tuple(union.values()))

    async def _voted(self, question: str, paths: Sequence[Path], asker: Asker) -> Answer:
        """The answer that most paths end in; paths without a usable answer have no vote."""
        found = await asyncio.gather(*(self._answer(question, path, asker) for path in paths))
        answers = [answer for answer in found if answer is not None]
        if not answers:
            raise ModelReplyError(f"{STAGE}: none of {len(paths)} replies has a conclusion")
        given = [answer for answer in answers if answer.status == "answered"] or answers
        votes = Counter(_vote(answer) for answer in given)
        winner = max(given, key=lambda answer: (votes[_vote(answer)], len(answer.evidence)))
        asker.journal.note(
            f"{STAGE}: {votes[_vote(winner)]} of {len(paths)} paths answer {excerpt(winner.text, 120)!r}"
        )
        return winner

    async def _answer(self, question: str, path: Path, asker: Asker) -> Answer | None:
        try:
            return await asker.answer(ANSWER, question, path.passages)
        except ModelReplyError:
            return None


def _vote(answer: Answer) -> str:
    """Answers with the same vote agree: the same words and figures."""
    return single_spaced(re.sub(r"(?<=\d),(?=\d{3})|[^\w.%$ -]", "", answer.text.lower())).strip(". ")


def build(tools: Toolbox) -> Retrieval:
    retriever, chat = dense_passages(tools), tools.chat_model()
    chosen = tools.settings.methods.rq_rag_prompted
    return tools.flat(RefinedQueries(retriever, chat, chosen, answers=tools.answers))
