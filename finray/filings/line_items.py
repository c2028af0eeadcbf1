"""Line items of a page's tables: label, value, unit and period of every number.

Values are in base units: dollars, dollars per share, shares. Cells printed with "%" have unit "percent" and keep the
printed number (12.5). Numbers in parentheses are negative, a dash in a numeric column is 0.0, an empty cell gives no
line item. ``months`` is 0 for an instant (balance sheets, opening and closing balances), None if it is unknown.
"""

import datetime as dt
import re
from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, takewhile

from finray.core.types import Filing, LineItem, Statement
from finray.core.vocabulary import MONTH, SCALE
from finray.filings.cells import Number, is_year, parse_number
from finray.filings.grids import MAX_CELL_TEXT, Cell, Grid
from finray.filings.inline_xbrl import Context, Tags, part_of
from finray.filings.note_units import NoteUnits, is_contents, kind_of
from finray.filings.periods import (
    Calendar,
    Period,
    column_label,
    is_period,
    months_between,
    read_balance_date,
    read_heading,
)
from finray.filings.scales import Scale, read_scale, row_unit, share_scale
from finray.filings.statements import table_statement

HEAD_LINES = 25
"""Lines at the top of a page that may hold its title, scale and periods."""
MAX_LABEL = 400
HEADING_ROWS = 10
MAX_ADDENDS = 12
MAX_SCALED_ROWS = 20
_TAG_UNITS = {"usd": "USD", "usd/shares": "USD/share", "shares": "shares", "eur": "EUR", "gbp": "GBP", "jpy": "JPY"}
MAX_HEADING = 100
"""Characters; a longer column heading is prose from above the table."""
_IN_PERCENT = re.compile(r"%|\bpercent")
INDENT_STEP = 1.0
"""Points; smaller differences between left margins are ignored."""

_NOT_A_SECTION = re.compile(
    r"table of contents|accompanying notes|see notes|refer to|integral part|^\W*+\d*+\W*+$|^page \d|unaudited|"
    rf"^\(?in {SCALE}|^\((?>.*?{SCALE}s).*\)$|"
    r"form 10-|^part i|^item \d|the accompanying|annual report",
    re.IGNORECASE,
)
_TOTAL = re.compile(r"^(?:total|net cash|cash (?:provided|used|flows))\b", re.IGNORECASE)
_PERIOD_WORDS = re.compile(
    rf"\b(?:ended|months|weeks|years?|quarters?|fiscal|as of|{MONTH})\b|^(?:19|20)\d\d$",
    re.IGNORECASE,
)
_BALANCE_ROW = re.compile(
    r"\bbalances?\b|\bcash\b.*\b(?:beginning|end)|\b(?:beginning|end) of\b|\bat (?:beginning|end)\b", re.IGNORECASE
)
_PER_SHARE_TAIL = re.compile(r"\bper share\b", re.IGNORECASE)
_PERCENT_ROW = re.compile(r"\(%\)|%(?: change| growth| increase| points?)?[^\w%]*+$|\bpercent(?:age)?\b", re.IGNORECASE)
_FIGURE = re.compile(r"\d,\d{3}(?!\d)|\d\.\d|^\$\s*(?:[\d(]|$)|^\(\d+\)$")
_BEGINNING = re.compile(r"\b(?:beginning|opening|start)\b", re.IGNORECASE)
_ENDING = re.compile(r"\b(?:end|ending|closing)\b", re.IGNORECASE)


def extract_line_items(
    grids: Sequence[Grid],
    page_text: str,
    statement: Statement | None,
    filing: Filing,
    *,
    before: str = "",
    usual: Scale | None = None,
    undated: bool = False,
    tags: Tags | None = None,
) -> list[LineItem]:
    """Every number in a numeric column of a labeled row of ``grids`` (one page).

    The scale is that of the page, else of ``before`` (the text of the page before, for continued statements), else
    ``usual`` (the scale of the filing's statements). ``row`` counts rows over the page; ``column`` is that of the grid.
    Odd tables raise no errors; rows without label or number are skipped. If ``statement`` is None (notes, management's
    discussion), a number whose table shows no date has no ``period_end``; ``undated`` dates it by the filing's own
    period, for callers that know that the table is about it. ``tags`` are those of the filing's inline XBRL; a number's
    tag overrides period, unit and scale of its headings.
    """
    head = _head_of(page_text)
    announced = read_scale(page_text if statement is not None else _without_own_scales(page_text, grids))
    scale = announced or usual or Scale()
    if statement is not None:
        scale = read_scale(head) or read_scale(page_text) or read_scale(before) or scale
    calendar = Calendar(filing, statement, head)
    items: list[LineItem] = []
    headings: dict[int, str] = {}
    offset = 0
    for grid in grids:
        own, own_scale, units = statement, scale, None
        if statement is None:  # notes: each table has its own scale and period, in its caption if not in its headings
            if is_contents(grid):
                continue
            stated = read_scale(grid.caption) or announced
            calendar, own_scale = Calendar(filing, None, grid.caption), stated or scale
            headings = {} if grid.caption else headings
            units = NoteUnits.of(grid, page_text, head, announced=stated is not None)
        elif len(grids) > 1:
            own = table_statement([row[0].text for row in grid.rows if row[0].column == 0], statement)
            calendar = replace(calendar, statement=own)
        reader = _TableReader(grid, own, calendar, own_scale, headings, tags or Tags(), units)
        items += reader.read(offset)
        calendar, headings = reader.calendar, reader.headings
        offset += len(grid.rows)
    if statement is None and undated:
        items = [replace(item, period_end=item.period_end or filing.period_end) for item in items]
    return items


def _without_own_scales(page_text: str, grids: Sequence[Grid]) -> str:
    """``page_text`` without the labels of rows that give a scale of their own: "Square feet (in thousands)"."""
    first = ((row[0].text, row[-1].text) for grid in grids for row in grid.rows if len(row) > 1 and not row[0].column)
    scaled = (label for label, figure in first if parse_number(figure) and not is_year(figure) and read_scale(label))
    for label in islice(scaled, MAX_SCALED_ROWS):
        page_text = page_text.replace(label, "")
    return page_text


def _head_of(page_text: str) -> str:
    """The lines before the page's first figures."""
    lines = (" ".join(line.split()) for line in page_text[:6000].split("\n"))
    before = takewhile(lambda line: not _FIGURE.search(line), filter(None, lines))
    return "\n".join(islice(before, HEAD_LINES))


@dataclass(frozen=True, slots=True)
class _Row:
    label: str
    numbers: tuple[tuple[Cell, Number], ...]
    texts: tuple[Cell, ...]


def _read_row(row: Sequence[Cell]) -> _Row:
    read = [(cell, parse_number(cell.text)) for cell in row]
    label = " ".join(cell.text for cell, number in read if not cell.column and (not number or is_year(cell.text)))
    return _Row(
        label[:MAX_LABEL].strip(),
        tuple((cell, number) for cell, number in read if cell.column and number),
        tuple(cell for cell, number in read if cell.column and not number),
    )


def _is_amount(text: str) -> bool:
    """Whether a cell is certainly no percentage; a "%" in its heading then belongs to another column or to prose."""
    number = parse_number(text)
    return (
        number is not None
        and not number.percent
        and (number.currency is not None or abs(number.value) > 1000)
        and not is_year(text)
    )


@dataclass(slots=True)
class _TableReader:
    """Reads one table row by row: headings set periods, rows with only a label set sections, others are line items."""

    grid: Grid
    statement: Statement | None
    calendar: Calendar
    scale: Scale
    headings: dict[int, str]
    """The text over each column, at first that of the table before."""
    tags: Tags
    units: NoteUnits | None = None
    """Of a table outside the statements."""
    scales: dict[int, Scale] = field(default_factory=dict)
    """The scale printed over a column, if it is not that of the table."""
    tagged: set[tuple[int, int]] = field(default_factory=set)
    """(row, column) of the numbers whose period comes from a tag."""
    sections: list[tuple[float, str]] = field(default_factory=list)
    amounts: set[int] = field(default_factory=set)
    """The columns that hold amounts, not percentages."""
    seen_data: bool = False
    above: list[Mapping[int, float]] = field(default_factory=list)
    """The amounts of the rows above, by column."""
    pending: list[Sequence[Cell]] = field(default_factory=list)
    """The rows without figures since the last row with some, which may be the next headings."""
    width: int = 0
    """How many columns the table has."""
    block: str = ""
    """In a note, the last row such as "Year ended June 30, 2024", which dates the rows below it."""

    def __post_init__(self) -> None:
        columns = {cell.column for row in self.grid.rows for cell in row if cell.column}
        own = any(_names_period(cell.text) for row in self.grid.rows[:HEADING_ROWS] for cell in row if cell.column)
        # A table interrupted by a line of prose prints its headings once.
        self.headings = {} if own or not columns <= self.headings.keys() else dict(self.headings)
        self.width = len(columns)
        self.amounts = {cell.column for row in self.grid.rows for cell in row if _is_amount(cell.text)}

    def read(self, offset: int) -> list[LineItem]:
        items: list[LineItem] = []
        for index, cells in enumerate(self.grid.rows):
            row = _read_row(cells)
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
                self.above.append(_amounts(row))
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
        if self.statement in ("equity", None) and not any(_names_period(text) for text in self.headings.values()):
            items = _date_by_balances(items, self.tagged)
        return items

    def _adds_up(self, row: _Row) -> bool:
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

    def _dates_block(self, row: _Row) -> bool:
        """Whether a row of a note's table names a period for all its columns."""
        text = row.label or (row.texts[0].text if len(row.texts) == 1 and row.texts[0].span > 1 else "")
        alone = not row.numbers and len(row.texts) <= (0 if row.label else 1)
        return self.statement is None and alone and is_period(text)

    def _is_heading(self, row: _Row) -> bool:
        real = [cell for cell, number in row.numbers if not is_year(cell.text)]
        if real:
            return False
        if row.numbers:  # years only
            return (
                not row.label
                or not self.seen_data
                or bool(_PERIOD_WORDS.search(row.label))
                or row.label.startswith("(")
            )
        return bool(row.texts) or (not self.seen_data and bool(row.label))

    def _take_heading(self, cells: Sequence[Cell], row: _Row) -> None:
        over_columns = [cell for cell in cells if cell.column > 0 or cell.span > 1]
        dated = any(_names_period(cell.text) for cell in over_columns)
        if self.seen_data and not dated and not self._heads_anew(over_columns):
            self._open_section(" ".join(cell.text for cell in cells), cells[0].indent)
            self.pending.append(over_columns)
            return
        if self.seen_data:  # a second set of headings in one table
            self.headings, self.scales, self.seen_data = {}, {}, False
            for before in self.pending:
                self._head_columns(before)
        self._take_scale(cells)
        self._head_columns(over_columns)
        if row.label or len(cells) == 1:
            self.calendar = self.calendar.with_title(row.label or cells[0].text)
        if self.statement is None and row.label and row.texts and not dated and not read_scale(row.label):
            self._open_section(row.label, cells[0].indent)  # "Revenue by country | $M | $M" also heads the rows
        if len(cells) == 1 and not dated and any(map(_names_period, self.headings.values())):
            self._open_section(cells[0].text, cells[0].indent)

    def _head_columns(self, over_columns: Sequence[Cell]) -> None:
        for cell in over_columns:
            if cell.column == 0 or len(set(re.findall(r"\b(?:19|20)\d\d\b", cell.text))) > 1:
                continue  # a title over the whole table, passed to the calendar below
            if read_scale(cell.text) and not _names_period(cell.text) and not self._names_more(cell.text):
                continue  # "(in millions)" is no heading of a column
            for column in range(max(cell.column, 1), cell.column + cell.span):
                self.headings[column] = f"{self.headings.get(column, '')} {cell.text}".strip()[:MAX_CELL_TEXT]

    def _names_more(self, heading: str) -> bool:
        """Whether a heading in a note names more than a scale: "Number of customers (in thousands)"."""
        return self.units is not None and len(heading) <= MAX_HEADING and column_label(heading) is not None

    def _heads_anew(self, over_columns: Sequence[Cell]) -> bool:
        """Whether a row of a note's table names most of its columns, although it names no period."""
        named = [cell for cell in over_columns if cell.column and re.search(r"[^\W\d_]{3}", cell.text)]
        return self.units is not None and len(named) >= max(2, self.width / 2)

    def _take_scale(self, cells: Sequence[Cell]) -> None:
        """The scale in a row of headings: of the columns under it if others have another or none, else of the table."""
        scale = read_scale(" ".join(cell.text for cell in cells))
        if scale is None:
            return
        over = [cell for cell in cells if cell.column]
        own = [(cell, read_scale(cell.text)) for cell in over]
        if self.units is None or (len(over) < len(cells) and read_scale(cells[0].text)):
            self.scale = scale
        elif len({found and found.money for _, found in own}) > 1 or (len(own) == 1 and self._heads_one(own[0][0])):
            for cell, found in own:
                self.scales |= {cell.column + step: found for step in range(cell.span) if found is not None}
        else:
            self.scale = scale

    def _heads_one(self, cell: Cell) -> bool:
        """Whether a cell stands under the heading of one column among others that hold something else."""
        above = {column: kind_of(heading, heading=True) for column, heading in self.headings.items()}
        return cell.span == 1 and len(set(above.values())) > 1 and not any(map(_names_period, self.headings.values()))

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

    def _line_items(self, row: _Row, section: str | None, index: int) -> list[LineItem]:
        items = []
        units = {cell.column: self._unit(row, section, cell, number) for cell, number in row.numbers}
        printed = [unit for unit in units.values() if unit is not None]
        for cell, number in row.numbers:
            if self.units is not None and is_year(cell.text) and not cell.concept:
                continue  # "2022 - 2050" are years; figures of this size are printed with a comma
            unit, scale = units[cell.column] or (printed[0] if printed else (self.scale.currency, self.scale.money))
            unit, scale = self._tagged_unit(cell) or (unit, scale)
            context = self.tags.contexts.get(cell.tag.context) if cell.tag else None
            period = Period(context.end, context.months) if context else self._period(row.label, cell.column)
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
                    column_label=_with_part(column_label(self.headings.get(cell.column, "")), context),
                    caption=self.grid.caption or None if self.statement is None else None,
                )
            )
        return items

    def _unit(self, row: _Row, section: str | None, cell: Cell, number: Number) -> tuple[str, int] | None:
        """Unit and multiplier of a number; None for a dash, which takes the unit of its row."""
        heading = self.headings.get(cell.column, "")
        headed = len(heading) <= MAX_HEADING and cell.column not in self.amounts and _IN_PERCENT.search(heading)
        if number.percent or headed:
            return "percent", 1
        if number.unit is not None:
            return number.unit, 1
        scale = self.scales.get(cell.column, self.scale)
        if self.units is not None:
            own = self.scales[cell.column].money if cell.column in self.scales else None
            named = self.units.unit(heading, row.label, section or "", cell.column, number, scale, own)
            if named is not None:
                return named
        if number.dash:
            return None
        may_be_rate = self.statement is None and number.currency is None and "," not in cell.text
        if may_be_rate and abs(number.value) <= 1000 and any(map(_PERCENT_ROW.search, (row.label, section or ""))):
            return "percent", 1
        currency = replace(scale, currency=number.currency) if number.currency else scale
        if self.statement == "equity" and not any(_names_period(text) for text in self.headings.values()):
            if re.search(r"\bshares\W*+$|^\W*+(?:number of )?shares\b", heading, re.IGNORECASE) and not number.currency:
                return "shares", share_scale(number.value, number.decimals, currency, moved=True)
            return ("USD/share", 1) if _PER_SHARE_TAIL.search(heading) else (currency.currency, currency.money)
        return row_unit(row.label, section, number.value, number.decimals, currency, number.currency)

    def _tagged_unit(self, cell: Cell) -> tuple[str, int] | None:
        unit = self.tags.units.get(cell.tag.unit) if cell.tag else None
        if cell.tag is None or unit is None or cell.tag.scale < 0 or unit not in _TAG_UNITS:
            return None
        return _TAG_UNITS[unit], 10**cell.tag.scale

    def _period(self, label: str, column: int) -> Period:
        period = (
            self._note_period(label, column) if self.statement is None else self.calendar.period(column, self.headings)
        )
        if (
            self.statement in ("cash_flow", "equity", None)
            and _BALANCE_ROW.search(label)
            and not re.search(r"adjustments?|increase|decrease|change", label, re.IGNORECASE)
        ):
            if _BEGINNING.search(label) and not _ENDING.search(label):
                return self.calendar.opening(period, self.headings)
            if _ENDING.search(label) or re.search(r"\bbalances?\b", label, re.IGNORECASE):
                return Period(period.end, 0)
        if self.statement == "equity" and re.search(r"^total\b.*\b(?:equity|deficit)\b", label, re.IGNORECASE):
            return Period(period.end, 0)
        return period

    def _note_period(self, label: str, column: int) -> Period:
        """The period of a figure in a note: from its column, from a heading over some rows, or from its row."""
        period = self.calendar.period(column, self.headings)
        heading = self.headings.get(column, "")
        if read_heading(heading).year is None and not read_heading(heading).change:
            dated = label if is_period(label) else self.block
            if dated:
                period = self.calendar.period(column, {column: f"{heading} {dated}"})
        if period.months is None and self.calendar.filing.fiscal_period == "FY" and _BALANCE_ROW.search(label):
            return Period(period.end, 12)
        return period


def _amounts(row: _Row) -> dict[int, float]:
    """The first amount in each column."""
    return {cell.column: number.value for cell, number in reversed(row.numbers) if not number.percent}


def _names_period(text: str) -> bool:
    return re.search(r"\b(?:19|20)\d\d\b", text) is not None or _PERIOD_WORDS.search(text) is not None


def _with_part(label: str | None, context: Context | None) -> str | None:
    """The column's label, and in brackets the part of the company that the number's tag names."""
    part = part_of(context) if context is not None else None
    return label if part is None else f"{label} [{part}]" if label else f"[{part}]"


def _date_by_balances(items: Sequence[LineItem], tagged: Collection[tuple[int, int]]) -> list[LineItem]:
    """Dates items by rows such as "Balance at December 31, 2022"; the columns of equity statements are components."""
    printed = {item.row: date for item in items if (date := read_balance_date(item.label))}
    days = {(date.month, date.day) for date in printed.values()}
    dates = {row: _close_of_day_before(date, days) for row, date in printed.items()}
    rows = sorted(dates)
    dated = []
    for item in items:
        at = bisect_left(rows, item.row)
        if at < len(rows) and (item.row, item.column) not in tagged:
            end, months = dates[rows[at]], 0 if rows[at] == item.row else None
            if months is None and at:
                months = months_between(dates[rows[at - 1]], end)
            item = replace(item, period_end=end, months=months)
        dated.append(item)
    return dated


def _close_of_day_before(date: dt.date, days: Collection[tuple[int, int]]) -> dt.date:
    """``date``, or the day before: "Balance at January 1" is the balance of December 31, as other rows date it.
    ``days`` are their (month, day)."""
    before = date - dt.timedelta(days=1)
    return before if date.day == 1 and ((before.month, before.day) in days or date.month == 1) else date
