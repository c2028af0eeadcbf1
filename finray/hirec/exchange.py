"""One exchange with a language model: ask, read the reply, and ask once more if it is unusable."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

from finray.core.errors import ModelReplyError
from finray.core.journal import Journal
from finray.core.question_fields import excerpt, single_spaced
from finray.hirec.prompts import Prompt
from finray.models.chat import ChatModel, ChatReply, Message
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
    reply = await _asked(model, prompt, messages, journal)
    try:
        return await read(_parsed(reply, prompt))
    except ModelReplyError as error:
        journal.unusable_reply(prompt.stage, f"{error}; asking once more")
        complaint = (
            f"That reply could not be used: {unfenced(str(error))}. "
            "Give the whole reply again, in the form that the instructions ask for."
        )
        first = Message("assistant", unfenced(excerpt(reply.text, _REPEATED_CHARACTERS)))
        messages = [*messages, first, Message("user", complaint)]
    reply = await _asked(model, prompt, messages, journal)
    try:
        return await read(_parsed(reply, prompt))
    except ModelReplyError as error:
        journal.unusable_reply(prompt.stage, str(error))
        raise


async def _asked(model: ChatModel, prompt: Prompt, messages: Sequence[Message], journal: Journal) -> ChatReply:
    reply = await model.chat(messages, schema=prompt.schema)
    journal.spend(prompt.stage, reply.usage)
    return reply


def _parsed(reply: ChatReply, prompt: Prompt) -> Mapping[str, Any]:
    """Raises ModelReplyError."""
    if reply.parsed is None:
        names = ", ".join(prompt.schema["required"])
        cut = ", cut off at llm.max_tokens" if reply.cut else ""
        raise ModelReplyError(f"{prompt.stage}: asked for {names}, got {excerpt(reply.text, 120)!r}{cut}")
    return reply.parsed


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
    """The boolean under ``name``."""
    value = reply.get(name)
    if not isinstance(value, bool):
        raise unusable(stage, name, "true or false", value)
    return value


def is_finite_number(value: object) -> bool:
    """Whether ``value`` is an int or float, but not a bool, that a float can hold."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


def unusable(stage: str, name: str, wanted: str, value: object) -> ModelReplyError:
    return ModelReplyError(f"{stage}: the reply's {name!r} is not {wanted}: {excerpt(repr(value), 120)}")
