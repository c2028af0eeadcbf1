"""Reads lists of companies: a text file with one on each line, or a table with a column for them."""

from __future__ import annotations

from finray.core.errors import SourceError
from finray.storage.csv_read import read_csv
from finray.storage.locations import read_bytes
from finray.storage.sheet_rows import SheetRows
from finray.storage.sheets import value_of
from finray.storage.workbook_read import WORKBOOKS, Workbook

_NAMES = ("company", "companies", "name", "ticker")


def read_companies(uri: str, max_bytes: int) -> list[str]:
    """The companies in the file at ``uri``, each once. Raises SourceError if there are none."""
    content, name = read_bytes(uri), uri.lower()
    if name.endswith(WORKBOOKS):
        book = Workbook(content, uri, max_bytes)
        found = _column(book.rows(book.names[0])) if book.names else []
    elif name.endswith(".csv"):
        found = _column(read_csv(content, uri))
    else:
        try:
            found = [line.strip() for line in content.decode("utf-8-sig").splitlines()]
        except UnicodeDecodeError as error:
            raise SourceError(f"{uri!r} is not UTF-8 text: {error.reason} at byte {error.start}") from error
    companies = list(dict.fromkeys(filter(None, found)))
    if not companies:
        raise SourceError(f"{uri!r} names no company")
    return companies


def _column(sheet: SheetRows) -> list[str]:
    """The texts of the column called company, else of the first column."""
    rows = [[str(value_of(cell) or "").strip() for cell in row.cells] for row in sheet.rows]
    head = [text.casefold() for text in rows[0]] if rows else []
    at = next((head.index(name) for name in _NAMES if name in head), None)
    return [row[at or 0] for row in rows[at is not None :] if len(row) > (at or 0)]
