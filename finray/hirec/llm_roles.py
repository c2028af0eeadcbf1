"""Query transformation and evidence curation by a language model (any ChatModel)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from finray.core.errors import ModelReplyError
from finray.core.journal import Journal
from finray.core.query import Query
from finray.core.roles import Curation, Curator, QuestionReader
from finray.core.types import Passage
from finray.hirec.exchange import ask, cited, flag_of, question_of, text_of
from finray.hirec.prompts import CURATE, TRANSFORM
from finray.models.chat import ChatModel
from finray.question.rule_reader import with_text


class LlmReader:
    """HiREC's query transformation. The model rewrites the text to search for; ``rules`` provide the structure
    (companies, periods). If the reply stays unusable, the rules' text serves instead, which the trace notes.
    """

    def __init__(self, model: ChatModel, rules: QuestionReader) -> None:
        self._model = model
        self._rules = rules

    async def read(self, question: str, journal: Journal) -> Query:
        query = await self._rules.read(question, journal)

        async def read(reply: Mapping[str, Any]) -> str:
            text = question_of(reply, "query", TRANSFORM.stage)
            if not text:
                raise ModelReplyError("transform: the reply's 'query' is empty")
            return text

        try:
            text = await ask(self._model, TRANSFORM, question, (), read, journal)
        except ModelReplyError as error:
            journal.note(f"transform: {error}; the rules' query is used instead")
            return query
        journal.note(f"transform: {text!r}")
        return with_text(query, text)


class LlmCurator:
    """HiREC's evidence curation: one call filters, judges and asks the complementary question. If the reply stays
    unusable, ``rules`` curate instead, which the trace notes.
    """

    def __init__(self, model: ChatModel, rules: Curator) -> None:
        self._model = model
        self._rules = rules

    async def curate(self, query: Query, passages: Sequence[Passage], journal: Journal) -> Curation:
        if not passages:
            return Curation((), answerable=False, missing=("any passage",), complementary=query.question)

        async def read(reply: Mapping[str, Any]) -> Curation:
            kept = cited(reply, "relevant_ids", passages, CURATE.stage, journal)
            answerable = flag_of(reply, "answerable", CURATE.stage)
            missing = text_of(reply, "missing", CURATE.stage)
            follow_up = question_of(reply, "follow_up_question", CURATE.stage)
            return Curation(
                kept,
                answerable,
                (missing,) if missing and not answerable else (),
                None if answerable else follow_up or None,
            )

        try:
            return await ask(self._model, CURATE, query.question, passages, read, journal)
        except ModelReplyError as error:
            journal.note(f"curate: {error}; the rule-based curator decides instead")
            return await self._rules.curate(query, passages, journal)
