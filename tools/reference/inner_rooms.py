"""Table of the rooms within the rooms of finray/, with the purpose that each one's docstring gives."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_TABLE = re.compile(r"(<!-- inner rooms: written by [^\n]*-->\n).*?(<!-- end -->)", re.DOTALL)


def page_with_inner_rooms(present: str) -> str:
    """Fill in the table between the page's marks."""
    return _TABLE.sub(lambda marks: f"{marks[1]}\n{_table()}\n\n{marks[2]}", present)


def _table() -> str:
    rows = []
    rooms = ROOT / "finray"
    for init in sorted([*rooms.glob("*/*/__init__.py"), *rooms.glob("*/*/*/__init__.py")]):
        folder = init.parent.relative_to(ROOT / "finray")
        rows.append(f"| `{folder.as_posix()}/` | {_purpose(init)} |")
    return "\n".join(["| | |", "|---|---|", *rows])


def _purpose(init: Path) -> str:
    """The docstring's first sentence. Raises ValueError without one."""
    docstring = ast.get_docstring(ast.parse(init.read_text(encoding="utf-8")))
    if not docstring:
        raise ValueError(f"{init} has no docstring: its first sentence is the room's purpose on docs/architecture.md")
    return " ".join(docstring.split("\n\n")[0].split()).replace("``", "`").partition(". ")[0].rstrip(".")
