"""Line items of a page's tables: label, value, unit and period of every number.

Values are in base units: dollars, dollars per share, shares. Cells printed with "%" have unit "percent" and keep the
printed number (12.5). Numbers in parentheses are negative, a dash in a numeric column is 0.0, an empty cell gives no
line item. ``months`` is 0 for an instant (balance sheets, opening and closing balances), None if it is unknown.
"""

from __future__ import annotations

import datetime as dt
import re
from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from finray.core.types import Filing, LineItem, Statement
from finray.core.vocabulary import MONTH, SCALE
from finray.filings.cells import Number, is_year, parse_number
from finray.filings.column_labels import column_label, is_period
from finray.filings.grids import MAX_CELL_TEXT, Cell, Grid
from finray.filings.inline_xbrl import Context, Tags, part_of
from finray.filings.periods import Calendar, Period, months_between, read_balance_date, read_heading
from finray.filings.scales import Scale, read_scale, row_unit, share_scale
from finray.filings.statements import table_statement

HEAD_LINES = 25
"""Lines at the top of a page that may hold its title, scale and periods."""
MAX_LABEL = 400
HEADING_ROWS = 10
MAX_ADDENDS = 12
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
_PERCENT_ROW = re.compile(r"\(%\)|%[^\w%]*+$|\bpercent(?:age)?\b", re.IGNORECASE)
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
    discussion), numbers without a date are skipped too, because such a page rarely shows the period of a bare column.
    ``undated`` keeps them, dated by the filing's own period, for callers that know that the table is about it. ``tags``
    are those of the filing's inline XBRL; a number's tag overrides period, unit and scale of its headings.
    """
    if statement is None:
        return _note_items(grids, filing, read_scale(page_text) or usual or Scale(), undated, tags or Tags())
    head = _head_of(page_text)
    page_scale = read_scale(head) or read_scale(page_text) or read_scale(before) or usual
    items: list[LineItem] = []
    offset = 0
    calendar = Calendar(filing, statement, head)
    headings: dict[int, str] = {}
    for grid in grids:
        own: Statement | None = statement
        if len(grids) > 1:
            own = table_statement([row[0].text for row in grid.rows if row[0].column == 0], statement)
        calendar = replace(calendar, statement=own)
        reader = _TableReader(grid, own, calendar, page_scale or Scale(), headings, tags or Tags())
        items.extend(reader.read(offset))
        calendar, headings = reader.calendar, reader.headings
        offset += len(grid.rows)
    return items


def _note_items(grids: Sequence[Grid], filing: Filing, page_scale: Scale, undated: bool, tags: Tags) -> list[LineItem]:
    """Reads each table by itself; its scale, and its period if no column heading gives one, come from its caption."""
    items: list[LineItem] = []
    offset = 0
    headings: Mapping[int, str] = {}
    for grid in grids:
        calendar = Calendar(filing, None, grid.caption)
        reader = _TableReader(
            grid, None, calendar, read_scale(grid.caption) or page_scale, headings if not grid.caption else {}, tags
        )
        read = reader.read(offset)
        if undated:
            read = [replace(item, period_end=item.period_end or filing.period_end) for item in read]
        items.extend(item for item in read if item.period_end is not None)
        headings = reader.headings
        offset += len(grid.rows)
    return items


def _head_of(page_text: str) -> str:
    """The lines before the page's first figures."""
    head: list[str] = []
    for raw in page_text[:6000].split("\n"):
        line = " ".join(raw.split())
        if _FIGURE.search(line) or len(head) >= HEAD_LINES:
            break
        if line:
            head.append(line)
    return "\n".join(head)


@dataclass(frozen=True, slots=True)
class _Row:
    label: str
    numbers: tuple[tuple[Cell, Number], ...]
    texts: tuple[Cell, ...]


def _read_row(row: Sequence[Cell]) -> _Row:
    labels = [cell.text for cell in row if cell.column == 0]
    numbers, texts = [], []
    for cell in row:
        if cell.column == 0:
            continue
        number = parse_number(cell.text)
        if number is None:
            texts.append(cell)
        else:
            numbers.append((cell, number))
    label = " ".join(text for text in labels if parse_number(text) is None or is_year(text))[:MAX_LABEL]
    return _Row(label.strip(), tuple(numbers), tuple(texts))


def _is_amount(text: str) -> bool:
    """Whether a cell is certainly no percentage; a "%" in its heading then belongs to another column or to prose."""
    number = parse_number(text)
    return (
        number is not None
        and not number.percent
        and (number.currency is not None or abs(number.value) > 1000)
        and not is_year(text)
    )


class _TableReader:
    """Reads one table row by row: headings set periods, rows with only a label set sections, others are line items."""

    def __init__(
        self,
        grid: Grid,
        statement: Statement | None,
        calendar: Calendar,
        scale: Scale,
        before: Mapping[int, str],
        tags: Tags,
    ) -> None:
        self.grid = grid
        self.statement = statement
        self.calendar = calendar
        self.scale = scale
        self.tags = tags
        self.tagged: set[tuple[int, int]] = set()
        """(row, column) of the numbers whose period comes from a tag."""
        self.sections: list[tuple[float, str]] = []
        # A table interrupted by a line of prose prints its headings once.
        columns = {cell.column for row in grid.rows for cell in row if cell.column}
        own = any(_names_period(cell.text) for row in grid.rows[:HEADING_ROWS] for cell in row if cell.column)
        self.headings: dict[int, str] = {} if own or not columns <= before.keys() else dict(before)
        self.amounts = {cell.column for row in grid.rows for cell in row if _is_amount(cell.text)}
        self.seen_data = False
        self.above: list[Mapping[int, float]] = []
        """The amounts of the rows above, by column."""
        self.block = ""
        """In a note, the last row such as "Year ended June 30, 2024", which dates the rows below it."""

    def read(self, offset: int) -> list[LineItem]:
        items: list[LineItem] = []
        for index, cells in enumerate(self.grid.rows):
            row = _read_row(cells)
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
        if self.seen_data and not dated:
            self._open_section(" ".join(cell.text for cell in cells), cells[0].indent)
            return
        if self.seen_data:
            self.headings, self.seen_data = {}, False  # a second set of headings in one table
        if scale := read_scale(" ".join(cell.text for cell in cells)):
            self.scale = scale
        for cell in over_columns:
            if cell.column == 0 or len(set(re.findall(r"\b(?:19|20)\d\d\b", cell.text))) > 1:
                continue  # a title over the whole table, passed to the calendar below
            if read_scale(cell.text) and not _names_period(cell.text):
                continue  # "(in millions)" is no heading of a column
            for column in range(max(cell.column, 1), cell.column + cell.span):
                self.headings[column] = f"{self.headings.get(column, '')} {cell.text}".strip()[:MAX_CELL_TEXT]
        if row.label or len(cells) == 1:
            self.calendar = self.calendar.with_title(row.label or cells[0].text)
        if self.statement is None and row.label and row.texts and not dated and not read_scale(row.label):
            self._open_section(row.label, cells[0].indent)  # "Revenue by country | $M | $M" also heads the rows
        if len(cells) == 1 and not dated and any(map(_names_period, self.headings.values())):
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

    def _line_items(self, row: _Row, section: str | None, index: int) -> list[LineItem]:
        items = []
        units = {cell.column: self._unit(row, section, cell, number) for cell, number in row.numbers}
        printed = [unit for unit in units.values() if unit is not None]
        for cell, number in row.numbers:
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
        if number.dash:
            return None
        may_be_rate = self.statement is None and number.currency is None and "," not in cell.text
        if may_be_rate and abs(number.value) <= 1000 and any(map(_PERCENT_ROW.search, (row.label, section or ""))):
            return "percent", 1
        currency = replace(self.scale, currency=number.currency) if number.currency else self.scale
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


def _date_by_balances(items: Sequence[LineItem], tagged: Collection[tuple[int, int]] = ()) -> list[LineItem]:
    """Dates items by rows such as "Balance at December 31, 2022"; the columns of equity statements are components."""
    dates: dict[int, dt.date] = {}
    for item in items:
        if item.row not in dates and (date := read_balance_date(item.label)):
            dates[item.row] = date
    days = {(date.month, date.day) for date in dates.values()}
    dates = {row: _close_of_day_before(date, days) for row, date in dates.items()}
    if not dates:
        return list(items)
    rows = sorted(dates)
    return [item if (item.row, item.column) in tagged else _dated(item, dates, rows) for item in items]


def _close_of_day_before(date: dt.date, days: Collection[tuple[int, int]]) -> dt.date:
    """``date``, or the day before: "Balance at January 1" is the balance of December 31, as other rows date it.
    ``days`` are their (month, day)."""
    before = date - dt.timedelta(days=1)
    return before if date.day == 1 and ((before.month, before.day) in days or date.month == 1) else date


def _dated(item: LineItem, dates: Mapping[int, dt.date], rows: Sequence[int]) -> LineItem:
    """``rows`` are the keys of ``dates``, in order."""
    if item.row in dates:
        return replace(item, period_end=dates[item.row], months=0)
    following = bisect_left(rows, item.row)
    if following == len(rows):
        return item
    end = dates[rows[following]]
    months = months_between(dates[rows[following - 1]], end) if following else None
    return replace(item, period_end=end, months=months)
