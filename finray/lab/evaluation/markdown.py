"""Tables in Markdown, for the documentation."""

from __future__ import annotations

from collections.abc import Sequence


def markdown_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table whose first column is text and whose others are figures."""
    rule = ["---", *["---:"] * (len(heads) - 1)]
    lines = [[cell.replace("|", "\\|") for cell in heads], rule]
    lines += [[cell.replace("|", "\\|") for cell in row] for row in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
