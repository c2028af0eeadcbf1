"""Write docs/cli.md from the command line itself, docs/openapi.json from the routes of the HTTP service, and the
generated parts of docs/methods.md from the registry, of docs/formats.md and docs/serving.md from the records.

python tools/generate_docs.py            write them
python tools/generate_docs.py --check    exit 1 when one differs from what the code says
"""

from __future__ import annotations

import argparse
import inspect
import json
import re
import sys
from pathlib import Path
from typing import Any

import typer
from typer.cli import get_docs_for_click

from finray.api.app import openapi_text
from finray.cli import app
from finray.core.records import adapter
from finray.core.replies import EVENTS
from finray.core.settings import Settings
from finray.core.types import Prediction, Question
from finray.lab.evaluation.judging.judgement import Judgement
from finray.retrieval.methods.registry import METHODS, Method

DOCS = Path(__file__).resolve().parents[1] / "docs"
HEAD = "<!-- Written by `make docs` from `finray --help`; do not edit. -->\n\n"
GENERATED = "<!-- From here on written by `make docs` from finray/retrieval/methods; do not edit. -->\n"
"""What stands above it in docs/methods.md is written by hand."""
RECORDS = {record.__name__: record for record in (Question, Prediction, Judgement)}
WORDS = {"string": "text", "integer": "whole number", "boolean": "true or false", "date": "date, ISO 8601"}


def cli_page(_present: str) -> str:
    command = typer.main.get_command(app)
    context = typer.Context(command, info_name="finray")
    text = get_docs_for_click(obj=command, ctx=context, name="finray", title="The command line")
    return HEAD + "\n".join(line.rstrip() for line in text.strip().splitlines()) + "\n"


def methods_page(present: str) -> str:
    by_hand = present.partition(GENERATED)[0].rstrip()
    table = ["| method | what it does | filings first | needs | source |", "| --- | --- | --- | --- | --- |"]
    table += [
        f"| [`{m.name}`](#{m.name}) | {m.description} | {'no' if m.flat else 'yes'} | {', '.join(_needs(m)) or '–'} "
        f"| {m.source} |"
        for m in METHODS.values()
    ]
    sections = [_section(method) for method in METHODS.values()]
    return "\n".join([by_hand, "", GENERATED, *table, "", "\n\n".join(sections)]) + "\n"


def _needs(method: Method) -> list[str]:
    return [*method.needs, *([f"`finray extend --with {method.name}`"] if method.extension else [])]


def _section(method: Method) -> str:
    module = inspect.getmodule(method.build)
    text = (inspect.getdoc(module) or "").replace("``", "`")
    own = getattr(Settings().methods, method.name, None)
    numbers = [f"`methods.{method.name}.{name}` = {value}" for name, value in (own.model_dump() if own else {}).items()]
    return "\n\n".join([f"## {method.name}", text, *([f"Settings: {', '.join(numbers)}."] if numbers else [])])


def openapi_file(_present: str) -> str:
    return openapi_text()


def page_with_records(present: str) -> str:
    """Fills in the tables of the records that the page names in markers."""

    def filled(marker: re.Match[str]) -> str:
        return f"{marker[1]}{_events() if marker[2] == 'ServiceEvent' else _fields(RECORDS[marker[2]])}{marker[3]}"

    return re.sub(r"(<!-- (\w+): written by [^\n]*-->\n).*?(<!-- end -->)", filled, present, flags=re.DOTALL)


def _fields(record: type) -> str:
    """A table of the fields of ``record``, then one for each record in it."""
    schema = adapter(record).json_schema(mode="serialization")
    tables = [_table(schema)]
    tables += [f"### {name}\n\n{_plain(part['description'])}\n\n{_table(part)}" for name, part in _parts(schema)]
    return "\n".join(["", *tables, ""])


def _parts(schema: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The records within a record, in the order in which its fields name them."""
    names = dict.fromkeys(re.findall(r"#/\$defs/(\w+)", json.dumps(schema["properties"])))
    return [(name, schema["$defs"][name]) for name in names]


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


PAGES = {
    DOCS / "cli.md": cli_page,
    DOCS / "methods.md": methods_page,
    DOCS / "openapi.json": openapi_file,
    DOCS / "formats.md": page_with_records,
    DOCS / "serving.md": page_with_records,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    failed = 0
    for path, page in PAGES.items():
        present = path.read_text(encoding="utf-8") if path.is_file() else ""
        text = page(present)
        if not check:
            path.write_text(text, encoding="utf-8")
        elif present != text:
            sys.stderr.write(f"docs/{path.name} differs from what the code says; run `make docs` and commit it\n")
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
