"""Questions in a spreadsheet: finds the head row and the column of questions, and keeps all other columns.

The head row is the first one that names the column of questions, so titles and a row of groups may stand above it. If
no name is known, the questions are the only column whose texts end in a question mark. The id of a row without ``qid``
is made of its question, so that the row keeps its answer if rows are added above it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from finray.batch.question_lines import BadLine, LineReader, question_id
from finray.core.errors import SourceError
from finray.core.question_fields import excerpt
from finray.core.questions import Question
from finray.storage.csv_read import read_csv
from finray.storage.sheet_rows import Row, SheetRows, is_blank, some
from finray.storage.sheets import Cell, value_of
from finray.storage.workbook_read import WORKBOOKS, Workbook

TABLES = (".csv", *WORKBOOKS)
_NAMES = ("question", "questions", "question text", "query", "prompt", "frage", "question_text")
"""What the column of questions may be called, in any case."""
_GOLD = ("answer", "exact", "question_type", "value", "unit", "program")
_HEAD_ROWS = 20
_SAMPLE = 50
_ASKING = 0.6
"""Share of texts that end in a question mark in a column of questions."""


@dataclass(frozen=True, slots=True)
class QuestionFile:
    """The lines of a question file in order.

    A table also has ``columns`` with the names from its head row, the cells of its ``rows`` by qid, and ``remarks``,
    each one line for a person.
    """

    lines: tuple[Question | BadLine, ...]
    columns: tuple[str, ...] = ()
    rows: Mapping[str, tuple[Cell, ...]] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Head:
    """``last`` is the index in ``SheetRows.rows`` of the last head row, ``question`` a 0-based column."""

    names: tuple[str, ...]
    last: int
    question: int
    remarks: tuple[str, ...] = ()


def read_question_table(
    content: bytes,
    name: str,
    *,
    max_characters: int,
    max_bytes: int,
    question_column: str | None = None,
    sheet: str | None = None,
) -> QuestionFile:
    """The questions of a CSV file or workbook called ``name``.

    ``question_column`` and ``sheet`` name what is read; by default they are found. Raises SourceError if the file
    cannot be read or has no such column or sheet.
    """
    if len(content) > max_bytes:
        raise SourceError(
            f"{name!r} has {len(content):,} bytes, more than the {max_bytes:,} of bulk.max_table_bytes; split it"
        )
    if name.lower().endswith(".csv"):
        if sheet is not None:
            raise SourceError(f"{name!r} is CSV, which has no sheets; leave out --sheet")
        rows = read_csv(content, name)
        return _questions(rows, _head(rows, name, question_column), max_characters, uneven=True)
    book = Workbook(content, name, max_bytes)
    rows, head = _chosen(book, name, question_column, sheet)
    return _questions(rows, head, max_characters, remarks=book.remarks)


def _chosen(book: Workbook, name: str, question_column: str | None, sheet: str | None) -> tuple[SheetRows, _Head]:
    """The sheet that was asked for, else the first one with a column of questions."""
    if sheet is not None and sheet not in book.names:
        raise SourceError(f"{name!r} has no sheet {sheet!r}; its sheets are {some(book.names, 10) or 'hidden'}")
    problem: SourceError | None = None
    for each in book.names if sheet is None else (sheet,):
        rows = book.rows(each)
        try:
            head = _head(rows, name, question_column)
        except SourceError as error:
            problem = problem or error
            continue
        if sheet is None and len(book.names) > 1:
            others = some([repr(other) for other in book.names if other != each])
            remark = f"{name!r}: sheet {each!r} has the questions; {others} not read (--sheet names another)"
            rows = replace(rows, remarks=(*rows.remarks, remark))
        return rows, head
    raise problem or SourceError(f"{name!r} has no visible sheet")


def _head(sheet: SheetRows, name: str, question_column: str | None) -> _Head:
    """The head row with the column of questions. Raises SourceError if there is none."""
    where = f"{name!r}, sheet {sheet.name!r}" if sheet.name else repr(name)
    if not sheet.rows:
        raise SourceError(f"{where} is empty")
    wanted = _NAMES if question_column is None else (question_column.strip().casefold(),)
    for index, row in enumerate(sheet.rows[:_HEAD_ROWS]):
        texts = [_text(cell).casefold() for cell in row.cells]
        at = next((texts.index(each) for each in wanted if each in texts), None)
        if at is not None:
            return _head_at(sheet, index, at)
    first = sheet.rows[0]
    columns = some([repr(_text(cell)) for cell in first.cells if not is_blank(cell)], 12)
    if question_column is not None:
        raise SourceError(f"{where} has no column {question_column!r}; its first row has {columns}")
    asking = [at for at in range(len(first.cells)) if _asks(sheet.rows[1 : 1 + _SAMPLE], at)]
    if len(asking) != 1:
        which = "no column of questions" if not asking else "several columns that may hold the questions"
        raise SourceError(f"{where} has {which}; name it by --question-column. Its first row has {columns}")
    head = _head_at(sheet, 0, asking[0])
    found = _text(first.cells[asking[0]]) or f"column {asking[0] + 1}"
    return replace(head, remarks=(f"{where}: the questions are taken from {found!r}", *head.remarks))


def _head_at(sheet: SheetRows, index: int, question: int) -> _Head:
    """The head that begins at row ``index`` and has the rows below whose question cell is merged with it."""
    last = index
    while last + 1 < len(sheet.rows) and question in sheet.rows[last + 1].filled:
        last += 1
    rows = sheet.rows[index : last + 1]
    width = max(len(row.cells) for row in rows)
    names = []
    for at in range(width):
        texts = [_text(row.cells[at]) for row in rows if at < len(row.cells)]
        names.append(" ".join(dict.fromkeys(filter(None, texts))))
    remarks = []
    if index:
        above = "; ".join(excerpt(" ".join(filter(None, map(_text, row.cells))), 60) for row in sheet.rows[:index])
        remarks.append(
            f"the columns are named in row {rows[0].number}; what stands above is left out: {excerpt(above)}"
        )
    if len(rows) > 1:
        remarks.append(f"rows {rows[0].number} to {rows[-1].number} name the columns together")
    return _Head(tuple(names), last, question, tuple(remarks))


def _asks(rows: Sequence[Row], at: int) -> bool:
    """Whether most texts in the column ``at`` end in a question mark."""
    texts = [text for row in rows if at < len(row.cells) and (text := _text(row.cells[at]))]
    return bool(texts) and sum(text.endswith("?") for text in texts) >= _ASKING * len(texts)


def _questions(
    sheet: SheetRows, head: _Head, max_characters: int, *, remarks: Sequence[str] = (), uneven: bool = False
) -> QuestionFile:
    reader = LineReader(max_characters)
    named = {name.strip().casefold(): at for at, name in reversed(list(enumerate(head.names)))}
    lines: list[Question | BadLine] = []
    rows: dict[str, tuple[Cell, ...]] = {}
    given: dict[str, int] = {}
    for row in sheet.rows[head.last + 1 :]:
        line = _line(row, head, named, reader, given, uneven=uneven)
        lines.append(line)
        rows[line.qid] = row.cells
    width = max((len(cells) for cells in rows.values()), default=0)
    columns = head.names + ("",) * (width - len(head.names))
    return QuestionFile(tuple(lines), columns, rows, (*remarks, *sheet.remarks, *head.remarks))


def _line(
    row: Row, head: _Head, named: Mapping[str, int], reader: LineReader, given: dict[str, int], *, uneven: bool
) -> Question | BadLine:
    asked = value_of(row.cells[head.question]) if head.question < len(row.cells) else None
    shown = asked if isinstance(asked, str) else " | ".join(filter(None, map(_text, row.cells)))
    if uneven and len(row.cells) > len(head.names):
        reason = (
            f"{len(row.cells)} cells under {len(head.names)} names of columns; a cell that contains the separator "
            "needs quotation marks"
        )
        return reader.bad(row.number, None, shown, reason)
    if head.question in row.problems:
        return reader.bad(row.number, None, shown, row.problems[head.question])
    if asked is None:
        return reader.bad(row.number, None, shown, "no question in this row")
    record: dict[str, Any] = {"question": asked, "qid": _plain(row, named.get("qid"))}
    if is_blank(record["qid"]):
        record["qid"] = question_id(str(asked), given)
    for field_name in _GOLD:
        value = _plain(row, named.get(field_name))
        number = isinstance(value, (int, float)) and not isinstance(value, bool) and field_name != "question_type"
        record[field_name] = value if value is None or isinstance(value, str) or number else str(value)
    return reader.read_record(row.number, record, shown)


def _plain(row: Row, at: int | None) -> Any:
    return None if at is None or at >= len(row.cells) or is_blank(row.cells[at]) else value_of(row.cells[at])


def _text(cell: Cell) -> str:
    value = value_of(cell)
    return "" if value is None else " ".join(str(value).split())
