"""A chat completion as one reply or as the events of OpenAI's stream."""

from __future__ import annotations

import re
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field

from finray.core.chat_replies import (
    ChatChoice,
    ChatChunk,
    ChatCompletion,
    ChatDelta,
    ChatMessage,
    ChatUsage,
    ChatVerdict,
    ChunkChoice,
)
from finray.core.records import to_json
from finray.core.replies import AnswerEvent, ErrorReply, Problem, ServiceEvent

_FREE = ChatUsage()
_ROLE = ChatDelta(role="assistant", content="")
_DONE = b"data: [DONE]\n\n"
_PIECES = re.compile(r"\S+\s*|\s+")
_WORDS_A_PIECE = 8


@dataclass(frozen=True, slots=True)
class Said:
    """What the assistant says and what it cost. ``version`` is that of the index."""

    message: ChatMessage
    usage: ChatUsage = _FREE
    verdict: ChatVerdict | None = None
    version: str = ""


Write = Callable[[AnswerEvent], Awaitable[Said]]
"""Words an answer."""


@dataclass(frozen=True, slots=True)
class Completion:
    """The id and time of one completion."""

    request_id: str
    created: int = field(default_factory=lambda: int(time.time()))

    @property
    def id(self) -> str:
        return f"chatcmpl-{self.request_id}"

    def whole(self, said: Said) -> ChatCompletion:
        return ChatCompletion(
            self.id, self.created, (ChatChoice(said.message),), said.usage, said.version, said.verdict
        )

    async def stream(
        self, events: AsyncGenerator[ServiceEvent, None], write: Write, *, include_usage: bool
    ) -> AsyncGenerator[bytes, None]:
        """Server-sent events: the role when work begins, then the text in pieces, the end and the usage."""
        begun = False
        async with aclosing(events):
            async for event in events:
                if not begun:
                    begun = True
                    yield self._event("", _ROLE)
                if isinstance(event, AnswerEvent):
                    for chunk in self._pieces(await write(event), include_usage=include_usage):
                        yield chunk
        yield _DONE

    async def said_at_once(self, said: Said, *, include_usage: bool) -> AsyncGenerator[bytes, None]:
        """The events of ``stream`` for a message that needs no work."""
        for chunk in (self._event(said.version, _ROLE), *self._pieces(said, include_usage=include_usage), _DONE):
            yield chunk

    def _pieces(self, said: Said, *, include_usage: bool) -> list[bytes]:
        """The message as events, after that of the role."""
        words = _PIECES.findall(said.message.content)
        texts = ["".join(words[at : at + _WORDS_A_PIECE]) for at in range(0, len(words), _WORDS_A_PIECE)]
        chunks = [self._event(said.version, ChatDelta(content=text)) for text in texts]
        choices = (ChunkChoice(ChatDelta(annotations=said.message.annotations), "stop"),)
        chunks.append(_data(ChatChunk(self.id, self.created, choices, said.version, said.verdict)))
        if include_usage:
            chunks.append(_data(ChatChunk(self.id, self.created, (), said.version, usage=said.usage)))
        return chunks

    def _event(self, version: str, delta: ChatDelta) -> bytes:
        return _data(ChatChunk(self.id, self.created, (ChunkChoice(delta),), version))


def failed(problem: Problem) -> bytes:
    """The last event of a stream that fails after it began."""
    return _data(ErrorReply(problem))


def _data(record: ChatChunk | ErrorReply) -> bytes:
    return b"data: %s\n\n" % to_json(record)
