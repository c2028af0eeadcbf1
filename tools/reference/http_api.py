"""Generates docs/http-api.md from the OpenAPI description of the HTTP service."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from finray.api.app import openapi_text
from tools.reference.tables import code, prose, table

_REFERENCE = "#/components/schemas/"
HEAD = """<!-- Written by `make docs` from the routes of finray/api; do not edit. -->

# The HTTP API

{description} [serving.md](serving.md) covers examples, keys, limits and events. [openapi.json](openapi.json) is the
OpenAPI file.
"""

Object = dict[str, Any]


def http_api_page(_present: str) -> str:
    described: Object = json.loads(openapi_text())
    routes = [
        (f"{method.upper()} {path}", operation)
        for path, operations in described["paths"].items()
        for method, operation in operations.items()
    ]
    schemas = [_schema(name, schema) for name, schema in described["components"]["schemas"].items()]
    head = HEAD.format(description=described["info"]["description"]).rstrip()
    parts = ["## Routes", *(_route(*route) for route in routes), "## Errors", _errors(routes), "## Objects", *schemas]
    return "\n\n".join([head, *parts]) + "\n"


def _route(name: str, operation: Object) -> str:
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
    parts.append("Errors: " + ", ".join(sorted(status for status in replies if status >= "400")) + ".")
    return "\n\n".join(parts)


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
    return "" if text == "OK" else f"{text}."


def _content(holder: Object) -> str:
    return ", ".join(
        f"{_kind(media['schema'])} ({code(kind)})" if media.get("schema") else code(kind)
        for kind, media in holder.get("content", {}).items()
    )


def _schema(name: str, schema: Object) -> str:
    parts = [f"### {name}", *([prose(schema["description"])] if "description" in schema else [])]
    parts.append(table(["field", "type", ""], _fields(schema, "")))
    return "\n\n".join(parts)


def _fields(schema: Object, prefix: str) -> Iterator[list[str]]:
    """A row for each field; fields of nested objects follow as ``documents[].score``."""
    required = set(schema.get("required", ()))
    for name, field in schema.get("properties", {}).items():
        note = prose(field.get("description"))
        if name in required:
            note = f"Always present. {note}".strip()
        yield [code(prefix + name), _kind(field), note]
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
