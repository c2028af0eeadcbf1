"""Words the cells behind a computed figure, so that a reader can check it without opening the filing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from finray.answering.cells.page_cells import PageCell, period_name
from finray.answering.plans.wording import shown
from finray.answering.table_reader.amounts import unit_of_cell
from finray.answering.table_reader.series import column_part
from finray.core.filing import LineItem
from finray.core.query import Shape
from finray.core.question_fields import excerpt

_LABEL = 90
_MOST_CELLS = 8


def operand_text(cells: Sequence[PageCell], amounts: Sequence[float], shape: Shape) -> str:
    """The rows of ``cells`` with their periods, and ``amounts`` (base units) if there are several: "Net sales: $904
    million in the year ended December 31, 2022; $769 million in the year ended December 31, 2021".

    More than eight cells are named by their rows only. ``shape`` has the scale and currency to state amounts in.
    """
    names = [_name(cell.item) for cell in cells]
    if len(cells) == 1:
        period = period_name(cells[0])
        return names[0] if not period or period in names[0] else f"{names[0]}, {period}"
    if len(cells) > _MOST_CELLS:
        return "; ".join(dict.fromkeys(names))
    exact = replace(shape, decimals=None)
    stated = [
        " ".join(filter(None, (shown(amount, unit_of_cell(cell.item), exact), _when(cell))))
        for cell, amount in zip(cells, amounts, strict=True)
    ]
    if len(set(names)) == 1:
        return f"{names[0]}: {'; '.join(stated)}"
    return "; ".join(f"{name} {each}" for name, each in zip(names, stated, strict=True))


def _name(item: LineItem) -> str:
    """The row, and what its column is about unless that is the row or a period."""
    column = _column(item)
    return excerpt(
        item.label if column.casefold() in ("", item.label.casefold()) else f"{item.label}, {column}", _LABEL
    )


def _column(item: LineItem) -> str:
    """The printed head of the column, else the part of the company that its tag names in brackets; "" if it is only a
    period."""
    if not column_part(item.column_label):
        return ""
    printed, _, tagged = (item.column_label or "").partition("[")
    return printed.strip() or tagged.strip(" ]")


def _when(cell: PageCell) -> str:
    name = period_name(cell)
    return name and (f"in {name}" if cell.item.months else f"at {name}")
