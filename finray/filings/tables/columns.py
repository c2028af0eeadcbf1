"""The headings of a table's columns, and the unit and period of the numbers below."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Self

from finray.core.filing import Statement
from finray.filings.dates import MONTH_DAYS
from finray.filings.tables.cells import Number
from finray.filings.tables.currencies import currency_of, heading_currency, stated_currency
from finray.filings.tables.grids import MAX_CELL_TEXT, Cell, Grid
from finray.filings.tables.note_units import NoteUnits, kind_of, without_share_scales
from finray.filings.tables.period_headings import column_label, gives_both_days, is_period, read_heading
from finray.filings.tables.periods import Calendar, Period
from finray.filings.tables.rows import Row, is_amount, names_period
from finray.filings.tables.scales import Scale, ScaledUnit, is_per_share, read_scale, row_unit, share_scale

HEADING_ROWS = 10
"""Rows at the top of a table that may name its periods."""
QUARTERS = 3
"""Headings with different months and no year that show a table of quarters; the fourth may be cut off."""
MAX_HEADING = 100
"""Characters; a longer column heading is prose from above the table."""
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_IN_PERCENT = re.compile(r"%|\bpercent")
_EXCEPT = re.compile(r"\bexcept\b.*", re.IGNORECASE)
_BALANCE_ROW = re.compile(
    r"\bbalances?\b|\bcash\b.*\b(?:beginning|end)|\b(?:beginning|end) of\b|\bat (?:beginning|end)\b", re.IGNORECASE
)
_PER_SHARE_TAIL = re.compile(r"\bper share\b", re.IGNORECASE)
_PERCENT_ROW = re.compile(
    r"^\W*% of\b|\(%\)|%(?: change| growth| increase| points?)?[^\w%]*+$|\bpercent(?:age)?\b", re.IGNORECASE
)
_BEGINNING = re.compile(r"\b(?:beginning|opening|start)\b", re.IGNORECASE)
_ENDING = re.compile(r"\b(?:end|ending|closing)\b", re.IGNORECASE)
_BALANCE = re.compile(r"\bbalances?\b", re.IGNORECASE)
_CHANGE = re.compile(r"adjustments?|increase|decrease|change", re.IGNORECASE)
_TOTAL_EQUITY = re.compile(r"^total\b.*\b(?:equity|deficit)\b", re.IGNORECASE)
_SHARED_SIGN = re.compile(r"[\s(]*+([$¥])")
"""A sign of several currencies before a number."""
_SHARES_HEADING = re.compile(r"\bshares\W*+$|^\W*+(?:number of )?shares\b", re.IGNORECASE)


@dataclass(slots=True)
class Columns:
    """The headings and scales of a table's columns, as read so far."""

    statement: Statement | None
    calendar: Calendar
    scale: Scale
    headings: dict[int, str]
    """The text over each column, at first that of the table before."""
    units: NoteUnits | None
    """The units of a table outside the statements; None in a statement."""
    amounts: frozenset[int]
    """The columns that hold amounts, not percentages."""
    width: int
    """Number of columns."""
    levels: dict[int, list[str]] = field(default_factory=dict)
    """The rows of headings over each column, the outermost first."""
    scales: dict[int, Scale] = field(default_factory=dict)
    """The scale printed over a column, if it differs from the table's."""

    @classmethod
    def of(
        cls,
        grid: Grid,
        statement: Statement | None,
        calendar: Calendar,
        scale: Scale,
        headings: dict[int, str],
        units: NoteUnits | None,
    ) -> Self:
        """The columns of ``grid`` before its first row is read; ``headings`` are those of the table before."""
        columns = {cell.column for row in grid.rows for cell in row if cell.column}
        own = any(names_period(cell.text) for row in grid.rows[:HEADING_ROWS] for cell in row if cell.column)
        # A table interrupted by a line of prose prints its headings once.
        headings = {} if own or not columns <= headings.keys() else dict(headings)
        amounts = frozenset(cell.column for row in grid.rows for cell in row if is_amount(cell.text))
        return cls(statement, calendar, scale, headings, units, amounts, len(columns))

    @property
    def dated(self) -> bool:
        """Whether a heading names a period. A range of years, "2027-2031", does not date a figure."""
        return any(names_period(heading) and not read_heading(heading).years for heading in self.headings.values())

    def heads(self, column: int) -> tuple[str, ...]:
        """What is printed over ``column``, the outermost first."""
        return tuple(self.levels.get(column) or filter(None, [self.headings.get(column)]))

    def begin_anew(self) -> None:
        """Forget the headings, for a second set in the same table."""
        self.headings, self.scales, self.levels = {}, {}, {}

    def add_title(self, text: str, *, anew: bool = False) -> None:
        """Add a title. That of a second set of headings (``anew``) comes before those of the first."""
        self.calendar = self.calendar.with_title(text, first=anew)

    def head(self, over_columns: Sequence[Cell]) -> None:
        """Add a row of headings."""
        for cell in over_columns:
            if cell.column == 0 or self._is_title(cell) or cell.text.lower() == "table of contents":
                continue  # titles go to the calendar
            if read_scale(cell.text) and not names_period(cell.text) and not self._names_more(cell.text):
                continue  # "(in millions)" is not a heading of a column
            for column in range(max(cell.column, 1), cell.column + cell.span):
                self.headings[column] = f"{self.headings.get(column, '')} {cell.text}".strip()[:MAX_CELL_TEXT]
                self.levels.setdefault(column, []).append(cell.text)

    def _is_title(self, cell: Cell) -> bool:
        """Whether a heading names the years of all columns: "For the years ended May 31, 2022 and 2021"."""
        if len(set(_YEAR.findall(cell.text))) < 2 or (cell.span < self.width and gives_both_days(cell.text)):
            return False
        heading = read_heading(cell.text)
        return cell.span >= self.width or len(cell.text) > MAX_HEADING or not (heading.years or heading.change)

    def _names_more(self, heading: str) -> bool:
        """Whether a heading in a note names more than a scale: "Number of customers (in thousands)"."""
        return self.units is not None and len(heading) <= MAX_HEADING and column_label(heading) is not None

    def heads_anew(self, over_columns: Sequence[Cell]) -> bool:
        """Whether a row of a note's table names most of its columns, although it names no period."""
        named = [cell for cell in over_columns if cell.column and re.search(r"[^\W\d_]{3}", cell.text)]
        return self.units is not None and len(named) >= max(2, self.width / 2)

    def take_scale(self, cells: Sequence[Cell]) -> None:
        """Read the scale in a row of headings: of the columns below it if others differ, else of the whole table."""
        text = " ".join(cell.text for cell in cells)
        scale = self._read_scale(text)
        if scale is None:
            if self.units is None and len(cells) == 1 and (named := stated_currency(text)):
                self.scale = replace(self.scale, currency=currency_of(named, self.scale.currency))
            return
        over = [cell for cell in cells if cell.column]
        own = [(cell, self._read_scale(cell.text)) for cell in over]
        of_amounts = scale if self.units is None else self._read_scale(without_share_scales(text))
        if of_amounts is None or len({found.currency for _, found in own if found and found.named}) > 1:
            self._take_own_scales(own)
        elif self.units is None or (len(over) < len(cells) and read_scale(cells[0].text)):
            self.scale = scale
        elif len({found and found.money for _, found in own}) > 1 or (len(own) == 1 and self._heads_one(own[0][0])):
            self._take_own_scales(own)
        else:
            self.scale = of_amounts

    def _read_scale(self, text: str) -> Scale | None:
        """The scale that ``text`` announces, in the table's currency unless it names another."""
        scale = read_scale(text)
        return scale.reported_in(self.scale.currency) if scale is not None else None

    def _currency(self, heading: str, printed: str, number: Number, scale: Scale) -> str | None:
        """The currency of a number that is ``printed`` under ``heading``, None if neither names one."""
        if number.currency is not None:
            sign = _SHARED_SIGN.match(printed)
            return currency_of(sign[1], scale.currency) if sign else number.currency
        if self.units is not None and scale.currency == "USD":
            return None  # notes on foreign debt head columns with currencies, and give their amounts in dollars
        named = heading_currency(heading)
        return currency_of(named, scale.currency) if named is not None else None

    def _take_own_scales(self, own: Sequence[tuple[Cell, Scale | None]]) -> None:
        for cell, found in own:
            self.scales |= {cell.column + step: found for step in range(cell.span) if found is not None}

    def _heads_one(self, cell: Cell) -> bool:
        """Whether a cell is the heading of one column, and other columns hold something else."""
        above = {column: kind_of(heading, heading=True) for column, heading in self.headings.items()}
        return cell.span == 1 and len(set(above.values())) > 1 and not self.dated

    def unit(self, row: Row, section: str | None, cell: Cell, number: Number) -> ScaledUnit | None:
        """Unit and multiplier of a number; None for a dash, which takes the unit of its row."""
        heading = self.headings.get(cell.column, "")
        may_be_percent = cell.column not in self.amounts and len(heading) <= MAX_HEADING
        if number.percent or (may_be_percent and _IN_PERCENT.search(_EXCEPT.sub("", heading))):
            return "percent", 1
        if number.unit is not None:
            return number.unit, 1
        scale = self.scales.get(cell.column, self.scale)
        own_currency = self._currency(heading, cell.text, number, scale)
        if own_currency is not None and number.currency is not None and own_currency != number.currency:
            number = number._replace(currency=own_currency)
        if own_currency is not None and own_currency != scale.currency:
            scale = replace(scale, currency=own_currency)
        if self.units is not None:
            own = self.scales[cell.column].money if cell.column in self.scales else None
            named = self.units.unit(heading, row.label, section or "", cell.column, number, scale, own)
            if named is not None:
                return named
        if number.dash:
            return None
        may_be_rate = self.statement is None and number.currency is None and "," not in cell.text
        if may_be_rate and abs(number.value) <= 1000 and any(map(_is_percent_row, (row.label, section or ""))):
            return "percent", 1
        if self.statement == "equity" and not self.dated and not (number.decimals == 2 and is_per_share(row.label)):
            if _SHARES_HEADING.search(heading) and not number.currency:
                return "shares", share_scale(number.value, number.decimals, scale, moved=True)
            by_share = _PER_SHARE_TAIL.search(heading) is not None
            return (f"{scale.currency}/share", 1) if by_share else (scale.currency, scale.money)
        return row_unit(row.label, section, number.value, number.decimals, scale, number.currency)

    def period(self, label: str, column: int, block: str) -> Period:
        """The period of a number in the row ``label``. In a note, ``block`` is the period printed above the row."""
        if self.statement is None:
            period = self._note_period(label, column, block)
        else:
            period = self.calendar.period(column, self.headings)
        if self.statement is None and not _is_balance_row(label):
            label = self.headings.get(column, "")[:MAX_HEADING]  # "Balance at beginning of period" over a column
        has_balances = self.statement in ("cash_flow", "equity", None)
        if has_balances and _is_balance_row(label) and not _CHANGE.search(label):
            if _BEGINNING.search(label) and not _ENDING.search(label):
                return self.calendar.opening(period, self.headings)
            if _ENDING.search(label) or _BALANCE.search(label):
                return Period(period.end, 0)
        if self.statement == "equity" and _TOTAL_EQUITY.search(label):
            return Period(period.end, 0)
        return period

    def _dated_before(self, column: int) -> int | None:
        """The nearest column before ``column`` whose heading dates it, if another column has the heading of ``column``:
        "December 31, 2022 | Level 1 | Level 2 | December 31, 2021 | Level 1 | Level 2"."""
        heading = self.headings.get(column, "")
        if not heading or sum(heading == other for other in self.headings.values()) < 2:
            return None
        dated = (
            each for each in range(column - 1, 0, -1) if read_heading(self.headings.get(each, "")).year is not None
        )
        return next(dated, None)

    def _between(self, column: int) -> Period | None:
        """The time between the days that head the nearest dated columns before and behind ``column``: "June 30, 2018 |
        Acquisitions | June 30, 2019"."""
        days = {
            at: self.calendar.period(at, self.headings).end
            for at, text in self.headings.items()
            if read_heading(text).day
        }
        before = max((at for at in days if at < column), default=None)
        behind = min((at for at in days if at > column), default=None)
        if before is None or behind is None or (start := days[before]) is None or (end := days[behind]) is None:
            return None
        return Period(end, round((end - start).days / MONTH_DAYS)) if start < end else None

    def _is_quarterly(self) -> bool:
        """Whether the headings name the ends of a year's quarters: "September 30 | December 31 | March 31"."""
        named = (read_heading(heading) for heading in self.headings.values())
        return len({each.month for each in named if each.month is not None and each.year is None}) >= QUARTERS

    def _note_period(self, label: str, column: int, block: str) -> Period:
        """The period of a figure in a note: from its column, from ``block``, or from its row."""
        period = self.calendar.period(column, self.headings)
        heading = self.headings.get(column, "")
        read = read_heading(heading)
        if read.year is None and not read.change and not read.years:
            dated = label if is_period(label) else block
            if dated:
                period = self.calendar.period(column, {column: f"{heading} {dated}"})
        if read.month is not None and read.year is None and read.months is None and self._is_quarterly():
            return Period(period.end, 3)
        if period.end is None and not (read.change or read.years):
            if (between := self._between(column)) is not None:
                return between
            if column_before := self._dated_before(column):
                period = self.calendar.period(column_before, self.headings)
        if period.months is None and self.calendar.filing.fiscal_period == "FY" and _is_balance_row(label):
            return Period(period.end, 12)
        return period


@lru_cache(maxsize=1024)  # called for each figure of a row
def _is_balance_row(label: str) -> bool:
    return _BALANCE_ROW.search(label) is not None


@lru_cache(maxsize=1024)
def _is_percent_row(label: str) -> bool:
    return _PERCENT_ROW.search(label) is not None
