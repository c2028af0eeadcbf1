"""The roles that a language model plays in the ``paper`` preset; any ChatModel serves them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from finray.errors import ModelReplyError
from finray.hirec.prompts import (
    ANSWER,
    ANSWER_SCHEMA,
    CURATE,
    CURATE_SCHEMA,
    TRANSFORM,
    TRANSFORM_SCHEMA,
    conversation,
)
from finray.hirec.roles import Curation, QueryTransformer
from finray.journal import Journal
from finray.models.chat import ChatModel
from finray.retrieval.query import Query
from finray.types import Answer, Passage


class LlmTransformer:
    """HiREC's query transformation. The structure (companies, periods) still comes from ``rules``; the model rewrites
    the text that is searched for."""

    def __init__(self, model: ChatModel, rules: QueryTransformer) -> None:
        self._model = model
        self._rules = rules

    async def transform(self, question: str, journal: Journal) -> Query:
        query = await self._rules.transform(question, journal)
        reply = await _ask(self._model, "transform", TRANSFORM, question, (), TRANSFORM_SCHEMA, journal)
        text = str(reply.get("query", "")).strip()
        if not text:
            raise ModelReplyError(f"query transformation returned no query: {dict(reply)!r}")
        journal.note(f"transform: {text!r}")
        return replace(query, text=text)


class LlmCurator:
    """HiREC's evidence curation: one call filters, judges and asks the complementary question."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model

    async def curate(self, query: Query, passages: Sequence[Passage], journal: Journal) -> Curation:
        if not passages:
            return Curation((), answerable=False, missing=("any passage",), complementary=query.question)
        reply = await _ask(self._model, "curate", CURATE, query.question, passages, CURATE_SCHEMA, journal)
        kept = _cited(reply.get("relevant_ids"), passages, "curate", journal)
        answerable = bool(reply.get("answerable"))
        missing = str(reply.get("missing", "")).strip()
        follow_up = str(reply.get("follow_up_question", "")).strip()
        return Curation(
            kept,
            answerable,
            (missing,) if missing and not answerable else (),
            None if answerable else follow_up or None,
        )


class LlmAnswerer:
    """Chain of thought over the kept passages, with citations that are checked to exist."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model

    async def answer(self, query: Query, passages: Sequence[Passage], journal: Journal) -> Answer:
        if not passages:
            return Answer(
                "Not answerable: no passage was found in the index.", "unanswerable", missing=("any passage",)
            )
        reply = await _ask(self._model, "answer", ANSWER, query.question, passages, ANSWER_SCHEMA, journal)
        evidence = _cited(reply.get("citations"), passages, "answer", journal)
        text = str(reply.get("answer", "")).strip()
        if not text:
            raise ModelReplyError(f"the model gave no answer: {dict(reply)!r}")
        if not reply.get("answerable"):
            return Answer(text, "unanswerable", evidence=evidence, missing=(text,))
        if not evidence:
            return Answer(
                f"Not answerable: the model cited no passage for {text!r}.",
                "unanswerable",
                missing=("a passage that supports the model's answer",),
            )
        value = reply.get("value")
        unit = reply.get("unit")
        return Answer(
            text,
            "answered",
            float(value) if isinstance(value, int | float) else None,
            unit if isinstance(unit, str) else None,
            str(reply.get("reasoning", "")) or None,
            evidence,
        )


async def _ask(
    model: ChatModel,
    stage: str,
    instructions: str,
    question: str,
    passages: Sequence[Passage],
    schema: Mapping[str, Any],
    journal: Journal,
) -> Mapping[str, Any]:
    reply = await model.chat(conversation(instructions, question, passages), schema=schema)
    journal.spend(stage, reply.usage)
    if reply.parsed is None:
        raise ModelReplyError(f"{stage}: asked for a JSON object, got {reply.text[:120]!r}")
    return reply.parsed


def _cited(ids: object, passages: Sequence[Passage], stage: str, journal: Journal) -> tuple[Passage, ...]:
    """The passages behind 1-based ``ids``; an id out of range is dropped by itself, and said in the trace."""
    if not isinstance(ids, list):
        return ()
    valid: dict[int, None] = {}
    for number in ids:
        if isinstance(number, int) and 1 <= number <= len(passages):
            valid.setdefault(number - 1)
        else:
            journal.note(f"{stage}: dropped passage id {number!r}; there are {len(passages)}")
    return tuple(passages[index] for index in valid)
