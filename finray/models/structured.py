"""Requests and reads structured replies without a server that enforces a schema.

HiREC's prompts (arXiv 2505.20368, tables 16-20) request sections that begin with ``##``; models often give JSON too, in
a code fence or between prose. Both are accepted. The form may vary, but not the content: a value of the wrong type
counts as absent, and a reply that lacks a required value counts as none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

MAX_CHARACTERS = 200_000

_HEADING = re.compile(
    r"^[ \t]*#{1,6}[ \t]*+(?P<name>[^\n:#]{1,60}?)(?<![ \t])[ \t]*+(?:#+[ \t]*+)?(?::(?P<rest>[^\n]*))?$", re.M
)
_TRUE = re.compile(r"\W*(?:true|yes|y|answerable|sufficient|1)\b", re.I)
_FALSE = re.compile(r"\W*(?:false|no|n|not|unanswerable|insufficient|0)\b", re.I)
_NOTHING = re.compile(r"[\W_]*+(?:none|null|n/?a|nothing)?[\W_]*+", re.I)
_WANTED = {
    "string": "text",
    "boolean": "yes or no",
    "number": "a number",
    "integer": "a whole number",
    "array": "a list such as 1, 3",
}


def format_instructions(schema: Mapping[str, Any]) -> str:
    """Format instructions for a model whose server accepts no schema; the same for every question."""
    lines = ["Reply with exactly these sections, each begun by its heading on a line of its own:"]
    for name, described in _properties(schema).items():
        kinds = _kinds(described)
        wanted = " or ".join(_WANTED[kind] for kind in kinds if kind in _WANTED)
        lines.append(f"## {name}\n({wanted}{', or none' if 'null' in kinds else ''})")
    return "\n".join(lines)


def read_structured(text: str, schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """The object in ``text``, as JSON or in ``##`` sections; None if a required property is missing.

    A missing text property is "" if others are present, since models omit empty sections.
    """
    text = text[:MAX_CHARACTERS]
    texts = {name: "" for name, described in _properties(schema).items() if described.get("type") == "string"}
    for found in (_json(text), _sections(text, schema)):
        whole = texts | found if found else {}
        if whole and all(name in whole for name in schema.get("required", ())):
            return whole
    return None


def _json(text: str) -> dict[str, Any] | None:
    start, end = text.find("{"), text.rfind("}")
    if not 0 <= start < end:
        return None
    try:
        found = json.loads(text[start : end + 1])
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _sections(text: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    names = {_plain(name): name for name in _properties(schema)}
    names |= {_plain(d["title"]): name for name, d in _properties(schema).items() if "title" in d}
    headings = [match for match in _HEADING.finditer(text) if _plain(match["name"]) in names]
    found: dict[str, Any] = {}
    ends = [*(heading.start() for heading in headings[1:]), len(text)]
    for heading, end in zip(headings, ends, strict=False):
        body = text[heading.end() : end]
        name = names[_plain(heading["name"])]
        value = _read(f"{heading['rest'] or ''}\n{body}".strip(), _properties(schema)[name])
        if value is not _ABSENT:
            found.setdefault(name, value)
    return found


_ABSENT = object()


def _read(text: str, described: Mapping[str, Any]) -> Any:
    kinds = _kinds(described)
    if "null" in kinds and _NOTHING.fullmatch(text):
        return None
    if "array" in kinds and described.get("items", {}).get("type") == "string":
        return [part.strip() for part in re.split(r"\n\s*\n|\n(?=\s*(?:[-*•]|\d{1,2}[.)])\s)", text) if part.strip()]
    if "array" in kinds:
        numbers = [int(number) for number in re.findall(r"(?<![\w.])-?\d{1,9}(?![\w.]*\d)", text)]
        return numbers if numbers or _NOTHING.fullmatch(text) or text == "[]" else _ABSENT
    if "boolean" in kinds:
        return True if _TRUE.match(text) else False if _FALSE.match(text) else _ABSENT
    if "number" in kinds or "integer" in kinds:
        number = re.fullmatch(r"\$?\s*(-?[\d,]+(?:\.\d+)?(?:e[+-]?\d{1,2})?)\s*%?", text, re.I)
        return float(number[1].replace(",", "")) if number and number[1].strip("-,") else _ABSENT
    return _unfenced(text)


def _unfenced(text: str) -> str:
    """``text`` without a code fence around it."""
    fence = re.fullmatch(r"```\w*\n(.*?)\n?```", text, re.S)
    return fence[1] if fence else text


def _properties(schema: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    properties: Mapping[str, Mapping[str, Any]] = schema.get("properties", {})
    return properties


def _kinds(described: Mapping[str, Any]) -> tuple[str, ...]:
    kinds = described.get("type", "string")
    return (kinds,) if isinstance(kinds, str) else tuple(kinds)


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).lower()
