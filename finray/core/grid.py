"""The figures of a question over several companies, periods and items, each cell with its source or why it is empty."""

from __future__ import annotations

from dataclasses import dataclass

from finray.core.records import OmitEmpty, OmitNone, Record


@dataclass(frozen=True, slots=True)
class GridCell(Record):
    """``item`` of ``company`` for ``period``, named as in :class:`Grid`."""

    company: str
    period: str
    item: str
    value: OmitNone[float | None] = None
    """In ``unit``: base units, percent as 12.5; absent if there is no figure."""
    unit: OmitNone[str | None] = None
    text: OmitEmpty[str] = ""
    """``value`` as people write it."""
    operands: OmitEmpty[tuple[str, ...]] = ()
    """Names of the cited cells, among the operands of the answer, that the figure is read or computed from."""
    row: OmitEmpty[str] = ""
    """The row as printed; empty if the figure is computed from several."""
    other_row: OmitEmpty[bool] = False
    """Whether the row may be another line than that of the company's other periods: it has another name, and no filing
    prints both with the same figure."""
    reason: OmitEmpty[str] = ""
    """Why there is no figure."""


@dataclass(frozen=True, slots=True)
class Grid(Record):
    """``cells`` has each of ``items`` of each of ``companies`` for each of ``periods``, in this order."""

    companies: tuple[str, ...]
    """Also those that the index has no filing of."""
    periods: tuple[str, ...]
    """Oldest first."""
    items: tuple[str, ...]
    cells: tuple[GridCell, ...]
    verdict: OmitEmpty[str] = ""
    """What the figures say to the question, for a person; empty if it only asks for the figures."""
    ranking: OmitEmpty[tuple[str, ...]] = ()
    """The companies or periods that the question ranks, the one that it asks for first; empty if the order differs
    from period to period or from item to item, or if figures are missing."""

    def cell(self, company: str, period: str, item: str) -> GridCell:
        """Raises ValueError if the grid has no such company, period or item."""
        at = self.companies.index(company) * len(self.periods) * len(self.items)
        return self.cells[at + self.periods.index(period) * len(self.items) + self.items.index(item)]

    @property
    def shown(self) -> str:
        """What a face that shows the grid as a table says above it."""
        return self.verdict or f"{self.filled} of {len(self.cells)} figures"

    @property
    def filled(self) -> int:
        """How many cells have a figure."""
        return sum(cell.value is not None for cell in self.cells)

    @property
    def missing(self) -> tuple[str, ...]:
        """The cells without a figure, each with the reason, for a person."""
        return tuple(f"{c.item} of {c.company} for {c.period}: {c.reason}" for c in self.cells if c.value is None)

    def rows(self) -> tuple[tuple[str, str, tuple[GridCell, ...]], ...]:
        """(company, item, cells by period) of each row of the grid as a table."""
        return tuple(
            (company, item, tuple(self.cell(company, period, item) for period in self.periods))
            for company in self.companies
            for item in self.items
        )

    def markdown(self) -> str:
        """The grid as a Markdown table, a column for each period."""
        lines = [f"| | {' | '.join(self.periods)} |", f"|---|{'---:|' * len(self.periods)}"]
        for company, item, cells in self.rows():
            shown = (cell.text + "†" * cell.other_row if cell.value is not None else "no figure" for cell in cells)
            lines.append(f"| {_plain(company)}, {_plain(item)} | {' | '.join(map(_plain, shown))} |")
        return "\n".join(lines)


def _plain(text: str) -> str:
    return text.replace("|", "/")
