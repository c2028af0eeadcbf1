"""Stores replies on disk by the hash of the request, so that a resumed run repeats no paid call."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from finray.core.errors import ModelUnavailableError, SettingsError
from finray.core.predictions import TokenUsage
from finray.core.settings import LlmSettings
from finray.models.chat import ChatModel, ChatReply, Message
from finray.storage.atomic import replacing

_PRIVATE_FOLDER = 0o700
_KEPT_SHARE = 0.8
"""Share of the size limit that remains after the oldest replies are removed."""


class ReplayingChatModel:
    """Calls ``model`` only for requests that are not in the folder. Several processes may share a folder.

    The key covers the messages, the schema and every setting that can change a reply. The folder holds only replies, no
    prompts, in files that only the owner can read. Replies that do not fit the schema are not stored, since another try
    may succeed. A replayed reply counts its tokens and costs nothing. Raises SettingsError if the folder cannot be
    created, ModelUnavailableError if it cannot be used.
    """

    def __init__(self, model: ChatModel, settings: LlmSettings) -> None:
        self.inner = model
        self._folder = Path(settings.replay_cache).expanduser()
        self._max_bytes = settings.replay_cache_mb * 1024 * 1024
        self._identity = settings.identity()
        try:
            self._folder.mkdir(mode=_PRIVATE_FOLDER, parents=True, exist_ok=True)
        except OSError as error:
            raise SettingsError(f"llm.replay_cache = {settings.replay_cache!r} cannot be created: {error}") from error
        self._lock = threading.Lock()
        self._bytes = sum(size for _, size, _ in _entries(self._folder))

    async def chat(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None) -> ChatReply:
        path = self._path(messages, schema)
        with _folder_errors(self._folder):
            stored = await asyncio.to_thread(_load, path)
        if stored is not None:
            return stored
        reply = await self.inner.chat(messages, schema=schema)
        if schema is None or reply.parsed is not None:
            with _folder_errors(self._folder):
                await asyncio.to_thread(self._store, path, reply)
        return reply

    def _path(self, messages: Sequence[Message], schema: Mapping[str, Any] | None) -> Path:
        payload = {
            "identity": self._identity,
            "messages": [[message.role, message.content] for message in messages],
            "schema": schema,
        }
        key = hashlib.sha256(json.dumps(payload, sort_keys=True).encode()).hexdigest()
        return self._folder / key[:2] / f"{key}.json"

    def _store(self, path: Path, reply: ChatReply) -> None:
        record = {
            "text": reply.text,
            "prompt_tokens": reply.usage.prompt_tokens,
            "completion_tokens": reply.usage.completion_tokens,
            "parsed": reply.parsed,
        }
        content = json.dumps(record).encode()
        path.parent.mkdir(mode=_PRIVATE_FOLDER, parents=True, exist_ok=True)
        with replacing(path, private=True) as scratch:
            scratch.write_bytes(content)
        with self._lock:
            self._bytes += len(content)
            if self._bytes > self._max_bytes:
                self._bytes = _remove_oldest(self._folder, int(self._max_bytes * _KEPT_SHARE))


@contextmanager
def _folder_errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ModelUnavailableError(
            f"llm.replay_cache = {str(folder)!r} cannot be read or written: {error}; free some space, or unset it"
        ) from error


def _load(path: Path) -> ChatReply | None:
    """The reply at ``path``, whose access is recorded; None if it is missing or damaged."""
    try:
        record = json.loads(path.read_bytes())
        os.utime(path)
        usage = TokenUsage(int(record["prompt_tokens"]), int(record["completion_tokens"]))
        return ChatReply(str(record["text"]), usage, record["parsed"])
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError):
        path.unlink(missing_ok=True)
        return None


def _entries(folder: Path) -> list[tuple[float, int, Path]]:
    """(last used, bytes, path) of each reply."""
    found: list[tuple[float, int, Path]] = []
    for path in folder.glob("??/*.json"):
        try:
            status = path.stat()
        except FileNotFoundError:  # another process removed it
            continue
        if status.st_mode & 0o077:  # written by an earlier version
            with suppress(PermissionError):  # another user's file
                path.chmod(0o600)
        found.append((status.st_mtime, status.st_size, path))
    return found


def _remove_oldest(folder: Path, max_bytes: int) -> int:
    """Remove the least recently used replies until at most ``max_bytes`` remain; the bytes that remain."""
    entries = sorted(_entries(folder))
    total = sum(size for _, size, _ in entries)
    for _, size, path in entries:
        if total <= max_bytes:
            break
        path.unlink(missing_ok=True)
        total -= size
    return total
