"""Reads the line items of one table, row by row."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from finray.core.filing import LineItem, Statement
from finray.core.vocabulary import SCALE
from finray.filings.tables.balance_dates import date_by_balances
from finray.filings.tables.cells import is_year
from finray.filings.tables.columns import Columns
from finray.filings.tables.grids import Cell, Grid
from finray.filings.tables.period_headings import column_label, is_period
from finray.filings.tables.periods import Period
from finray.filings.tables.rows import MAX_LABEL, PERIOD_WORDS, Row, amounts_of, names_period, read_row
from finray.filings.tables.scales import read_scale
from finray.filings.tables.tags import Context, Tags, part_of

MAX_ADDENDS = 12
_TAG_UNITS = {"usd": "USD", "usd/shares": "USD/share", "shares": "shares", "eur": "EUR", "gbp": "GBP", "jpy": "JPY"}
INDENT_STEP = 1.0
"""Points; smaller differences between left margins are ignored."""
_NOT_A_SECTION = re.compile(
    r"table of contents|accompanying notes|see notes|refer to|integral part|^\W*+\d*+\W*+$|^page \d|unaudited|"
    rf"^\(?in {SCALE}|^\((?>.*?{SCALE}s).*\)$|"
    r"form 10-|^part i|^item \d|the accompanying|annual report",
    re.IGNORECASE,
)
_TOTAL = re.compile(r"^(?:total|net cash|cash (?:provided|used|flows))\b", re.IGNORECASE)


_LONGEST_LABEL = 60
_WITHOUT_FIGURE = re.compile(
    r"\b(?:of|from|to|by|was|were|approximately|about|at|than|and|or|totaling|exceeding)\s+"
    rf"(?:{SCALE}s?\b|$)",
    re.IGNORECASE,
)
"""Where a line of running text lacks the figure at its end, that stands in a column of its own."""


@dataclass(slots=True)
class TableReader:
    """Reads one table: headings set periods, rows with only a label set sections, others are line items."""

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
    """The rows without figures since the last row with some, which may be the next headings."""
    block: str = ""
    """In a note, the last row such as "Year ended June 30, 2024", which dates the rows below it."""

    @property
    def statement(self) -> Statement | None:
        return self.columns.statement

    def read(self, offset: int) -> list[LineItem]:
        items: list[LineItem] = []
        for index, cells in enumerate(self.grid.rows):
            row = read_row(cells)
            if row.numbers and self.pending:
                self.pending = []
            if self._dates_block(row):
                self.block = row.label or cells[0].text
            elif self._is_heading(row):
                self._take_heading(cells, row)
            elif row.numbers and row.label:
                self.seen_data = True
                section = self._section(cells[0].indent)
                items.extend(self._line_items(row, section, offset + index))
                self.above.append(amounts_of(row))
                if _TOTAL.match(row.label) and self.sections:
                    self.sections.pop()
            elif (
                row.numbers and self.statement is None and any(cell.text for cell in row.texts)
            ):  # "3.5% | October 2046 | $622"
                self.seen_data = True
                row = replace(row, label=" ".join(cell.text for cell in row.texts)[:MAX_LABEL])
                items.extend(self._line_items(row, self._section(cells[0].indent), offset + index))
            elif row.numbers and self.statement is None and self._adds_up(row):
                section = self.sections.pop()[1] if self.sections else None
                items.extend(self._line_items(replace(row, label="Total"), section, offset + index))
            elif row.label and not row.numbers:
                self._open_section(row.label, cells[0].indent)
        if self.statement in ("equity", None) and not self.columns.dated:
            items = date_by_balances(items, self.tagged)
        return items

    def _adds_up(self, row: Row) -> bool:
        """Whether a row without a label is the total of rows above it in every column of amounts."""
        amounts = [(cell.column, number) for cell, number in row.numbers if not number.percent and not number.dash]
        for count in range(2, min(len(self.above), MAX_ADDENDS) + 1):
            if amounts and all(
                abs(sum(each.get(column, 0.0) for each in self.above[-count:]) - number.value)
                <= count * 0.51 * 10.0**-number.decimals
                for column, number in amounts
            ):
                return True
        return False

    def _dates_block(self, row: Row) -> bool:
        """Whether a row of a note's table names a period for all its columns."""
        text = row.label or (row.texts[0].text if len(row.texts) == 1 and row.texts[0].span > 1 else "")
        alone = not row.numbers and len(row.texts) <= (0 if row.label else 1)
        return self.statement is None and alone and is_period(text)

    def _is_heading(self, row: Row) -> bool:
        real = [cell for cell, number in row.numbers if not is_year(cell.text)]
        if real:
            return False
        if row.numbers:  # years only
            return (
                not row.label or not self.seen_data or bool(PERIOD_WORDS.search(row.label)) or row.label.startswith("(")
            )
        return bool(row.texts) or (not self.seen_data and bool(row.label))

    def _take_heading(self, cells: Sequence[Cell], row: Row) -> None:
        over_columns = [cell for cell in cells if cell.column > 0 or cell.span > 1]
        dated = any(names_period(cell.text) for cell in over_columns)
        if self.seen_data and not dated and not self.columns.heads_anew(over_columns):
            self._open_section(" ".join(cell.text for cell in cells), cells[0].indent)
            self.pending.append(over_columns)
            return
        if self.seen_data:  # a second set of headings in one table
            self.columns.begin_anew()
            self.seen_data = False
            for before in self.pending:
                self.columns.head(before)
        self.columns.take_scale(cells)
        self.columns.head(over_columns)
        if row.label or len(cells) == 1:
            self.columns.add_title(row.label or cells[0].text)
        if self.statement is None and row.label and row.texts and not dated and not read_scale(row.label):
            self._open_section(row.label, cells[0].indent)  # "Revenue by country | $M | $M" also heads the rows
        if len(cells) == 1 and not dated and self.columns.dated:
            self._open_section(cells[0].text, cells[0].indent)

    def _open_section(self, label: str, indent: float) -> None:
        """A heading applies to the rows below it until a heading or row that is indented less."""
        if _NOT_A_SECTION.search(label) or (re.search(r"\d", label) and not label.endswith(":")):
            return
        while self.sections and self.sections[-1][0] >= indent - INDENT_STEP:
            self.sections.pop()
        self.sections.append((indent, label[:MAX_LABEL]))

    def _section(self, indent: float) -> str | None:
        while self.sections and self.sections[-1][0] > indent + INDENT_STEP:
            self.sections.pop()
        return self.sections[-1][1] if self.sections else None

    def _line_items(self, row: Row, section: str | None, index: int) -> list[LineItem]:
        items, columns = list[LineItem](), self.columns
        if _is_running_text(row):
            return items
        units = {cell.column: columns.unit(row, section, cell, number) for cell, number in row.numbers}
        printed = [unit for unit in units.values() if unit is not None]
        for cell, number in row.numbers:
            if columns.units is not None and is_year(cell.text) and not cell.concept:
                continue  # "2022 - 2050" are years; figures of this size are printed with a comma
            unit, scale = units[cell.column] or (
                printed[0] if printed else (columns.scale.currency, columns.scale.money)
            )
            unit, scale = self._tagged_unit(cell) or (unit, scale)
            context = self.tags.contexts.get(cell.tag.context) if cell.tag else None
            period = (
                Period(context.end, context.months) if context else columns.period(row.label, cell.column, self.block)
            )
            if context:
                self.tagged.add((index, cell.column))
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
                    caption=self.grid.caption or None if self.statement is None else None,
                )
            )
        return items

    def _tagged_unit(self, cell: Cell) -> tuple[str, int] | None:
        unit = self.tags.units.get(cell.tag.unit) if cell.tag else None
        if cell.tag is None or unit is None or cell.tag.scale < 0 or unit not in _TAG_UNITS:
            return None
        return _TAG_UNITS[unit], 10**cell.tag.scale


def _is_running_text(row: Row) -> bool:
    """Whether a row is a sentence whose figure is set apart: its scale is another word of the sentence."""
    bare = (
        len(row.label) > _LONGEST_LABEL and len(row.numbers) <= 2 and all(cell.tag is None for cell, _ in row.numbers)
    )
    return bare and _WITHOUT_FIGURE.search(row.label) is not None


def _with_part(label: str | None, context: Context | None) -> str | None:
    """The column's label, and in brackets the part of the company that the number's tag names."""
    part = part_of(context) if context is not None else None
    return label if part is None else f"{label} [{part}]" if label else f"[{part}]"
