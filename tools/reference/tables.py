"""Markdown tables and the markup of their cells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [_row(head), _row(["---"] * len(head)), *(_row(row) for row in rows)]
    return "\n".join(lines)


def code(text: object) -> str:
    return f"`{text}`" if str(text) else ""


def prose(docstring: str | None) -> str:
    """A docstring on one line, in Markdown."""
    return " ".join((docstring or "").split()).replace("``", "`")


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"
