"""A table of a publication: measured rows, what the publication reports beside them, and named gaps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, is_dataclass
from typing import Any

from rich.console import Group, RenderableType

from finray.core.bootstrap import Estimate
from finray.lab.evaluation.markdown import markdown_table
from finray.lab.evaluation.text_tables import NOTHING, TextTable


@dataclass(frozen=True, slots=True)
class Gap:
    """Why a value is missing: a model that cannot be loaded, or data that is not there."""

    reason: str


Cell = Estimate | Gap | float | str | None
"""None prints as a dash: the table of the publication has no such value."""


@dataclass(frozen=True, slots=True)
class Row:
    """``cells`` are what was measured, ``published`` what the publication reports in the same columns, if anything."""

    label: str
    cells: Sequence[Cell]
    published: Sequence[float | str | None] = ()


@dataclass(frozen=True, slots=True)
class PaperTable:
    """``number`` is that of the publication ("3", or "F3" for figure 3). Each row has a cell for each of ``heads``."""

    number: str
    title: str
    heads: Sequence[str]
    rows: Sequence[Row]
    notes: Sequence[str] = field(default=())

    @property
    def gaps(self) -> list[str]:
        """The distinct reasons of missing values, in order of appearance; their numbers start at 1."""
        return list(dict.fromkeys(cell.reason for row in self.rows for cell in row.cells if isinstance(cell, Gap)))


def tables_text(tables: Sequence[PaperTable]) -> RenderableType:
    """The tables for a terminal."""
    parts: list[RenderableType] = []
    for table in tables:
        parts += [TextTable(_title(table), ("", *table.heads), list(_lines(table))), *_remarks(table), ""]
    return Group(*parts)


def tables_markdown(tables: Sequence[PaperTable]) -> str:
    """The tables in Markdown, for the documentation."""
    parts: list[str] = []
    for table in tables:
        parts += [f"**{_title(table)}**", markdown_table(("", *table.heads), list(_lines(table)))]
        parts += ["\n".join(f"* {remark}" for remark in remarks)] if (remarks := _remarks(table)) else []
    return "\n\n".join(parts)


def tables_data(tables: Sequence[PaperTable]) -> list[dict[str, Any]]:
    """The tables for ``json.dumps``: a gap is ``{"gap": reason}``, an estimate its value, interval and n."""
    return [
        {
            "table": table.number,
            "title": table.title,
            "rows": [
                {
                    "label": row.label,
                    "measured": _named(table, [_value(cell) for cell in row.cells]),
                    "published": _named(table, row.published),
                }
                for row in table.rows
            ],
            "notes": list(table.notes),
        }
        for table in tables
    ]


def _named(table: PaperTable, values: Sequence[Any]) -> Mapping[str, Any]:
    return dict(zip(table.heads, values, strict=True)) if values else {}


def _value(cell: Cell) -> Any:
    if isinstance(cell, Gap):
        return {"gap": cell.reason}
    return asdict(cell) if is_dataclass(cell) else cell


def _title(table: PaperTable) -> str:
    figure = table.number.startswith("F")
    return f"{'Figure ' + table.number[1:] if figure else 'Table ' + table.number}: {table.title}"


def _lines(table: PaperTable) -> Iterator[tuple[str, ...]]:
    numbers = {reason: number for number, reason in enumerate(table.gaps, start=1)}
    for row in table.rows:
        yield (row.label, *(_shown(cell, numbers) for cell in row.cells))
        if row.published:
            yield ("  published", *(_shown(value, numbers) for value in row.published))


def _remarks(table: PaperTable) -> list[str]:
    return [*(f"gap {number}: {reason}" for number, reason in enumerate(table.gaps, start=1)), *table.notes]


def _shown(cell: Cell, numbers: Mapping[str, int]) -> str:
    if isinstance(cell, Gap):
        return f"gap {numbers[cell.reason]}"
    if isinstance(cell, Estimate):
        if cell.value is None or cell.low is None or cell.high is None:
            return NOTHING
        return f"{_decimal(cell.value)} [{_decimal(cell.low)}, {_decimal(cell.high)}]"
    if cell is None:
        return NOTHING
    return cell if isinstance(cell, str) else _decimal(cell)


def _decimal(value: float) -> str:
    return f"{value:.2f}"
