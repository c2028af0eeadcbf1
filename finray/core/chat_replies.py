"""Replies of the chat routes, in the shapes of OpenAI's API."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from finray.core.records import OmitEmpty, OmitNone, Record

CHAT_MODEL = "finray"
"""The one model of the service: answers from its index."""


@dataclass(frozen=True, slots=True)
class ModelCard(Record):
    id: str = CHAT_MODEL
    object: Literal["model"] = "model"
    created: int = 1_700_000_000
    owned_by: str = "finray"


@dataclass(frozen=True, slots=True)
class ModelList(Record):
    data: tuple[ModelCard, ...]
    object: Literal["list"] = "list"


@dataclass(frozen=True, slots=True)
class UrlCitation(Record):
    """``content[start_index:end_index]`` is the citation's mark in the message."""

    start_index: int
    end_index: int
    url: str
    title: str


@dataclass(frozen=True, slots=True)
class Annotation(Record):
    url_citation: UrlCitation
    type: Literal["url_citation"] = "url_citation"


@dataclass(frozen=True, slots=True)
class ChatUsage(Record):
    """Tokens of the language models that finray asked, 0 without any."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    total_tokens: int = 0


@dataclass(frozen=True, slots=True)
class ChatVerdict(Record):
    """What finray knows about its answer, beyond OpenAI's fields; `/v1/answer` has all of it."""

    status: str
    resolved: str | None
    """The question that was answered, if the last message was completed from earlier ones."""
    value: float | None
    unit: str | None
    confidence: float | None
    grounded: bool | None


@dataclass(frozen=True, slots=True)
class ChatMessage(Record):
    content: str
    annotations: tuple[Annotation, ...] = ()
    role: Literal["assistant"] = "assistant"
    refusal: None = None


@dataclass(frozen=True, slots=True)
class ChatChoice(Record):
    message: ChatMessage
    index: int = 0
    finish_reason: Literal["stop"] = "stop"
    logprobs: None = None


@dataclass(frozen=True, slots=True)
class ChatCompletion(Record):
    id: str
    created: int
    choices: tuple[ChatChoice, ...]
    usage: ChatUsage
    system_fingerprint: str
    """The version of the index."""
    finray: OmitNone[ChatVerdict | None] = None
    model: str = CHAT_MODEL
    object: Literal["chat.completion"] = "chat.completion"


@dataclass(frozen=True, slots=True)
class ChatDelta(Record):
    role: OmitNone[Literal["assistant"] | None] = None
    content: OmitNone[str | None] = None
    annotations: OmitEmpty[tuple[Annotation, ...]] = ()


@dataclass(frozen=True, slots=True)
class ChunkChoice(Record):
    delta: ChatDelta
    finish_reason: Literal["stop"] | None = None
    index: int = 0
    logprobs: None = None


@dataclass(frozen=True, slots=True)
class ChatChunk(Record):
    """One event of a streamed completion."""

    id: str
    created: int
    choices: tuple[ChunkChoice, ...]
    system_fingerprint: str
    finray: OmitNone[ChatVerdict | None] = None
    usage: OmitNone[ChatUsage | None] = None
    model: str = CHAT_MODEL
    object: Literal["chat.completion.chunk"] = "chat.completion.chunk"
