"""Tables of why questions for a figure fail: for a terminal, in Markdown, and as data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

from rich.console import Group, RenderableType

from finray.core.bootstrap import estimate
from finray.lab.evaluation.figure_errors import (
    ENDINGS,
    FIGURE_ERRORS,
    MEANINGS,
    FigureCase,
    by_error,
    by_kind,
)
from finray.lab.evaluation.markdown import markdown_table
from finray.lab.evaluation.report import shown
from finray.lab.evaluation.text_tables import TextTable

_HEADS: Final = ("first stage that fails", "n", "share [95% interval]", *ENDINGS, "parsed")
_NOTE: Final = (
    "`figure`, `words`, `refused`, `error`: how the question ended. `parsed`: every gold operand is a line item of the "
    "gold pages."
)
Rows = list[tuple[str, ...]]


def as_data(cases: Sequence[FigureCase]) -> dict[str, Any]:
    """The counts and every case, for ``json.dumps``."""
    return {
        "questions": len(cases),
        "errors": {error: len(found) for error, found in by_error(cases).items()},
        "by_kind": by_kind(cases),
        "cases": [asdict(case) for case in cases],
    }


def tables(cases: Sequence[FigureCase]) -> RenderableType:
    """The tables for a terminal."""
    heads, *rows = _kind_rows(cases)
    return Group(
        TextTable(f"{len(cases)} questions for a figure", _HEADS, _error_rows(cases)),
        TextTable("By question type", heads, rows),
    )


def markdown(cases: Sequence[FigureCase]) -> str:
    """The tables for the documentation, with the meaning of each stage."""
    heads, *rows = _kind_rows(cases)
    meanings = [(error, MEANINGS[error]) for error in by_error(cases)]
    return "\n\n".join(
        (
            f"{len(cases)} questions for a figure. {_NOTE}",
            markdown_table(_HEADS, _error_rows(cases)),
            markdown_table(heads, rows),
            "\n".join(f"* {error}: {meaning}" for error, meaning in meanings),
        )
    )


def _error_rows(cases: Sequence[FigureCase]) -> Rows:
    return [
        _row(error, found, shown(estimate([case.error == error for case in cases])).rpartition(" n ")[0])
        for error, found in by_error(cases).items()
    ] + [_row("all", cases, "")]


def _row(name: str, found: Sequence[FigureCase], share: str) -> tuple[str, ...]:
    endings = Counter(case.ending for case in found)
    parsed = sum(case.parsed for case in found)
    return (name, str(len(found)), share, *(str(endings[ending]) for ending in ENDINGS), str(parsed))


def _kind_rows(cases: Sequence[FigureCase]) -> Rows:
    kinds = by_kind(cases)
    found = [error for error in FIGURE_ERRORS if any(error in counts for counts in kinds.values())]
    rows: Rows = [("first stage that fails", *kinds)]
    rows += [(error, *(str(counts.get(error, "")) for counts in kinds.values())) for error in found]
    return [*rows, ("all", *(str(sum(counts.values())) for counts in kinds.values()))]
