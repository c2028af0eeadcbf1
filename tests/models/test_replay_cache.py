"""Replies from disk: what was paid for once is not asked again."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from finray.core.errors import ModelUnavailableError, SettingsError
from finray.core.predictions import TokenUsage
from finray.core.settings import LlmSettings
from finray.models.chat import ChatReply, Message
from finray.models.replay_cache import ReplayingChatModel

SCHEMA = {"properties": {"a": {"type": "integer"}}, "required": ["a"]}


class Paid:
    """Counts what it is asked."""

    def __init__(self, text: str = '{"a": 1}', parsed: Mapping[str, Any] | None = None) -> None:
        self.reply = ChatReply(text, TokenUsage(10, 2, 0.5), parsed)
        self.calls = 0

    async def chat(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None) -> ChatReply:
        self.calls += 1
        return self.reply


def cached(paid: Paid, folder: Path, **more: Any) -> ReplayingChatModel:
    return ReplayingChatModel(paid, LlmSettings(replay_cache=str(folder), **more))


def ask(text: str = "hi") -> list[Message]:
    return [Message("system", "be brief"), Message("user", text)]


async def test_a_second_run_asks_nothing_and_pays_nothing(tmp_path: Path) -> None:
    model = Paid(parsed={"a": 1})
    first = await cached(model, tmp_path).chat(ask(), schema=SCHEMA)
    again = await cached(model, tmp_path).chat(ask(), schema=SCHEMA)
    assert model.calls == 1
    assert first.usage == TokenUsage(10, 2, 0.5)
    assert again == ChatReply(first.text, TokenUsage(10, 2, 0.0), {"a": 1})


async def test_replies_are_their_owners_alone(tmp_path: Path) -> None:
    folder = tmp_path / "replies"
    before = os.umask(0o022)
    try:
        await cached(Paid(parsed={"a": 1}), folder).chat(ask(), schema=SCHEMA)
    finally:
        os.umask(before)
    (reply,) = folder.glob("??/*.json")
    assert [path.stat().st_mode & 0o777 for path in (reply, reply.parent, folder)] == [0o600, 0o700, 0o700]
    reply.chmod(0o644)  # as an earlier version wrote it
    cached(Paid(), folder)
    assert reply.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "changed", [{"model": "other"}, {"temperature": 1.0}, {"max_tokens": 5}, {"base_url": "http://x"}]
)
async def test_other_settings_are_another_question(tmp_path: Path, changed: dict[str, Any]) -> None:
    model = Paid()
    await cached(model, tmp_path).chat(ask())
    await cached(model, tmp_path, **changed).chat(ask())
    assert model.calls == 2


async def test_other_messages_or_another_schema_are_another_question(tmp_path: Path) -> None:
    model = Paid(parsed={"a": 1})
    replaying = cached(model, tmp_path)
    await replaying.chat(ask())
    await replaying.chat(ask("ho"))
    await replaying.chat(ask(), schema=SCHEMA)
    await replaying.chat([Message("user", "be brief"), Message("user", "hi")])
    assert model.calls == 4


async def test_prices_timeouts_and_keys_are_not(tmp_path: Path) -> None:
    model = Paid()
    await cached(model, tmp_path).chat(ask())
    await cached(model, tmp_path, prompt_price=9.0, timeout_s=1.0, api_key_env="OTHER").chat(ask())
    assert model.calls == 1


async def test_what_could_not_be_read_is_asked_again(tmp_path: Path) -> None:
    model = Paid("Sure!", parsed=None)
    replaying = cached(model, tmp_path)
    await replaying.chat(ask(), schema=SCHEMA)
    await replaying.chat(ask(), schema=SCHEMA)
    assert model.calls == 2


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"text": 1}', b"\xff", b"null"])
async def test_a_damaged_entry_is_asked_again(tmp_path: Path, damage: bytes) -> None:
    model = Paid()
    await cached(model, tmp_path).chat(ask())
    (entry,) = tmp_path.glob("??/*.json")
    entry.write_bytes(damage)
    assert (await cached(model, tmp_path).chat(ask())).text == model.reply.text
    assert (await cached(model, tmp_path).chat(ask())).text == model.reply.text
    assert model.calls == 2


async def test_the_folder_stays_within_its_limit_and_keeps_what_is_used(tmp_path: Path) -> None:
    model = Paid("x" * 100_000)
    replaying = cached(model, tmp_path, replay_cache_mb=1)
    for number in range(8):
        await replaying.chat(ask(str(number)))
    entries = sorted(tmp_path.glob("??/*.json"))
    for age, entry in enumerate(entries):
        os.utime(entry, (1_000_000 + age, 1_000_000 + age))
    await replaying.chat(ask("3"))  # used: now the newest
    for number in range(8, 14):
        await replaying.chat(ask(str(number)))
    assert sum(entry.stat().st_size for entry in tmp_path.glob("??/*.json")) <= 1024 * 1024
    assert model.calls == 14
    await replaying.chat(ask("3"))
    assert model.calls == 14


async def test_no_prompt_is_stored(tmp_path: Path) -> None:
    await cached(Paid(), tmp_path).chat(ask("a secret question"))
    assert not any(b"secret" in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


def test_a_folder_that_cannot_be_made_is_said_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(SettingsError, match=r"llm\.replay_cache"):
        cached(Paid(), tmp_path / "file" / "cache")


async def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    replaying = cached(Paid(), tmp_path / "cache")
    (tmp_path / "cache").rmdir()
    (tmp_path / "cache").write_text("in the way")
    with pytest.raises(ModelUnavailableError, match=r"llm\.replay_cache"):
        await replaying.chat(ask())
