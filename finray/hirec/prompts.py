"""A stage's request to a language model: fixed instructions and the JSON schema of the reply."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Prompt:
    """``stage`` is its name in the trace and the usage."""

    stage: str
    instructions: str
    schema: Mapping[str, Any]


def schema_of(**properties: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of an object with exactly ``properties``."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


TEXT = {"type": "string"}
IDS = {"type": "array", "items": {"type": "integer"}}


def with_at_most(passages: int, schema: Mapping[str, Any]) -> dict[str, Any]:
    """``schema`` with lists of passage ids limited to the number of ``passages``: weak models count on without end."""
    properties = {
        name: {**described, "maxItems": passages} if described.get("items") == IDS["items"] else described
        for name, described in schema["properties"].items()
    }
    return {**schema, "properties": properties}
