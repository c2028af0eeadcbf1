"""Reads the tables of a page: label, value, unit and period of every number.

Values are in base units: dollars, dollars per share, shares. Cells printed with "%" have unit "percent" and keep the
printed number (12.5). Numbers in parentheses are negative, a dash in a numeric column is 0.0, an empty cell gives no
line item. ``months`` is 0 for an instant (balance sheets, opening and closing balances), None if unknown.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, takewhile

from finray.core.filing import Filing, LineItem, Statement
from finray.core.tables import Row, Table, line_items
from finray.filings.tables.cells import is_year, parse_number
from finray.filings.tables.columns import Columns
from finray.filings.tables.continued import Unfinished
from finray.filings.tables.currencies import currency_of, stated_currency
from finray.filings.tables.grids import Grid
from finray.filings.tables.note_units import NoteUnits, is_contents, without_share_scales
from finray.filings.tables.periods import Calendar, Period
from finray.filings.tables.reader import TableReader
from finray.filings.tables.scales import Scale, read_scale
from finray.filings.tables.statements import table_statement, title_kind
from finray.filings.tables.tags import Tags

HEAD_LINES = 25
"""Lines at the top of a page that may have its title, scale and periods."""
MAX_SCALED_ROWS = 20
MAX_INTRODUCTION = 1_500
"""Characters above a table that may introduce it."""
_NEAR = 1_500
"""Characters of a page's text between two rows, such as notes below the first."""
MAX_SOUGHT = 200
"""Rows that are looked for in the whole text of a page, because they are not near the row before: each costs a pass."""
_FIRST_WORDS = 3
"""Words by which the beginning of a row is found; the others may be on its next line."""
_MOST_PLACES = 8
"""Places in the text that are tried for a row."""
_SAME_ROW = 400
"""Characters between two cells of a row."""
_FOOT = 25
"""Characters; shorter lines at the end of a page are its number and running foot."""
_SENTENCE_END = re.compile(r"\.\s+(?=[A-Z])")
_FIGURE = re.compile(r"\d(?:,\d{3}(?!\d)|\.\d)")
_LONE_FIGURE = re.compile(r"\$\s*(?:[\d(]|$)|\(\d+\)$")
"""At the start of a line."""


def extract_line_items(
    grids: Sequence[Grid],
    page_text: str,
    statement: Statement | None,
    filing: Filing,
    *,
    before: str = "",
    usual: Scale | None = None,
    reported: str = "USD",
    undated: bool = False,
    tags: Tags | None = None,
    of: Sequence[str | None] = (),
    unfinished: Unfinished | None = None,
) -> list[LineItem]:
    """Every number in a numeric column of a labeled row of ``grids``, the tables of one page.

    The scale is that of the page, else of ``before`` (the text of the page before, for continued statements), else
    ``usual`` (the scale of the filing's statements). The currency is that of the scale, else the one that the head of a
    statement states, else ``reported``, that of the filing. ``row`` counts rows over the page; ``column`` is that of
    the grid. Odd tables raise no errors; rows without label or number are skipped. If ``statement`` is None (notes,
    management's discussion), a number whose table shows no date has no ``period_end``; with ``undated`` it gets the
    filing's own, for callers that know that the table is about it. ``tags`` are the filing's inline XBRL; a number's
    tag overrides the period, unit and scale of its headings. ``of`` has the registrant of each grid in a combined
    report. ``unfinished`` is the last table of the page before, which may go on without its heads.
    """
    options = Page(before, usual, reported, undated, tags or Tags(), of, unfinished)
    return [
        item for table in read_page(grids, page_text, statement, filing, options).tables for item in line_items(table)
    ]


@dataclass(frozen=True, slots=True)
class Page:
    """What is known of a page besides its tables; :func:`extract_line_items` explains each."""

    before: str = ""
    usual: Scale | None = None
    reported: str = "USD"
    undated: bool = False
    tags: Tags = field(default_factory=Tags)
    of: Sequence[str | None] = ()
    unfinished: Unfinished | None = None


@dataclass(frozen=True, slots=True)
class PageTables:
    """The tables of a page, top to bottom. The first of them goes on from the page before if it ``continues``;
    ``unfinished`` is the last one if it may go on overleaf."""

    tables: tuple[Table, ...] = ()
    continues: bool = False
    unfinished: Unfinished | None = None


def read_page(
    grids: Sequence[Grid], page_text: str, statement: Statement | None, filing: Filing, known: Page
) -> PageTables:
    """The tables of one page, with units and periods as :func:`extract_line_items` reads them."""
    if not grids:
        return PageTables()
    before, usual, reported, of = known.before, known.usual, known.reported, known.of
    unfinished, still = known.unfinished, None
    head = _head_of(page_text)
    if statement is None:
        announced = read_scale(_without_other_scales(page_text, grids))
        scale = announced or usual or Scale()
    else:
        announced = None
        scale = read_scale(head) or read_scale(page_text) or read_scale(before) or usual or Scale()
        if (named := stated_currency(head)) is not None:
            reported = currency_of(named, reported)
    scale = scale.reported_in(reported)
    calendar = Calendar(filing, statement, head)
    found: list[Table] = []
    continues = False
    headings: dict[int, str] = {}
    offset = 0
    for number, grid in enumerate(grids):
        own, own_scale, units = statement, scale, None
        rest = unfinished if number == 0 and unfinished and unfinished.goes_on(grid, page_text, title_kind) else None
        registrant = of[number] if of else None
        if rest is not None:
            continues = True
            own, own_scale = rest.statement, rest.scale
            registrant = registrant or rest.registrant
            calendar = rest.calendar
            if own is None:
                units = NoteUnits.of(grid, page_text, head, announced=True)
        elif statement is None:
            if is_contents(grid):
                continue
            # A table of a note has its own scale and period, in its headings or its caption.
            stated = read_scale(without_share_scales(grid.caption)) or announced
            calendar = Calendar(filing, None, grid.caption)
            own_scale = stated.reported_in(reported) if stated is not None else scale
            headings = {} if grid.caption else headings
            units = NoteUnits.of(grid, page_text, head, announced=stated is not None)
        elif len(grids) > 1:
            own = table_statement([row[0].text for row in grid.rows if row[0].column == 0], statement)
            calendar = replace(calendar, statement=own)
        columns = Columns.of(grid, own, calendar, own_scale, headings, units)
        if rest is not None:
            rest.columns_for(columns)
        read = TableReader(grid, columns, known.tags).read(offset, registrant)
        found += read if statement is not None else _introduced(read, page_text, before, calendar)
        calendar, headings = columns.calendar, columns.headings
        still = Unfinished.of(columns, grid, page_text, head, registrant) if number == len(grids) - 1 else None
        offset += len(grid.rows)
    if statement is None and known.undated:
        found = [_dated(table, Period(filing.period_end, None)) for table in found]
    numbered = tuple(replace(table, number=number) for number, table in enumerate(placed(found, page_text)))
    return PageTables(numbered, continues and bool(numbered), still)


def _introduced(found: list[Table], page_text: str, before: str, calendar: Calendar) -> list[Table]:
    """``found``, the tables of a note's grid, each dated by the text since the last figure above it if nothing in it or
    its caption dates any figure: "The fair value of our assets at June 2, 2023 was:"."""
    return [_introduced_one(table, page_text, before, calendar) for table in found]


def _introduced_one(table: Table, page_text: str, before: str, calendar: Calendar) -> Table:
    figures = [(row, cell) for row in table.rows if row.label for cell in row.cells if cell.value is not None]
    if not figures or any(cell.period_end is not None for _, cell in figures):
        return table
    at = max(0, _place_of(figures[0][0].label, figures[0][1].text, page_text))
    lines = page_text[max(0, at - MAX_INTRODUCTION) : at].split("\n")
    above = list(takewhile(lambda line: not _FIGURE.search(line) and not _LONE_FIGURE.match(line), reversed(lines)))
    text = "\n".join(reversed(above))
    # The last sentence introduces the table; those before it may name other dates.
    sentences = _SENTENCE_END.split(text.strip())
    overleaf = "\n".join(line for line in before[-MAX_INTRODUCTION // 2 :].split("\n") if len(line) > _FOOT)
    introduces = len(above) == len(lines) and overleaf.rstrip().endswith(":")
    texts = [sentences[-1], text, *([_SENTENCE_END.split(overleaf)[-1]] if introduces else [])]
    periods = (replace(calendar, titles=titles).period(0, {}) for titles in texts)
    return next((_dated(table, period) for period in periods if period.end is not None), table)


def _place_of(label: str, figure: str, page_text: str) -> int:
    """Where a row begins with ``label`` and its first ``figure`` soon after, -1 if nowhere."""
    figure = figure.strip("$()% ")
    at = page_text.find(label)
    while at >= 0 and figure not in page_text[at : at + len(label) + _SAME_ROW // 4]:
        at = page_text.find(label, at + 1)
    return at


def _dated(table: Table, period: Period) -> Table:
    """``table`` with ``period`` for the figures that have no date."""
    return replace(table, rows=tuple(_dated_row(row, period) for row in table.rows))


def _dated_row(row: Row, period: Period) -> Row:
    cells = (
        replace(cell, period_end=period.end, months=period.months if cell.months is None else cell.months)
        if cell.value is not None and cell.period_end is None
        else cell
        for cell in row.cells
    )
    return replace(row, cells=tuple(cells))


def placed(found: Sequence[Table], page_text: str) -> list[Table]:
    """``found`` with the place of each row in ``page_text``: from its label, or its first figure, to its last one."""
    at = sought = 0
    result: list[Table] = []
    for table in found:
        rows: list[Row] = []
        for row in table.rows:
            first = row.label or (row.cells[0].text if row.cells else "")
            begins = _begin(page_text, first, at)
            if begins is None and first and sought < MAX_SOUGHT:  # a page whose text is not in reading order
                sought += 1
                begins = page_text.find(first) if page_text.count(first) == 1 else None
            if begins is None:
                rows.append(row)
                continue
            ends = begins
            for text in (row.label, *(cell.text for cell in row.cells)):
                ends = _end(page_text, text, ends) or ends
            # ``replace`` takes several times as long.
            rows.append(Row(row.page, row.row, row.label, row.cells, row.section, row.depth, begins, ends))
            at = ends
        result.append(replace(table, rows=tuple(rows)))
    return result


def _begin(page_text: str, text: str, at: int) -> int | None:
    """Where a row that begins with ``text`` begins, at or soon after ``at``; None if it does not. A short text must be
    all that its line has before a figure: "Sales" does not begin "Sales are as follows"."""
    words = text.split()[:_FIRST_WORDS]
    if not words:
        return None
    end = at + _NEAR
    for _ in range(_MOST_PLACES):
        found = page_text.find(" ".join(words), at, end)
        if found < 0:
            break
        at = found + 1
        rest = page_text[found + len(text) : found + len(text) + 2].lstrip(" ")
        if len(words) == _FIRST_WORDS or not rest[:1].isalpha():
            return found
    return None


def _end(page_text: str, text: str, at: int) -> int | None:
    """The end of the last word of ``text``, soon after ``at``."""
    word = text.rpartition(" ")[2]
    found = page_text.find(word, at, at + _SAME_ROW) if word else -1
    return found + len(word) if found >= 0 else None


def _without_other_scales(page_text: str, grids: Sequence[Grid]) -> str:
    """``page_text`` without scales that are not those of its amounts: of shares, and of rows that give their own
    ("Square feet (in thousands)")."""
    first = ((row[0].text, row[-1].text) for grid in grids for row in grid.rows if len(row) > 1 and not row[0].column)
    scaled = (label for label, figure in first if parse_number(figure) and not is_year(figure) and read_scale(label))
    for label in islice(scaled, MAX_SCALED_ROWS):
        page_text = page_text.replace(label, "")
    return without_share_scales(page_text)


def _head_of(page_text: str) -> str:
    """The lines above the page's first figures."""
    lines = (" ".join(line.split()) for line in page_text[:6000].split("\n"))
    before = takewhile(lambda line: not (_FIGURE.search(line) or _LONE_FIGURE.match(line)), filter(None, lines))
    return "\n".join(islice(before, HEAD_LINES))
