"""What every way to run a language model must do, asked of the real thing."""

from __future__ import annotations

import asyncio

import pytest

from finray.core.errors import ModelUnavailableError
from finray.hirec.own_prompts import READ
from finray.models.chat import ChatModel, Message
from finray.models.conversation import conversation

CAPITAL = [Message("user", "What is the capital of France? Answer in one sentence.")]
SCHEMA = {
    "type": "object",
    "properties": {
        "answerable": {"type": "boolean"},
        "ids": {"type": "array", "items": {"type": "integer"}, "maxItems": 3},
    },
    "required": ["answerable", "ids"],
    "additionalProperties": False,
}
PASSAGE = "Revenue rose to $1,577 million in fiscal 2022 from $1,402 million. " * 40


async def sensible_text(model: ChatModel) -> None:
    reply = await model.chat(CAPITAL)
    assert "Paris" in reply.text
    assert reply.parsed is None
    assert 10 < reply.usage.prompt_tokens < 100
    assert 2 < reply.usage.completion_tokens <= 48
    assert reply.usage.cost == pytest.approx((reply.usage.prompt_tokens + 10 * reply.usage.completion_tokens) / 1e6)


async def structured_output(model: ChatModel) -> None:
    reply = await model.chat([Message("user", "Write a poem about the sea.")], schema=SCHEMA)
    assert reply.parsed is not None, reply.text
    assert isinstance(reply.parsed["answerable"], bool)
    assert len(reply.parsed["ids"]) <= 3
    assert all(isinstance(number, int) for number in reply.parsed["ids"])
    # All fields of READ take more tokens than these tests let a reply have.
    one_field = {**READ.schema, "properties": {"question": READ.schema["properties"]["question"]}}
    query = await model.chat(
        conversation(READ.instructions, "How much was Acme's revenue in fiscal 2022?"),
        schema=one_field | {"required": ["question"]},
    )
    assert query.parsed is not None, query.text
    assert "Acme" in query.parsed["question"]


async def cut_replies(model: ChatModel) -> None:
    reply = await model.chat([Message("user", "Write a long story about a dragon.")])
    assert reply.cut
    assert reply.usage.completion_tokens == 48


async def sixteen_at_once(model: ChatModel) -> None:
    """All come, and each to the one who asked."""

    async def ask(number: int) -> object:
        only = {"type": "object", "properties": {"n": {"enum": [number]}}, "required": ["n"]}
        reply = await model.chat([Message("user", f"Say the number {number} as JSON.")], schema=only)
        return reply.parsed

    assert await asyncio.gather(*map(ask, range(16))) == [{"n": number} for number in range(16)]


async def cached_instructions(model: ChatModel) -> None:
    """The second prompt that begins alike is read from the prefix cache, and says so."""
    first = await model.chat([Message("system", PASSAGE), Message("user", "What was revenue in 2022?")])
    second = await model.chat([Message("system", PASSAGE), Message("user", "And in the year before?")])
    assert second.usage.prompt_tokens > 500
    assert second.usage.cached_tokens > second.usage.prompt_tokens / 2
    assert second.usage.cached_tokens > first.usage.cached_tokens


async def too_long_a_prompt(model: ChatModel) -> None:
    with pytest.raises(ModelUnavailableError, match="4096"):
        await model.chat([Message("user", "word " * 6000)])
    await sensible_text(model)
