"""The roles that a language model plays in the ``paper`` preset; any ChatModel serves them."""

from __future__ import annotations

import sys
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
from finray.question_fields import excerpt
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
        text = _text(reply, "query", "transform")
        if not text:
            raise ModelReplyError("transform: the reply's 'query' is empty")
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
        kept = _cited(reply, "relevant_ids", passages, "curate", journal)
        answerable = _flag(reply, "answerable", "curate")
        missing = _text(reply, "missing", "curate")
        follow_up = _text(reply, "follow_up_question", "curate")
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
        evidence = _cited(reply, "citations", passages, "answer", journal)
        text = _text(reply, "answer", "answer")
        if not text:
            raise ModelReplyError("answer: the reply's 'answer' is empty")
        if not _flag(reply, "answerable", "answer"):
            return Answer(text, "unanswerable", evidence=evidence, missing=(text,))
        if not evidence:
            return Answer(
                f"Not answerable: the model cited no passage for {text!r}.",
                "unanswerable",
                missing=("a passage that supports the model's answer",),
            )
        unit = _text(reply, "unit", "answer") or None
        reasoning = _text(reply, "reasoning", "answer") or None
        return Answer(text, "answered", _number(reply, "value", "answer"), unit, reasoning, evidence)


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


def _cited(
    reply: Mapping[str, Any], name: str, passages: Sequence[Passage], stage: str, journal: Journal
) -> tuple[Passage, ...]:
    """The passages behind 1-based ids; an id out of range is dropped by itself, and said in the trace."""
    ids = reply.get(name)
    if not isinstance(ids, list):
        raise _unusable(stage, name, "a list of passage ids", ids)
    valid: dict[int, None] = {}
    for number in ids:
        if isinstance(number, int) and not isinstance(number, bool) and 1 <= number <= len(passages):
            valid.setdefault(number - 1)
        else:
            journal.note(f"{stage}: dropped passage id {excerpt(repr(number), 40)}; there are {len(passages)}")
    return tuple(passages[index] for index in valid)


def _text(reply: Mapping[str, Any], name: str, stage: str) -> str:
    """The text under ``name``, "" where it is absent or null."""
    value = reply.get(name)
    if value is not None and not isinstance(value, str):
        raise _unusable(stage, name, "text", value)
    return (value or "").strip()


def _flag(reply: Mapping[str, Any], name: str, stage: str) -> bool:
    value = reply.get(name)
    if not isinstance(value, bool):
        raise _unusable(stage, name, "true or false", value)
    return value


def _number(reply: Mapping[str, Any], name: str, stage: str) -> float | None:
    """The number under ``name``, None where it is absent or null."""
    value = reply.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= sys.float_info.max:
        raise _unusable(stage, name, "a finite number", value)
    return float(value)


def _unusable(stage: str, name: str, wanted: str, value: object) -> ModelReplyError:
    return ModelReplyError(f"{stage}: the reply's {name!r} is not {wanted}: {excerpt(repr(value), 120)}")
