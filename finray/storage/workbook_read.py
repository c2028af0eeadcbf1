"""Reads sheets of workbooks (.xlsx, .xlsm): formulas give their stored value, macros are not run.

The value of a merged cell counts for every row that it covers, as a person reads it.
"""

from __future__ import annotations

import io
import re
import warnings
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from xml.etree.ElementTree import iterparse

from finray.core.errors import SourceError
from finray.core.extras import extra
from finray.core.question_fields import excerpt
from finray.storage.sheet_rows import Row, SheetRows, is_blank, some, trimmed
from finray.storage.sheets import Cell, CellValue, Styled

WORKBOOKS = (".xlsx", ".xlsm")
_OLE = b"\xd0\xcf\x11\xe0"
_MAX_FILLED = 1_000_000
_MERGED = re.compile(rb'<(?:\w+:)?mergeCell\s[^<>]{0,80}?ref="([A-Z]{1,3}\d{1,7}:[A-Z]{1,3}\d{1,7})"')
_FORMULA = re.compile(rb"<(?:\w+:)?f[\s>/]")
_STEP = 1 << 20
_OVERLAP = 256
_NO_VALUE = "its cell holds a formula without a stored value"


class Workbook:
    """The visible sheets of a workbook, read when they are asked for.

    Raises SourceError for anything but a workbook of at most ``max_bytes`` unpacked, and MissingExtraError without
    openpyxl.
    """

    def __init__(self, content: bytes, name: str, max_bytes: int) -> None:
        with extra("sheets", "reading .xlsx"):
            from openpyxl import load_workbook
        if content.startswith(_OLE):
            raise SourceError(f"{name!r} is protected by a password, or an .xls; save it as .xlsx without a password")
        self._name = name
        try:
            self._archive = zipfile.ZipFile(io.BytesIO(content))
        except (zipfile.BadZipFile, OSError, ValueError) as error:
            raise SourceError(f"{name!r} is not a workbook: {excerpt(str(error))}") from error
        unpacked = sum(entry.file_size for entry in self._archive.infolist())
        if unpacked > max_bytes:
            raise SourceError(
                f"{name!r} has {unpacked:,} bytes unpacked, more than the {max_bytes:,} of bulk.max_table_bytes; "
                "split it, or save the sheet with the questions alone"
            )
        with _reading(name):
            self._book = load_workbook(io.BytesIO(content), read_only=True, data_only=True, keep_links=False)
            sheets = [sheet for sheet in self._book.worksheets if sheet.sheet_state == "visible"]
        self._sheets = {sheet.title: sheet for sheet in sheets}
        macros = any(entry.filename.endswith("vbaProject.bin") for entry in self._archive.infolist())
        self.remarks = (f"{name!r} has macros, which are neither run nor kept",) if macros else ()
        """Remarks about the whole workbook."""

    @property
    def names(self) -> tuple[str, ...]:
        """The visible sheets that hold cells, in order."""
        return tuple(self._sheets)

    def rows(self, sheet: str) -> SheetRows:
        """The rows of ``sheet`` that have a value of their own, not only that of a merged cell."""
        where = f"sheet {sheet!r}"
        with _reading(self._name):
            merged, formulas = self._scan(sheet)
            valueless = self._without_value(sheet) if formulas else {}
            cells, problems = self._cells(sheet, valueless, where)
            filled, spread = _fill(cells, merged, where)
        rows = (
            Row(number, tuple(values), frozenset(filled.get(number, ())), problems[number])
            for number, values in cells.items()
        )
        remarks = []
        if spread:
            remarks.append(f"{where}: merged cells ({some(spread)}): their value counts for every row that they cover")
        if valueless:
            count = sum(map(len, valueless.values()))
            places = (_place(number, at) for number in valueless for at in valueless[number])
            remarks.append(
                f"{where}: {count:,} formulas have no stored value and count as text ({some(places)}); to have their "
                "values, open and save the workbook in a spreadsheet program first"
            )
        return SheetRows(sheet, tuple(rows), tuple(remarks))

    def _cells(
        self, sheet: str, valueless: Mapping[int, Mapping[int, str]], where: str
    ) -> tuple[dict[int, list[Cell]], dict[int, dict[int, str]]]:
        """The cells of each row that is not empty, by row number, and what is wrong with them, by 0-based column.

        ``valueless`` has the formulas that take the place of a missing value.
        """
        cells: dict[int, list[Cell]] = {}
        problems: dict[int, dict[int, str]] = {}
        opened = self._sheets[sheet]
        opened.reset_dimensions()  # those in the file are often wrong
        for number, row in enumerate(opened.iter_rows(), start=1):
            values = [_cell(cell) for cell in row]
            wrong = {
                at: f"its cell holds the error {cell.value}"
                for at, cell in enumerate(row)
                if cell.data_type == "e" and cell.value is not None
            }
            for at, formula in valueless.get(number, {}).items():
                values += [None] * (at + 1 - len(values))
                values[at], wrong[at] = formula, _NO_VALUE
            if kept := trimmed(values, f"{where}, row {number}"):
                cells[number], problems[number] = list(kept), wrong
        return cells, problems

    def _scan(self, sheet: str) -> tuple[list[str], bool]:
        """The merged ranges of a sheet, and whether it has formulas: openpyxl's streaming reader gives neither."""
        merged: list[str] = []
        formulas, tail = False, b""
        with self._part(sheet) as part:
            while block := part.read(_STEP):
                text = tail + block
                formulas = formulas or _FORMULA.search(text) is not None
                merged += [found.decode() for found in _MERGED.findall(text)]
                tail = text[-_OVERLAP:]
        return list(dict.fromkeys(merged)), formulas

    def _without_value(self, sheet: str) -> dict[int, dict[int, str]]:
        """Row number → 0-based column → formula, for formulas that the program which wrote them did not compute."""
        from openpyxl.utils.cell import coordinate_to_tuple

        found: dict[int, dict[int, str]] = {}
        with self._part(sheet) as part:
            for _, element in iterparse(part):
                tag = element.tag.rpartition("}")[2]
                if tag == "c" and (place := element.get("r")):
                    children = {child.tag.rpartition("}")[2]: child for child in element}
                    if "f" in children and not ("v" in children and children["v"].text) and "is" not in children:
                        row, column = coordinate_to_tuple(place)
                        found.setdefault(row, {})[column - 1] = f"={children['f'].text or ''}"
                if tag == "row":
                    element.clear()
        return found

    def _part(self, sheet: str) -> Any:
        return self._archive.open(self._sheets[sheet]._worksheet_path)


@contextmanager
def _reading(name: str) -> Iterator[None]:
    """Turn whatever openpyxl raises for a damaged file into SourceError."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of parts that are not read: charts, validation, styles
        try:
            yield
        except (SourceError, MemoryError):
            raise
        except Exception as error:
            problem = excerpt(f"{type(error).__name__}: {error}")
            raise SourceError(f"{name!r} is a damaged workbook: {problem}") from error


def _cell(cell: Any) -> Cell:
    value: CellValue = cell.value
    if value is None or isinstance(value, (str, bool)):
        return value
    shown = cell.number_format
    return Styled(value, shown) if shown and shown != "General" else value


def _fill(cells: dict[int, list[Cell]], merged: list[str], where: str) -> tuple[dict[int, set[int]], list[str]]:
    """Copy the values of merged cells down to the rows of ``cells``. Returns the columns filled in each row, and the
    ranges whose values were copied."""
    from openpyxl.utils import range_boundaries

    filled: dict[int, set[int]] = {}
    spread: list[str] = []
    budget = _MAX_FILLED
    for reference in merged:
        left, top, _, bottom = range_boundaries(reference)
        at = left - 1
        above = cells.get(top, [])
        if at >= len(above) or is_blank(above[at]):
            continue
        budget -= min(bottom - top, len(cells))
        if budget < 0:
            raise SourceError(f"{where}: more than {_MAX_FILLED:,} cells are merged; unmerge them")
        for number in _present(cells, top + 1, bottom):
            row = cells[number]
            row.extend([None] * (at + 1 - len(row)))
            if is_blank(row[at]):
                row[at] = above[at]
                filled.setdefault(number, set()).add(at)
                if not spread or spread[-1] != reference:
                    spread.append(reference)
    return filled, spread


def _present(cells: dict[int, list[Cell]], first: int, last: int) -> Iterator[int]:
    """The rows of ``cells`` from ``first`` to ``last``, both included."""
    if last - first < len(cells):
        return (number for number in range(first, last + 1) if number in cells)
    return (number for number in sorted(cells) if first <= number <= last)


def _place(row: int, column: int) -> str:
    from openpyxl.utils import get_column_letter

    return f"{get_column_letter(column + 1)}{row}"
