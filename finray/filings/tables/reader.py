"""Reads one printed grid as a table, row by row."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from finray.core import tables
from finray.core.filing import Statement
from finray.core.tables import Column, Standing, Table
from finray.core.vocabulary import SCALE
from finray.filings.tables.balance_dates import dated_by_balances
from finray.filings.tables.cells import Number, is_year
from finray.filings.tables.columns import Columns
from finray.filings.tables.grids import MAX_LABEL, Cell, Grid
from finray.filings.tables.period_headings import column_label, is_period
from finray.filings.tables.periods import Period
from finray.filings.tables.rows import PERIOD_WORDS, Row, amounts_of, names_period, read_row
from finray.filings.tables.scales import ScaledUnit, read_scale
from finray.filings.tables.tags import Tags, in_unit, item_unit, part_of

MAX_ADDENDS = 12
"""Rows above a total that may add up to it."""
INDENT_STEP = 1.0
"""Points; smaller differences between left margins are ignored."""
_NOT_A_SECTION = re.compile(
    rf"\W*+\d*+\W*+$|page \d|\(?in {SCALE}|\((?>.*?{SCALE}s).*\)$|part i|item \d", re.IGNORECASE
)
"""Begins a row that does not head others."""
_NOT_IN_A_SECTION = (
    "table of contents", "accompanying notes", "see notes", "refer to", "integral part", "unaudited", "form 10-",
    "the accompanying", "annual report", "commitments and contingenc",
)  # fmt: skip
_TOTAL = re.compile(r"^(?:total|net cash|cash (?:provided|used|flows))\b", re.IGNORECASE)
MAX_HEADING_ROW = 150
"""Characters; a longer row without figures is a footnote."""
_SHORT_LABEL = 60
"""Characters; a label up to this length is not running text."""
_WITHOUT_FIGURE = re.compile(
    r"\b(?:of|from|to|by|was|were|approximately|about|at|than|and|or|totaling|exceeding)\s+"
    rf"(?:{SCALE}s?\b|$)",
    re.IGNORECASE,
)
"""Running text without its figure, which stands in a column of its own: "grew by a fifth, to billion"."""


_NOT_APPLICABLE = re.compile(r"\W*(?:n\.?/?[am]\.?|not (?:applicable|available|meaningful))\W*", re.IGNORECASE)
"""Printed in place of a figure."""


@dataclass(slots=True)
class TableReader:
    """Reads one grid: headings set periods, rows with only a label open sections, others have figures."""

    grid: Grid
    columns: Columns
    tags: Tags
    tagged: set[tuple[int, int]] = field(default_factory=set)
    """(row, column) of the numbers whose period comes from a tag."""
    sections: list[tuple[float, str]] = field(default_factory=list)
    seen_data: bool = False
    above: list[Mapping[int, float]] = field(default_factory=list)
    """The amounts of the rows above, by column."""
    units: dict[int, ScaledUnit] = field(default_factory=dict)
    """The unit of the last figure in each column; a dash below it has the same in a row of several units."""
    pending: list[Sequence[Cell]] = field(default_factory=list)
    """Rows since the last figure that may turn out to be headings."""
    block: str = ""
    """In a note, the last row such as "Year ended June 30, 2024". It dates the rows below."""
    titles: list[str] = field(default_factory=list)
    rows: list[tables.Row] = field(default_factory=list)
    """The rows since the last set of headings."""
    read_tables: list[Table] = field(default_factory=list)

    @property
    def statement(self) -> Statement | None:
        return self.columns.statement

    def read(self, first_row: int, registrant: str | None = None) -> list[Table]:
        """The tables of the grid, one for each set of headings, with ``number`` 0; ``Row.row`` counts from
        ``first_row``."""
        for index, cells in enumerate(self.grid.rows, first_row):
            row = read_row(cells)
            if row.numbers:
                self.pending.clear()
            if self._dates_block(row):
                self.block = row.label or cells[0].text
                self._add_heading(self.block, index)
            elif self._is_heading(row):
                self._take_heading(cells, row, index)
            elif row.numbers:
                self._read_figures(row, cells[0].indent, index)
            elif row.label:
                self._open_section(row.label, cells[0].indent)
                self._add_heading(row.label, index)
        self._end_table()
        found = self.read_tables
        if self.statement in ("equity", None) and not self.columns.dated:
            found = dated_by_balances(found, self.tagged)
        return [replace(table, registrant=registrant) for table in found]

    def _end_table(self) -> None:
        """Ends the table that has the rows so far, if there are any."""
        if any(row.cells for row in self.rows):
            columns, headings = self.columns, self.columns.headings
            numbers = sorted({cell.column for row in self.rows for cell in row.cells})
            heads = (Column(n, columns.heads(n), column_label(headings.get(n, ""))) for n in numbers)
            while not self.rows[-1].cells:  # a running foot, or the title of the next table
                self.rows.pop()
            page = self.grid.page
            title = " ".join(dict.fromkeys(self.titles))
            self.read_tables.append(
                Table(
                    page=page,
                    last_page=page,
                    number=0,
                    title=title,
                    caption=self.grid.caption,
                    statement=self.statement,
                    registrant=None,
                    currency=columns.scale.currency,
                    scale=columns.scale.money,
                    columns=tuple(heads),
                    rows=tuple(self.rows),
                )
            )
        self.rows = []

    def _add_heading(self, label: str, index: int) -> None:
        if len(label) > MAX_HEADING_ROW or _NOT_A_SECTION.match(label):
            return
        depth = max(len(self.sections) - 1, 0)
        self.rows.append(tables.Row(self.grid.page, index, label[:MAX_LABEL], depth=depth))

    def _add_row(self, row: Row, label: str, section: str | None, index: int) -> None:
        row = row if row.label == label else replace(row, label=label)
        if _is_running_text(row):
            return
        cells = self._cells(row, section, index)
        self.rows.append(tables.Row(self.grid.page, index, label, cells, section, len(self.sections)))

    def _read_figures(self, row: Row, indent: float, index: int) -> None:
        """Add a row with figures; in a statement, one without a label has no line items."""
        if row.label:
            self.seen_data = True
            self._add_row(row, row.label, self._section(indent), index)
            self.above.append(amounts_of(row))
            if _TOTAL.match(row.label) and self.sections:
                self.sections.pop()
        elif self.statement is not None:
            self._add_row(row, "", self._section(indent), index)
        elif texts := " ".join(cell.text for cell in row.texts).strip():  # "3.5% | October 2046 | $622"
            self.seen_data = True
            self._add_row(row, texts[:MAX_LABEL], self._section(indent), index)
        elif self._adds_up(row):
            section = self.sections.pop()[1] if self.sections else None
            self._add_row(row, "Total", section, index)
        else:
            self._add_row(row, "", self._section(indent), index)

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

    def _take_heading(self, cells: Sequence[Cell], row: Row, index: int) -> None:
        over_columns = [cell for cell in cells if cell.column > 0 or cell.span > 1]
        dated = any(names_period(cell.text) for cell in over_columns)
        if self.seen_data and not dated and not self.columns.heads_anew(over_columns):
            text = " ".join(cell.text for cell in cells)
            self._open_section(text, cells[0].indent)
            self._add_heading(text, index)
            self.pending.append(over_columns)
            return
        anew = self.seen_data
        if anew:  # a second set of headings in one table
            self._end_table()
            self.columns.begin_anew()
            self.units = {}
            self.seen_data = False
            for before in self.pending:
                self.columns.head(before)
        self.columns.take_scale(cells)
        self.columns.head(over_columns)
        if row.label or len(cells) == 1:
            self.columns.add_title(row.label or cells[0].text, anew=anew)
            self.titles.append(row.label or cells[0].text)
        if self.statement is None and row.label and row.texts and not dated and not read_scale(row.label):
            self._open_section(row.label, cells[0].indent)  # "Revenue by country | $M | $M" also heads the rows
        if len(cells) == 1 and not dated and self.columns.dated:
            self._open_section(cells[0].text, cells[0].indent)
            self._add_heading(cells[0].text, index)

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

    def _cells(self, row: Row, section: str | None, index: int) -> tuple[tables.Cell, ...]:
        columns = self.columns
        units = {cell.column: columns.unit(row, section, cell, number) for cell, number in row.numbers}
        known = [unit for unit in units.values() if unit is not None]
        of_row = known[0] if known else (columns.scale.currency, columns.scale.money)
        above = self.units if len(set(known)) > 1 or not known else {}
        self.units |= {column: unit for column, unit in units.items() if unit is not None}
        found = [_text_cell(cell) for cell in row.texts]
        for cell, number in row.numbers:
            # "2022 - 2050" are years; figures of this size are printed with a comma
            if columns.units is not None and is_year(cell.text) and not cell.concept:
                found.append(_text_cell(cell))
                continue
            if cell.tag is not None and cell.tag.nil:
                text = "" if cell.text == "nil" else cell.text
                found.append(tables.Cell(cell.column, text, "nil", box=cell.box, concept=cell.concept))
                continue
            unit, scale = self._tagged_unit(cell, number) or units[cell.column] or above.get(cell.column, of_row)
            if unit == "percent" and number.currency is not None:  # "$—" beside a rate
                unit, scale = number.currency, columns.scale.money
            value, tagged = number.value * scale, None
            if cell.tag is not None and cell.tag.value is not None:
                tagged = in_unit(cell.tag.value, unit)
                if unit != "percent" or cell.tag.scale < 0:  # the tag has the amount, the print may have another sign
                    value = -abs(tagged) if number.value < 0 else abs(tagged)
            context = self.tags.contexts.get(cell.tag.context) if cell.tag else None
            if context:
                period = Period(context.end, context.months)
                self.tagged.add((index, cell.column))
            else:
                period = columns.period(row.label, cell.column, self.block)
            found.append(
                tables.Cell(
                    column=cell.column,
                    text=cell.text,
                    stands=_standing(number, cell.text),
                    value=value,
                    unit=unit,
                    scale=scale,
                    period_end=period.end,
                    months=period.months,
                    box=cell.box,
                    concept=cell.concept,
                    tagged=tagged,
                    part=part_of(context) if context is not None else None,
                )
            )
        return tuple(sorted(found, key=lambda each: each.column))

    def _tagged_unit(self, cell: Cell, number: Number) -> ScaledUnit | None:
        name = self.tags.units.get(cell.tag.unit) if cell.tag is not None else None
        if cell.tag is None or name is None:
            return None
        unit = item_unit(name, cell.tag.scale)
        if unit == "pure" and number.percent:
            unit = "percent"
        return unit, 1 if unit == "percent" else 10 ** max(cell.tag.scale, 0)


def _is_running_text(row: Row) -> bool:
    """Whether a row is a sentence with its figure set apart in a column."""
    return (
        len(row.label) > _SHORT_LABEL
        and len(row.numbers) <= 2
        and all(cell.tag is None for cell, _ in row.numbers)
        and _WITHOUT_FIGURE.search(row.label) is not None
    )


def _standing(number: Number, text: str) -> Standing | None:
    if not number.dash:
        return None
    return "nil" if text.strip().lower() == "nil" else "dash"


def _text_cell(cell: Cell) -> tables.Cell:
    stands: Standing = "n/a" if _NOT_APPLICABLE.fullmatch(cell.text) else "words"
    return tables.Cell(cell.column, cell.text, stands, box=cell.box)
