"""Reads CSV as people save it: any usual separator, UTF-8, UTF-16 or Windows-1252.

The separator is the one that splits the first lines most often and most evenly; a table of one column has none, so its
questions may hold commas without quotation marks.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
import sys

from finray.core.errors import SourceError
from finray.storage.sheet_rows import Row, SheetRows, trimmed
from finray.storage.sheets import CellValue

_SEPARATORS = ",;\t|"
_NONE = "\x1f"
"""Splits nothing: no text file has it."""
_NAMES = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a vertical bar"}
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_SAMPLE_LINES = 20
_NUMBER = re.compile(r"-?\d{1,15}|-?\d{1,10}\.\d{0,5}[1-9]", re.ASCII)


def read_csv(content: bytes, name: str) -> SheetRows:
    """The rows of a CSV file. Raises SourceError for bytes that are not text, and for a quotation mark left open."""
    text, remarks = _decoded(content, name)
    first, _, rest = text.partition("\n")
    skipped = 0
    if stated := re.fullmatch(r'"?sep=(.)"?\s*', first, re.I):  # Excel's own first line
        separator, text, skipped = stated[1], rest, 1
    else:
        separator = _separator(text)
        if separator not in (_NONE, ","):
            remarks.append(f"{name!r}: its columns are separated by {_NAMES[separator]}")
    csv.field_size_limit(sys.maxsize)  # the size of the file is limited already
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    rows: list[Row] = []
    line = 1 + skipped
    try:
        for values in reader:
            if cells := trimmed([_value(value) for value in values], f"{name!r}, line {line}"):
                rows.append(Row(line, cells))
            line = reader.line_num + 1 + skipped
    except csv.Error as error:
        raise SourceError(
            f"{name!r}, line {line}: {error}; check its quotation marks (inside a cell they are doubled)"
        ) from error
    return SheetRows("", tuple(rows), tuple(remarks))


def _decoded(content: bytes, name: str) -> tuple[str, list[str]]:
    for mark, encoding in _BOMS:
        if content.startswith(mark):
            try:
                return content[len(mark) :].decode(encoding), []
            except UnicodeDecodeError as error:
                raise SourceError(f"{name!r} is damaged: {error.reason} at byte {error.start + len(mark)}") from error
    try:
        return content.decode("utf-8"), []
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        if b"\0" in content:
            raise SourceError(f"{name!r} is not text; save it as 'CSV UTF-8' or as .xlsx") from error
        try:
            text = content.decode("cp1252")
        except UnicodeDecodeError:
            raise SourceError(
                f"{name!r} is neither UTF-8 nor Windows-1252: line {line} has byte 0x{content[error.start]:02x}; "
                "save it as 'CSV UTF-8'"
            ) from error
        remark = (
            f"{name!r} is not UTF-8 (line {line}) and is read as Windows-1252; if accents are wrong, save it as "
            "'CSV UTF-8'"
        )
        return text, [remark]


def _separator(text: str) -> str:
    """The separator that splits most of the first records into as many cells as the first one, at least two."""
    sample = text[: 1 << 16]
    best, most = _NONE, (0, 0)
    for separator in _SEPARATORS:
        counts = _cell_counts(sample, separator)
        if counts and counts[0] > 1:
            score = (counts.count(counts[0]), counts[0])
            if score > most:
                best, most = separator, score
    return best


def _cell_counts(sample: str, separator: str) -> list[int]:
    """Number of cells of each of the first records that are not empty."""
    counts: list[int] = []
    try:
        for values in csv.reader(io.StringIO(sample, newline=""), delimiter=separator):
            if values:
                counts.append(len(values))
            if len(counts) == _SAMPLE_LINES:
                break
    except csv.Error:  # the sample may end inside a quoted cell; reading the whole file reports what is wrong
        pass
    return counts


def _value(text: str) -> CellValue:
    """A number only if it prints as ``text`` again: a year, not an account number with leading zeros."""
    if _NUMBER.fullmatch(text):
        number = float(text) if "." in text else int(text)
        if str(number) == text:
            return number
    return text or None
