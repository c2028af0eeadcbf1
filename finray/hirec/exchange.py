"""One exchange with a language model: ask, read the reply, and ask once more if it is unusable."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

from finray.core.errors import ModelReplyError
from finray.core.journal import Journal
from finray.core.question_fields import excerpt, single_spaced
from finray.hirec.prompts import Prompt
from finray.models.chat import ChatModel, Message
from finray.models.fences import unfenced

T = TypeVar("T")

MAX_QUESTION_CHARACTERS = 2_000
"""Longest question that a model may write: the rules read it like a person's."""
_REPEATED_CHARACTERS = 4_000
"""How much of an unusable reply the second request repeats."""


async def converse(
    model: ChatModel,
    prompt: Prompt,
    messages: Sequence[Message],
    read: Callable[[Mapping[str, Any]], Awaitable[T]],
    journal: Journal,
) -> T:
    """The result of ``read`` for the reply. If it raises ModelReplyError, the model sees the error and tries once more.

    Raises ModelReplyError if the second reply is unusable too, ModelUnavailableError.
    """
    try:
        return await _once(model, prompt, messages, read, journal)
    except _Unusable as unusable:
        journal.unusable_reply(prompt.stage, f"{unusable.error}; asking once more")
        complaint = (
            f"That reply could not be used: {unfenced(str(unusable.error))}. "
            "Give the whole reply again, in the form that the instructions ask for."
        )
        first = Message("assistant", unfenced(excerpt(unusable.text, _REPEATED_CHARACTERS)))
        messages = [*messages, first, Message("user", complaint)]
    try:
        return await _once(model, prompt, messages, read, journal)
    except _Unusable as unusable:
        journal.unusable_reply(prompt.stage, str(unusable.error))
        raise unusable.error from None


class _Unusable(Exception):
    def __init__(self, text: str, error: ModelReplyError) -> None:
        super().__init__(str(error))
        self.text = text
        self.error = error


async def _once(
    model: ChatModel,
    prompt: Prompt,
    messages: Sequence[Message],
    read: Callable[[Mapping[str, Any]], Awaitable[T]],
    journal: Journal,
) -> T:
    reply = await model.chat(messages, schema=prompt.schema)
    journal.spend(prompt.stage, reply.usage)
    try:
        if reply.parsed is None:
            names = ", ".join(prompt.schema["required"])
            cut = ", cut off at llm.max_tokens" if reply.cut else ""
            raise ModelReplyError(f"{prompt.stage}: asked for {names}, got {excerpt(reply.text, 120)!r}{cut}")
        return await read(reply.parsed)
    except ModelReplyError as error:
        raise _Unusable(reply.text, error) from None


def chosen(reply: Mapping[str, Any], name: str, passages: Sequence[T], stage: str, journal: Journal) -> tuple[T, ...]:
    """The passages with the 1-based ids under ``name``. Ids out of range are dropped and noted in the trace."""
    ids = reply.get(name)
    if not isinstance(ids, list):
        raise unusable(stage, name, "a list of passage ids", ids)
    valid: dict[int, None] = {}
    for number in ids:
        if isinstance(number, int) and not isinstance(number, bool) and 1 <= number <= len(passages):
            valid.setdefault(number - 1)
        else:
            journal.note(f"{stage}: dropped passage id {excerpt(repr(number), 40)}; there are {len(passages)}")
    return tuple(passages[index] for index in valid)


def text_of(reply: Mapping[str, Any], name: str, stage: str) -> str:
    """The text under ``name``, "" if it is absent or null."""
    value = reply.get(name)
    if value is not None and not isinstance(value, str):
        raise unusable(stage, name, "text", value)
    return (value or "").strip()


def question_of(reply: Mapping[str, Any], name: str, stage: str) -> str:
    """The question under ``name`` on one line, "" if it is absent or null."""
    text = single_spaced(text_of(reply, name, stage))
    if len(text) > MAX_QUESTION_CHARACTERS:
        raise unusable(stage, name, f"a question of at most {MAX_QUESTION_CHARACTERS:,} characters", text)
    return text


def flag_of(reply: Mapping[str, Any], name: str, stage: str) -> bool:
    value = reply.get(name)
    if not isinstance(value, bool):
        raise unusable(stage, name, "true or false", value)
    return value


def is_finite_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


def unusable(stage: str, name: str, wanted: str, value: object) -> ModelReplyError:
    return ModelReplyError(f"{stage}: the reply's {name!r} is not {wanted}: {excerpt(repr(value), 120)}")
