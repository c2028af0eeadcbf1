"""Query transformation and evidence curation by a language model; any ChatModel serves them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from finray.errors import ModelReplyError
from finray.hirec.exchange import ask, cited, flag_of, question_of, text_of
from finray.hirec.prompts import CURATE, TRANSFORM
from finray.hirec.roles import Curation, Curator, QueryTransformer
from finray.journal import Journal
from finray.models.chat import ChatModel
from finray.retrieval.query import Query
from finray.types import Passage


class LlmTransformer:
    """HiREC's query transformation. The structure (companies, periods) still comes from ``rules``; the model rewrites
    the text that is searched for. Where its reply stays unusable, the rules' text is searched for, and the trace says
    so.
    """

    def __init__(self, model: ChatModel, rules: QueryTransformer) -> None:
        self._model = model
        self._rules = rules

    async def transform(self, question: str, journal: Journal) -> Query:
        query = await self._rules.transform(question, journal)

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
        return replace(query, text=text)


class LlmCurator:
    """HiREC's evidence curation: one call filters, judges and asks the complementary question. Where the reply stays
    unusable, ``rules`` curate instead, and the trace says so.
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
