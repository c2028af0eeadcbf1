"""Generates docs/http-api.md from the OpenAPI description of the HTTP service."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from finray.api.app import openapi_text
from tools.reference.records import record_names
from tools.reference.tables import code, prose, table

_REFERENCE = "#/components/schemas/"
HEAD = """<!-- Written by `make docs` from the routes of finray/api; do not edit. -->

# The HTTP API

{description} [serving.md](serving.md) covers examples, keys, limits and events. [openapi.json](openapi.json) is the
OpenAPI file. Every route that needs a key may reply {anywhere}; a route lists its other errors.
"""
OBJECTS = "A field with `?` may be absent."

Object = dict[str, Any]
IN_FILES = {name: name.lower() for name in record_names()} | {"Question": "questions", "Prediction": "predictions"}
"""Objects that docs/formats.md describes -> their heading there."""


def http_api_page(_present: str) -> str:
    described: Object = json.loads(openapi_text())
    routes = [
        (f"{method.upper()} {path}", operation)
        for path, operations in described["paths"].items()
        for method, operation in operations.items()
    ]
    schemas = [_schema(name, schema) for name, schema in described["components"]["schemas"].items()]
    anywhere = set.intersection(*(_statuses(operation) for _, operation in routes if operation.get("security")))
    head = HEAD.format(description=described["info"]["description"], anywhere=", ".join(sorted(anywhere))).rstrip()
    parts = ["## Routes", *(_route(*route, anywhere) for route in routes)]
    parts += ["## Errors", _errors(routes), "## Objects", OBJECTS, *schemas]
    return "\n\n".join([head, *parts]) + "\n"


def _route(name: str, operation: Object, anywhere: set[str]) -> str:
    """``anywhere`` are the errors of all routes with a key."""
    parts = [f"### {name}", f"{operation['summary']}. {prose(operation.get('description'))}".strip()]
    if operation.get("security"):
        parts[-1] += " Needs a key."
    parameters = [
        [
            code(each["name"]),
            each["in"] + (", required" if each.get("required") else ""),
            _kind(each["schema"]),
            prose(each.get("description")),
        ]
        for each in operation.get("parameters", ())
    ]
    if parameters:
        parts.append(table(["parameter", "in", "type", ""], parameters))
    if "requestBody" in operation:
        parts.append(f"Body: {_content(operation['requestBody'])}.")
    replies = operation["responses"]
    parts += [
        f"Reply: {_content(reply)}. {_sentence(reply)}".strip() for status, reply in replies.items() if status < "400"
    ]
    if errors := sorted(_statuses(operation) - anywhere):
        parts.append(f"Errors: {', '.join(errors)}.")
    return "\n\n".join(parts)


def _statuses(operation: Object) -> set[str]:
    return {status for status in operation["responses"] if status >= "400"}


def _errors(routes: list[tuple[str, Object]]) -> str:
    """A row for each status with its meaning; every error has the same body."""
    meanings: dict[str, dict[str, None]] = {}
    for _, operation in routes:
        for status, reply in operation["responses"].items():
            if status >= "400":
                meanings.setdefault(status, {})[prose(reply["description"])] = None
    rows = ([status, "; ".join(found)] for status, found in sorted(meanings.items()))
    return table(["status", "meaning"], rows) + "\n\nThe body of each is an [Error](#error)."


def _sentence(reply: Object) -> str:
    text = prose(reply.get("description"))
    return "" if text in ("OK", "Successful Response") else f"{text}."


def _content(holder: Object) -> str:
    """JSON, if no kind is named."""
    named = []
    for kind, media in holder.get("content", {}).items():
        schema = _kind(media["schema"]) if media.get("schema") else ""
        named.append(schema if schema and kind == "application/json" else f"{schema} {code(kind)}".strip())
    return ", ".join(named)


def _schema(name: str, schema: Object) -> str:
    if name in IN_FILES:
        return f"### {name}\n\nAs [in files](formats.md#{IN_FILES[name]})."
    parts = [f"### {name}", *([prose(schema["description"])] if "description" in schema else [])]
    parts.append(table(["field", "type", ""], _fields(schema, "")))
    return "\n\n".join(parts)


def _fields(schema: Object, prefix: str) -> Iterator[list[str]]:
    """A row for each field; fields of nested objects follow as ``documents[].score``."""
    required = set(schema.get("required", ()))
    for name, field in schema.get("properties", {}).items():
        optional = "" if name in required else "?"
        yield [code(prefix + name + optional), _kind(field), prose(field.get("description"))]
        yield from _fields(field, f"{prefix}{name}.")
        yield from _fields(field.get("items", {}), f"{prefix}{name}[].")


def _kind(schema: Object) -> str:
    if "$ref" in schema:
        name = schema["$ref"].removeprefix(_REFERENCE)
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(_kind(each) for each in schema["anyOf"])
    if "const" in schema:
        return code(json.dumps(schema["const"]))
    if "enum" in schema:
        return ", ".join(code(json.dumps(each)) for each in schema["enum"])
    kinds = schema.get("type", "any")
    if isinstance(kinds, list):
        return " or ".join(_kind({**schema, "type": each}) for each in kinds)
    if kinds == "array":
        return f"list of {_kind(schema.get('items', {}))}"
    return f"{kinds}{_limits(schema)}"


def _limits(schema: Object) -> str:
    names = {"minimum": "≥", "maximum": "≤", "minLength": "length ≥", "maxLength": "length ≤"}
    found = [f"{sign} {schema[name]:g}" for name, sign in names.items() if name in schema]
    if "pattern" in schema:
        found.append(code(schema["pattern"]))
    return "".join(f", {each}" for each in found)
