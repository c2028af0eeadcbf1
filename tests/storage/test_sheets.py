"""Text that must not become a formula, in CSV as a spreadsheet would open it."""

from __future__ import annotations

import csv
import datetime as dt
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.storage.csv_write import CsvWriter
from finray.storage.sheets import (
    MAX_CELL_CHARACTERS,
    Cell,
    Column,
    begins_formula,
    cell_text,
    number_format,
)

HOSTILE = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", " =1", "＝1+1", '=HYPERLINK("http://x")']


def written(*rows: list[Cell]) -> tuple[str, list[list[str]]]:
    table = CsvWriter([Column("a"), Column("b")])
    for row in rows:
        table.append(row)
    text = table.content().decode("utf-8-sig")
    return text, list(csv.reader(io.StringIO(text, newline="")))[1:]


@pytest.mark.parametrize("text", HOSTILE)
def test_text_that_may_be_a_formula_gets_an_apostrophe(text: str) -> None:
    assert begins_formula(text)
    assert written([text, 1])[1] == [["'" + text, "1"]]


@pytest.mark.parametrize("text", ["-5", "+3.2%", "-1,234.5", "Revenue", "a=b", "", "1=1", "—", "(5)"])
def test_numbers_and_other_text_come_back_unchanged(text: str) -> None:
    assert written([text, None])[1] == [[text, ""]]


def test_text_is_quoted_so_that_no_other_separator_splits_it() -> None:
    text, rows = written(["x;=1+1", -1_577_000_000.0], [dt.date(2022, 12, 31), True])
    assert '"x;=1+1",-1577000000\r\n' in text
    assert rows == [["x;=1+1", "-1577000000"], ["2022-12-31", "TRUE"]]


@given(st.text(max_size=60))
def test_any_text_survives(text: str) -> None:
    ((first, second),) = written([text, "end"])[1]
    assert second == "end"
    clean = text.encode("utf-8", errors="replace").decode()
    assert first.removeprefix("'").replace("\r\n", "\n") == clean.removeprefix("'").replace("\r\n", "\n")
    assert not begins_formula(first)


def test_a_cell_holds_what_excel_can_hold() -> None:
    assert cell_text("a\x00b\x0bc\ud800") == "a\ufffdb\ufffdc\ufffd"
    assert len(cell_text("x" * 40_000)) == MAX_CELL_CHARACTERS
    assert cell_text("tab\tand\nline") == "tab\tand\nline"


def test_numbers_have_the_format_of_their_unit() -> None:
    assert number_format("USD", 1_577_000_000.0) == "#,##0"
    assert number_format("USD", 12.5) == "#,##0.00"
    assert number_format("USD/share", 5.01) == "#,##0.00##"
    assert number_format("percent", 12.5) == '0.0#"%"'
    assert number_format("ratio", 1.0) == "#,##0"
