"""Generate parts of docs/ from the code: command line, settings, HTTP API, records, methods, and architecture diagrams.

python -m tools.generate_docs            write them
python -m tools.generate_docs --check    exit 1 if one differs from the code
"""

from __future__ import annotations

import argparse
import inspect
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from finray.api.app import openapi_text
from finray.core.settings import Settings
from finray.retrieval.methods.method import Method
from finray.retrieval.methods.registry import METHODS
from tools.diagrams.rooms import measured_rooms, rooms_picture
from tools.diagrams.trips import read_trip, trip_picture
from tools.reference.cli import cli_page
from tools.reference.http_api import http_api_page
from tools.reference.inner_rooms import page_with_inner_rooms
from tools.reference.records import page_with_records
from tools.reference.settings import settings_page

DOCS = Path(__file__).resolve().parents[1] / "docs"
GENERATED = "<!-- From here on written by `make docs` from finray/retrieval/methods; do not edit. -->\n"
"""The part of docs/methods.md above this line is written by hand."""


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
    """The first two paragraphs of the module's docstring: what the method does and where it comes from."""
    module = inspect.getmodule(method.build)
    assert module is not None
    first = (inspect.getdoc(module) or "").replace("``", "`").split("\n\n")[:2]
    file = f"`{module.__name__.replace('.', '/')}.py`"
    settings = (
        f"[Settings](settings.md#methods{method.name}), more in " if hasattr(Settings().methods, method.name) else ""
    )
    more = f"{settings or 'More in '}{file}."
    return "\n\n".join([f"## {method.name}", *first, more])


def openapi_file(_present: str) -> str:
    return openapi_text()


def rooms_image(_present: str) -> str:
    return rooms_picture(measured_rooms())


def trip_image(name: str, _present: str) -> str:
    return trip_picture(read_trip(name), measured_rooms().order)


PAGES: dict[str, Callable[[str], str]] = {
    "architecture.md": page_with_inner_rooms,
    "cli.md": cli_page,
    "http-api.md": http_api_page,
    "methods.md": methods_page,
    "openapi.json": openapi_file,
    "formats.md": page_with_records,
    "serving.md": page_with_records,
    "settings.md": settings_page,
    "images/rooms.svg": rooms_image,
    "images/trip-filing.svg": partial(trip_image, "filing"),
    "images/trip-question.svg": partial(trip_image, "question"),
}
"""File in docs/ -> function from its present content to the new one."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    failed = 0
    for name, page in PAGES.items():
        path = DOCS / name
        present = path.read_text(encoding="utf-8") if path.is_file() else ""
        text = page(present)
        if not check:
            path.write_text(text, encoding="utf-8")
        elif present != text:
            sys.stderr.write(f"docs/{name} differs from the code; run `make docs` and commit it\n")
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
