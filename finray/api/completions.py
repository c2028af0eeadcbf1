"""Requests to a shared language model, in the shape of OpenAI's chat completions. All input is hostile."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from typing import Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field

from finray.api.errors import invalid

_MAX_SCHEMA_NODES = 2_000
_MAX_SCHEMA_DEPTH = 24
_MAX_REPEATS = 1_000
_REPEATS = frozenset({"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"})
_PATTERNS = frozenset({"pattern", "patternProperties"})


class Completions(Protocol):
    """A language model that takes and returns the bodies of OpenAI's chat completions. Its methods raise ApiError."""

    @property
    def model(self) -> str:
        """The name that requests give."""
        ...

    async def complete(self, body: dict[str, Any]) -> dict[str, Any]: ...

    def stream(self, body: dict[str, Any]) -> AsyncGenerator[bytes, None]:
        """Server-sent events. Closing the generator ends the work."""
        ...


class _Strict(BaseModel):
    """Fields that are not listed are refused: some engines read files or templates that a request names."""

    model_config = ConfigDict(extra="forbid")


class TextPart(_Strict):
    type: Literal["text"]
    text: str


class Turn(_Strict):
    """One message; text only."""

    role: Literal["system", "developer", "user", "assistant"]
    content: str | list[TextPart]
    name: str | None = Field(None, max_length=64)


class JsonSchema(_Strict):
    name: str = Field("reply", max_length=64)
    schema_: dict[str, Any] = Field(alias="schema")
    description: str | None = Field(None, max_length=2_000)
    strict: bool | None = None


class ResponseFormat(_Strict):
    """``json_schema`` is enforced."""

    type: Literal["text", "json_object", "json_schema"]
    json_schema: JsonSchema | None = None


class Streaming(_Strict):
    include_usage: bool = False


class CompletionRequest(_Strict):
    """A request to the language model of this service, which knows nothing of its index."""

    model: str = Field(max_length=200)
    messages: list[Turn] = Field(min_length=1, max_length=2_000)
    stream: bool = False
    stream_options: Streaming | None = None
    temperature: float | None = Field(None, ge=0, le=2)
    top_p: float | None = Field(None, gt=0, le=1)
    max_tokens: int | None = Field(None, ge=1, le=1_000_000)
    max_completion_tokens: int | None = Field(None, ge=1, le=1_000_000)
    n: int | None = Field(None, ge=1, le=1, description="Only one choice.")
    stop: str | list[str] | None = Field(None, max_length=16)
    seed: int | None = Field(None, ge=0, lt=2**63)
    frequency_penalty: float | None = Field(None, ge=-2, le=2)
    presence_penalty: float | None = Field(None, ge=-2, le=2)
    response_format: ResponseFormat | None = None
    user: str | None = Field(None, max_length=200, description="Ignored.")

    def body(self) -> dict[str, Any]:
        """The fields that were given. Raises ApiError 422 for a schema that costs too much to enforce."""
        if self.response_format is not None and self.response_format.json_schema is not None:
            _check_schema(self.response_format.json_schema.schema_)
        return self.model_dump(mode="json", by_alias=True, exclude_none=True, exclude={"user"})


def _check_schema(schema: dict[str, Any]) -> None:
    """Raises ApiError 422 for a schema that is too large, or has large counts or patterns.

    The shared engine compiles a grammar from it, which could take minutes and gigabytes.
    """
    place = "response_format.json_schema.schema"
    for number, (depth, key, value) in enumerate(_nodes(schema)):
        if number > _MAX_SCHEMA_NODES or depth > _MAX_SCHEMA_DEPTH:
            size = f"{_MAX_SCHEMA_NODES} values and {_MAX_SCHEMA_DEPTH} levels"
            raise invalid("schema_too_large", f"the schema is too large: at most {size}", place)
        if key in _REPEATS and isinstance(value, int | float) and value > _MAX_REPEATS:
            raise invalid("schema_too_large", f"{key} may be {_MAX_REPEATS} at most", place)
        if key in _PATTERNS and isinstance(value, str | dict):
            raise invalid("unsupported_schema", f"{key!r} is not supported here", place)


def _nodes(schema: object) -> Iterator[tuple[int, str, object]]:
    """All values below ``schema``, with their depth and key, without recursion."""
    waiting: list[tuple[int, str, object]] = [(0, "", schema)]
    while waiting:
        depth, key, value = waiting.pop()
        yield depth, key, value
        if isinstance(value, dict):
            waiting.extend((depth + 1, name, each) for name, each in value.items())
        elif isinstance(value, list):
            waiting.extend((depth + 1, "", each) for each in value)
