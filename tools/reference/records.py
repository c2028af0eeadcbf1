"""Generates tables of records and events from their dataclasses."""

from __future__ import annotations

import json
import re
from typing import Any

from finray.core.predictions import Prediction
from finray.core.questions import Question
from finray.core.records import adapter
from finray.core.replies import EVENTS
from finray.lab.evaluation.judging.judgement import Judgement

RECORDS = {record.__name__: record for record in (Question, Prediction, Judgement)}
WORDS = {"string": "text", "integer": "whole number", "boolean": "true or false", "date": "date, ISO 8601"}


def page_with_records(present: str) -> str:
    """Fill in the tables of the records that the page names in markers."""

    def filled(marker: re.Match[str]) -> str:
        return f"{marker[1]}{_events() if marker[2] == 'ServiceEvent' else _fields(RECORDS[marker[2]])}{marker[3]}"

    return re.sub(r"(<!-- (\w+): written by [^\n]*-->\n).*?(<!-- end -->)", filled, present, flags=re.DOTALL)


def _fields(record: type) -> str:
    """A table of the fields of ``record``, then one for each nested record."""
    schema = adapter(record).json_schema(mode="serialization")
    tables = [_table(schema)]
    tables += [f"### {name}\n\n{_plain(part['description'])}\n\n{_table(part)}" for name, part in _parts(schema)]
    return "\n".join(["", *tables, ""])


def record_names() -> tuple[str, ...]:
    """The questions, predictions and records nested in them that docs/formats.md lists."""
    parts = (_parts(adapter(record).json_schema(mode="serialization")) for record in (Question, Prediction))
    return tuple(dict.fromkeys(name for each in parts for name, _ in each))


def _parts(schema: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The nested records, in the order of the fields; those nested in them follow."""
    names = _named(schema)
    for name in names:
        names += [inner for inner in _named(schema["$defs"][name]) if inner not in names]
    return [(name, schema["$defs"][name]) for name in names]


def _named(schema: dict[str, Any]) -> list[str]:
    return list(dict.fromkeys(re.findall(r"#/\$defs/(\w+)", json.dumps(schema["properties"]))))


def _table(schema: dict[str, Any]) -> str:
    rows = []
    for name, field in schema["properties"].items():
        mark = "" if name in schema["required"] else "?"
        rows.append(f"| `{name}{mark}` | {_kind(field)} | {_plain(field.get('description', ''))} |")
    return "\n".join(["| field | | |", "| --- | --- | --- |", *rows, ""])


def _kind(field: dict[str, Any]) -> str:
    if "$ref" in field:
        name = field["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in field:
        return " or ".join(_kind(option) for option in field["anyOf"])
    if "enum" in field:
        return ", ".join(f"`{value}`" for value in field["enum"])
    if field["type"] == "array":
        return "list of " + (f"{field['maxItems']} numbers" if "prefixItems" in field else _kind(field["items"]))
    if field["type"] == "object":
        return f"object of {_kind(field['additionalProperties'])}"
    word = str(field.get("format", field["type"]))
    return WORDS.get(word, word)


def _events() -> str:
    rows = []
    for name, kind in EVENTS.items():
        schema = adapter(kind).json_schema(mode="serialization")
        fields = ", ".join(f"`{field}{'' if field in schema['required'] else '?'}`" for field in schema["properties"])
        rows.append(f"| `{name}` | {_plain(schema['description'])} | {fields} |")
    return "\n".join(["", "| event | | data |", "| --- | --- | --- |", *rows, "", ""])


def _plain(text: str) -> str:
    return " ".join(text.split()).replace("``", "`")
