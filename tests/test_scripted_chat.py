from __future__ import annotations

from finray.models.chat import Message
from tests.scripted_chat import ScriptedChatModel


async def test_the_fake_follows_its_script_and_remembers() -> None:
    model = ScriptedChatModel(lambda messages: {"echo": messages[-1].content})
    reply = await model.chat([Message("user", "hello there")], schema={"type": "object"})
    assert reply.parsed == {"echo": "hello there"}
    assert reply.usage.prompt_tokens == 2
    assert model.calls == [(Message("user", "hello there"),)]


async def test_the_fake_may_answer_in_prose() -> None:
    reply = await ScriptedChatModel(lambda _: "no idea at all").chat([])
    assert (reply.text, reply.parsed, reply.usage.completion_tokens) == ("no idea at all", None, 4)
