"""Makes the tables of statements: columns of periods, rows of tagged figures."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from finray.lab.sample.blocks import Cell, Fact, Head, Row, Table, Unit, cents, number
from finray.lab.sample.companies import Company
from finray.lab.sample.ledger import Period

_POWERS = {"dollars": 0, "thousands": 3, "millions": 6}


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a statement: a period and its heading. ``start`` is None on a balance sheet."""

    period: Period
    heading: str
    start: dt.date | None
    end: dt.date


class TableMaker:
    """Collects rows for one table; ``columns`` are in print order."""

    def __init__(self, company: Company, columns: Sequence[Column]) -> None:
        self.company, self.columns = company, tuple(columns)
        self.rows: list[Row] = []

    def heading(self, label: str) -> None:
        self.rows.append(Row(label, (None,) * len(self.columns), bold=label.isupper()))

    def money(
        self,
        label: str,
        pick: Callable[[Period], int],
        *,
        concept: str = "",
        key: str | None = None,
        sign: int = 1,
        dollar: bool = False,
        indent: int = 1,
        member: tuple[str, str] | None = None,
        total: bool = False,
        grand: bool = False,
    ) -> None:
        """Add a row of amounts. ``sign`` -1 prints an outflow in parentheses; its XBRL fact stays positive."""
        cells = tuple(
            number(
                sign * pick(column.period),
                prefix="$" if dollar or grand else "",
                fact=self._fact(concept, pick(column.period), "USD", column, member),
            )
            for column in self.columns
        )
        self._add(label, cells, key, indent, total, grand)

    def per_share(self, label: str, pick: Callable[[Period], int], *, concept: str, key: str) -> None:
        cells = tuple(
            cents(
                pick(c.period),
                prefix="$",
                fact=self._fact(concept, pick(c.period) / 100, "USD/share", c, None, scale=0),
            )
            for c in self.columns
        )
        self._add(label, cells, key, 1, False, False)

    def shares(self, label: str, pick: Callable[[Period], int], *, concept: str) -> None:
        """Add a row of share counts; without a ``concept`` it is untagged."""
        cells = tuple(
            number(pick(c.period), fact=self._fact(concept, pick(c.period), "shares", c, None)) for c in self.columns
        )
        self._add(label, cells, None, 1, False, False)

    def table(self, key: str, head: Head | None = None) -> Table:
        head = head or (tuple((column.heading, 1) for column in self.columns),)
        return Table(
            tuple(self.rows),
            head,
            len(self.columns),
            key,
            leaders=self.company.style.leaders,
            column_width=74.0 if len(self.columns) < 4 else 68.0,
        )

    def _add(self, label: str, cells: tuple[Cell, ...], key: str | None, indent: int, total: bool, grand: bool) -> None:
        self.rows.append(
            Row(label, cells, key, 0 if grand else indent, False, "double" if grand else "single" if total else None)
        )

    def _fact(
        self,
        concept: str,
        value: float,
        unit: Unit,
        column: Column,
        member: tuple[str, str] | None,
        scale: int | None = None,
    ) -> Fact | None:
        if not concept:
            return None
        power = _POWERS[self.company.scale] if scale is None else scale
        return Fact(f"us-gaap:{concept}", value, unit, power, column.start, column.end, member)


def scale_note(company: Company, *, per_share: bool) -> str:
    """The line under the title of a statement, such as ``(In thousands, except per share data)``."""
    unit = {
        "dollars": "In dollars" if per_share else "In U.S. dollars",
        "thousands": "In thousands",
        "millions": "In millions",
    }[company.scale]
    return f"({unit}, except per share data)" if per_share else f"({unit})"
