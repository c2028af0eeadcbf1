"""Reads the line items of one table, row by row."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from finray.core.currencies import CURRENCIES
from finray.core.filing import LineItem, Statement
from finray.core.vocabulary import SCALE
from finray.filings.tables.balance_dates import date_by_balances
from finray.filings.tables.cells import is_year
from finray.filings.tables.columns import Columns
from finray.filings.tables.grids import MAX_LABEL, Cell, Grid
from finray.filings.tables.period_headings import column_label, is_period
from finray.filings.tables.periods import Period
from finray.filings.tables.rows import PERIOD_WORDS, Row, amounts_of, names_period, read_row
from finray.filings.tables.scales import ScaledUnit, read_scale
from finray.filings.tables.tags import Context, Tags, part_of

MAX_ADDENDS = 12
"""Rows above a total that may add up to it."""
_TAG_UNITS = {"shares": "shares"} | {
    name: unit
    for code in CURRENCIES
    for name, unit in ((code.lower(), code), (f"{code.lower()}/shares", f"{code}/share"))
}
INDENT_STEP = 1.0
"""Points; smaller differences between left margins are ignored."""
_NOT_A_SECTION = re.compile(
    rf"\W*+\d*+\W*+$|page \d|\(?in {SCALE}|\((?>.*?{SCALE}s).*\)$|part i|item \d", re.IGNORECASE
)
"""Begins a row that does not head others."""
_NOT_IN_A_SECTION = (
    "table of contents", "accompanying notes", "see notes", "refer to", "integral part", "unaudited", "form 10-",
    "the accompanying", "annual report",
)  # fmt: skip
_TOTAL = re.compile(r"^(?:total|net cash|cash (?:provided|used|flows))\b", re.IGNORECASE)
_SHORT_LABEL = 60
"""Characters; a label up to this length is not running text."""
_WITHOUT_FIGURE = re.compile(
    r"\b(?:of|from|to|by|was|were|approximately|about|at|than|and|or|totaling|exceeding)\s+"
    rf"(?:{SCALE}s?\b|$)",
    re.IGNORECASE,
)
"""Running text without its figure, which stands in a column of its own: "grew by a fifth, to billion"."""


@dataclass(slots=True)
class TableReader:
    """Reads one table: headings set periods, rows with only a label open sections, others are line items."""

    grid: Grid
    columns: Columns
    tags: Tags
    tagged: set[tuple[int, int]] = field(default_factory=set)
    """(row, column) of the numbers whose period comes from a tag."""
    sections: list[tuple[float, str]] = field(default_factory=list)
    seen_data: bool = False
    above: list[Mapping[int, float]] = field(default_factory=list)
    """The amounts of the rows above, by column."""
    pending: list[Sequence[Cell]] = field(default_factory=list)
    """Rows since the last figure that may turn out to be headings."""
    block: str = ""
    """In a note, the last row such as "Year ended June 30, 2024". It dates the rows below."""

    @property
    def statement(self) -> Statement | None:
        return self.columns.statement

    def read(self, first_row: int) -> list[LineItem]:
        """The table's line items; ``LineItem.row`` counts from ``first_row``."""
        items: list[LineItem] = []
        for index, cells in enumerate(self.grid.rows, first_row):
            row = read_row(cells)
            if row.numbers:
                self.pending.clear()
            if self._dates_block(row):
                self.block = row.label or cells[0].text
            elif self._is_heading(row):
                self._take_heading(cells, row)
            elif row.numbers:
                items += self._read_figures(row, cells[0].indent, index)
            elif row.label:
                self._open_section(row.label, cells[0].indent)
        if self.statement in ("equity", None) and not self.columns.dated:
            items = date_by_balances(items, self.tagged)
        return items

    def _read_figures(self, row: Row, indent: float, index: int) -> list[LineItem]:
        """The line items of a row with figures; a row without a label counts only in a note."""
        if row.label:
            self.seen_data = True
            items = self._line_items(row, self._section(indent), index)
            self.above.append(amounts_of(row))
            if _TOTAL.match(row.label) and self.sections:
                self.sections.pop()
            return items
        if self.statement is not None:
            return []
        if texts := " ".join(cell.text for cell in row.texts).strip():  # "3.5% | October 2046 | $622"
            self.seen_data = True
            return self._line_items(replace(row, label=texts[:MAX_LABEL]), self._section(indent), index)
        if self._adds_up(row):
            section = self.sections.pop()[1] if self.sections else None
            return self._line_items(replace(row, label="Total"), section, index)
        return []

    def _adds_up(self, row: Row) -> bool:
        """Whether every amount of a row is the sum of those right above it, each rounded as printed."""
        amounts = [(cell.column, number) for cell, number in row.numbers if not number.percent and not number.dash]
        if not amounts:
            return False
        return any(
            all(
                abs(sum(each.get(column, 0.0) for each in self.above[-count:]) - number.value)
                <= count * 0.51 * 10.0**-number.decimals
                for column, number in amounts
            )
            for count in range(2, min(len(self.above), MAX_ADDENDS) + 1)
        )

    def _dates_block(self, row: Row) -> bool:
        """Whether a row of a note's table names a period for all its columns and nothing else."""
        if self.statement is not None or row.numbers:
            return False
        if row.label:
            return not row.texts and is_period(row.label)
        return len(row.texts) == 1 and row.texts[0].span > 1 and is_period(row.texts[0].text)

    def _is_heading(self, row: Row) -> bool:
        if not all(is_year(cell.text) for cell, _ in row.numbers):
            return False
        if row.numbers and row.label and self.seen_data:  # a label and years
            return row.label.startswith("(") or PERIOD_WORDS.search(row.label) is not None
        return bool(row.numbers or row.texts) or (not self.seen_data and bool(row.label))

    def _take_heading(self, cells: Sequence[Cell], row: Row) -> None:
        over_columns = [cell for cell in cells if cell.column > 0 or cell.span > 1]
        dated = any(names_period(cell.text) for cell in over_columns)
        if self.seen_data and not dated and not self.columns.heads_anew(over_columns):
            self._open_section(" ".join(cell.text for cell in cells), cells[0].indent)
            self.pending.append(over_columns)
            return
        anew = self.seen_data
        if anew:  # a second set of headings in one table
            self.columns.begin_anew()
            self.seen_data = False
            for before in self.pending:
                self.columns.head(before)
        self.columns.take_scale(cells)
        self.columns.head(over_columns)
        if row.label or len(cells) == 1:
            self.columns.add_title(row.label or cells[0].text, anew=anew)
        if self.statement is None and row.label and row.texts and not dated and not read_scale(row.label):
            self._open_section(row.label, cells[0].indent)  # "Revenue by country | $M | $M" also heads the rows
        if len(cells) == 1 and not dated and self.columns.dated:
            self._open_section(cells[0].text, cells[0].indent)

    def _open_section(self, label: str, indent: float) -> None:
        """Open the section ``label``. It ends at the next heading with its margin or a row that is indented less."""
        if _NOT_A_SECTION.match(label) or (re.search(r"\d", label) and not label.endswith(":")):
            return
        lowered = label.lower()
        if any(words in lowered for words in _NOT_IN_A_SECTION):
            return
        while self.sections and self.sections[-1][0] >= indent - INDENT_STEP:
            self.sections.pop()
        self.sections.append((indent, label[:MAX_LABEL]))

    def _section(self, indent: float) -> str | None:
        while self.sections and self.sections[-1][0] > indent + INDENT_STEP:
            self.sections.pop()
        return self.sections[-1][1] if self.sections else None

    def _line_items(self, row: Row, section: str | None, index: int) -> list[LineItem]:
        if _is_running_text(row):
            return []
        items: list[LineItem] = []
        columns = self.columns
        units = {cell.column: columns.unit(row, section, cell, number) for cell, number in row.numbers}
        of_row = next(filter(None, units.values()), (columns.scale.currency, columns.scale.money))
        for cell, number in row.numbers:
            if columns.units is not None and is_year(cell.text) and not cell.concept:
                continue  # "2022 - 2050" are years; figures of this size are printed with a comma
            unit, scale = self._tagged_unit(cell) or units[cell.column] or of_row
            context = self.tags.contexts.get(cell.tag.context) if cell.tag else None
            if context:
                period = Period(context.end, context.months)
                self.tagged.add((index, cell.column))
            else:
                period = columns.period(row.label, cell.column, self.block)
            items.append(
                LineItem(
                    page=self.grid.page,
                    statement=self.statement,
                    label=row.label,
                    value=number.value * scale,
                    text=cell.text,
                    unit=unit,
                    scale=scale,
                    period_end=period.end,
                    months=period.months,
                    section=section,
                    row=index,
                    column=cell.column,
                    box=cell.box,
                    concept=cell.concept,
                    column_label=_with_part(column_label(columns.headings.get(cell.column, "")), context),
                    caption=(self.grid.caption or None) if self.statement is None else None,
                )
            )
        return items

    def _tagged_unit(self, cell: Cell) -> ScaledUnit | None:
        if cell.tag is None or cell.tag.scale < 0:
            return None
        unit = _TAG_UNITS.get(self.tags.units.get(cell.tag.unit, ""))
        return (unit, 10**cell.tag.scale) if unit else None


def _is_running_text(row: Row) -> bool:
    """Whether a row is a sentence with its figure set apart in a column."""
    return (
        len(row.label) > _SHORT_LABEL
        and len(row.numbers) <= 2
        and all(cell.tag is None for cell, _ in row.numbers)
        and _WITHOUT_FIGURE.search(row.label) is not None
    )


def _with_part(label: str | None, context: Context | None) -> str | None:
    """The column's label, followed in brackets by the part of the company that the number's tag names."""
    part = part_of(context) if context is not None else None
    if part is None:
        return label
    return f"{label} [{part}]" if label else f"[{part}]"
