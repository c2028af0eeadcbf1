"""Workbooks written here and read by openpyxl, and workbooks as people make them, read here."""

from __future__ import annotations

import datetime as dt
import io
import random
import re
import zipfile
from collections.abc import Callable
from typing import Any

import openpyxl
import pytest

from finray.core.errors import SourceError
from finray.storage import workbook_write
from finray.storage.sheets import Column, Styled
from finray.storage.workbook_read import Workbook
from finray.storage.workbook_write import WorkbookWriter

LIMIT = 50_000_000


def made(fill: Callable[[Any], None], *, title: str = "Ask") -> bytes:
    """A workbook that openpyxl writes, as a spreadsheet program would."""
    book = openpyxl.Workbook()
    book.active.title = title
    fill(book.active)
    return saved(book)


def saved(book: Any) -> bytes:
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


def edited(content: bytes, part: str, edit: Callable[[str], str]) -> bytes:
    """``content`` with one part of the package changed."""
    result = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(result, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            data = old.read(name)
            new.writestr(name, edit(data.decode()).encode() if name == part else data)
    return result.getvalue()


def test_cells_keep_type_format_and_link_and_text_is_never_a_formula() -> None:
    writer = WorkbookWriter()
    sheet = writer.sheet("answers", [Column("=head"), Column("b", 40)])
    sheet.append(["=1+1", Styled(0.125, "0%")])
    sheet.append(["#N/A", Styled("page", link="https://host/a?x=1&y=2")])
    sheet.append(["\x00 bad", True])
    sheet.append([None, dt.date(2022, 12, 31)])
    sheet.append(["+1 (415)", float("nan")])
    content = writer.content()
    book = openpyxl.load_workbook(io.BytesIO(content))
    rows = list(book["answers"].iter_rows())
    assert [row[0].value for row in rows] == ["=head", "=1+1", "#N/A", "\ufffd bad", None, "+1 (415)"]
    assert {row[0].data_type for row in rows if row[0].value} == {"s"}
    assert [rows[index][0].quotePrefix for index in (1, 2, 5)] == [True, False, True]
    assert (rows[1][1].value, rows[1][1].number_format) == (0.125, "0%")
    assert rows[2][1].hyperlink.target == "https://host/a?x=1&y=2" and rows[2][1].hyperlink.ref == "B3"
    assert (rows[3][1].value, rows[4][1].value, rows[5][1].value) == (True, dt.datetime(2022, 12, 31), "nan")
    assert b"<f>" not in zipfile.ZipFile(io.BytesIO(content)).read("xl/worksheets/sheet1.xml")
    assert (book["answers"].freeze_panes, book["answers"].auto_filter.ref) == ("A2", "A1:B6")


def test_rows_and_links_beyond_excels_limits_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workbook_write, "MAX_ROWS", 4)
    monkeypatch.setattr(workbook_write, "MAX_LINKS", 2)
    writer = WorkbookWriter()
    sheet = writer.sheet("evidence", [Column("n")])
    for number in range(7):
        sheet.append([Styled(str(number), link=f"https://host/{number}")])
    book = openpyxl.load_workbook(io.BytesIO(writer.content()))
    assert book.sheetnames == ["evidence", "evidence 2", "evidence 3"]
    assert [row[0].value for name in book.sheetnames for row in book[name].iter_rows(min_row=2)] == list("0123456")
    assert [bool(cell.hyperlink) for cell in book["evidence"]["A"]] == [False, True, True, False]


def test_values_formats_and_gaps_are_read() -> None:
    def fill(sheet: Any) -> None:
        sheet["A1"], sheet["C1"] = "Company", "When"
        sheet["A4"], sheet["B4"], sheet["C4"] = "Acme", 0.05, dt.datetime(2020, 1, 2)
        sheet["B4"].number_format = "0%"
        sheet["D9"] = "   "

    rows = Workbook(made(fill), "b.xlsx", LIMIT).rows("Ask").rows
    assert [row.number for row in rows] == [1, 4]
    assert rows[0].cells == ("Company", None, "When")
    assert rows[1].cells == ("Acme", Styled(0.05, "0%"), Styled(dt.datetime(2020, 1, 2), "yyyy-mm-dd h:mm:ss"))


def five_rows(sheet: Any) -> None:
    for number in range(5):
        sheet.append([number, "x"])


def two_rows(sheet: Any) -> None:
    sheet.append(["question", "year"])
    sheet.append(["What?", 2020])


def test_a_wrong_dimension_loses_nothing() -> None:
    content = made(five_rows)
    wrong = edited(content, "xl/worksheets/sheet1.xml", lambda xml: re.sub(r'ref="A1:B5"', 'ref="A1:A1"', xml, count=1))
    assert len(Workbook(wrong, "b.xlsx", LIMIT).rows("Ask").rows) == 5


def test_merged_cells_count_for_every_row_they_cover() -> None:
    def fill(sheet: Any) -> None:
        sheet.append(["Company", "Question"])
        sheet.append(["Acme", "a?"])
        sheet.append([None, "b?"])
        sheet.append([None, "c?"])
        sheet.merge_cells("A2:A4")
        sheet.merge_cells("A6:B9")  # holds nothing

    read = Workbook(made(fill), "b.xlsx", LIMIT).rows("Ask")
    assert [row.cells[0] for row in read.rows] == ["Company", "Acme", "Acme", "Acme"]
    assert [sorted(row.filled) for row in read.rows] == [[], [], [0], [0]]
    assert read.remarks == ("sheet 'Ask': merged cells (A2:A4): their value counts for every row that they cover",)


def test_formulas_give_their_stored_value_or_their_text() -> None:
    def fill(sheet: Any) -> None:
        sheet.append(["Question", "=1+1"])
        sheet.append(['="What was "&A1', 5])

    content = made(fill)
    stored = edited(
        content,
        "xl/worksheets/sheet1.xml",
        lambda xml: re.sub(r"(<f>1\+1</f>)<v ?/>|(<f>1\+1</f>)<v></v>", "<f>1+1</f><v>2</v>", xml),
    )
    read = Workbook(stored, "b.xlsx", LIMIT).rows("Ask")
    assert [row.cells for row in read.rows] == [("Question", 2), ('="What was "&A1', 5)]
    assert read.rows[1].problems == {0: "its cell holds a formula without a stored value"}
    (remark,) = read.remarks
    assert remark.startswith("sheet 'Ask': 1 formulas have no stored value and count as text (A2)")


def test_errors_are_marked() -> None:
    read = Workbook(made(lambda sheet: sheet.append(["#REF!", "ok"])), "b.xlsx", LIMIT).rows("Ask")
    assert read.rows[0].problems == {0: "its cell holds the error #REF!"}


def test_macros_are_named_and_hidden_sheets_left_out() -> None:
    book = openpyxl.Workbook()
    book.active.append(["x"])
    book.create_sheet("secret").sheet_state = "hidden"
    content = io.BytesIO(saved(book))
    with zipfile.ZipFile(content, "a") as archive:
        archive.writestr("xl/vbaProject.bin", b"Auto_Open")
    read = Workbook(content.getvalue(), "b.xlsm", LIMIT)
    assert read.remarks == ("'b.xlsm' has macros, which are neither run nor kept",)
    assert read.names == ("Sheet",)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"question\nx", "is not a workbook"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "protected by a password, or an .xls; save it as .xlsx"),
        (b"", "is not a workbook"),
    ],
)
def test_other_files_are_refused_in_one_line(content: bytes, message: str) -> None:
    with pytest.raises(SourceError, match=message) as raised:
        Workbook(content, "b.xlsx", LIMIT)
    assert "\n" not in str(raised.value)


def test_a_bomb_is_refused_before_it_is_unpacked() -> None:
    bomb = edited(
        made(lambda sheet: sheet.append(["x"])), "xl/worksheets/sheet1.xml", lambda xml: xml + " " * 60_000_000
    )
    assert len(bomb) < 200_000
    with pytest.raises(
        SourceError, match=r"60,\d+,\d+ bytes unpacked, more than the 50,000,000 of bulk.max_table_bytes"
    ):
        Workbook(bomb, "b.xlsx", LIMIT)


def test_entities_do_not_grow_and_files_are_not_included() -> None:
    levels = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
    doctype = f'<!DOCTYPE x [<!ENTITY e0 "0123456789">{levels}<!ENTITY f SYSTEM "file:///etc/passwd">]>'
    content = made(lambda sheet: sheet.append(["PLACE"]))
    for entity in ("&e9;", "&f;"):
        for part in ("xl/sharedStrings.xml", "xl/worksheets/sheet1.xml"):

            def hostile(xml: str, entity: str = entity) -> str:
                body = re.sub(r"^<\?xml[^>]*\?>", "", xml)
                return doctype + body.replace("PLACE", entity).replace("<v>0</v>", f"<v>{entity}</v>")

            try:
                book = Workbook(edited(content, part, hostile), "b.xlsx", LIMIT)
                rows = book.rows("Ask").rows
            except SourceError:
                continue
            assert "root:" not in str(rows) and len(str(rows)) < 10_000


def test_too_many_columns_or_merged_cells_are_refused() -> None:
    wide = made(lambda sheet: sheet.cell(1, 1_200, "x"))
    with pytest.raises(SourceError, match="1,200 columns; finray reads 1,000"):
        Workbook(wide, "b.xlsx", LIMIT).rows("Ask")

    def fill(sheet: Any) -> None:
        for number in range(1_500):
            sheet.append([number])

    ranges = '<mergeCells count="1">' + '<mergeCell ref="A1:A{}"/>' * 1_000 + "</mergeCells>"
    many = ranges.format(*range(1_048_576, 1_047_576, -1))
    hostile = edited(
        made(fill), "xl/worksheets/sheet1.xml", lambda xml: xml.replace("</sheetData>", f"</sheetData>{many}")
    )
    with pytest.raises(SourceError, match="more than 1,000,000 cells are merged"):
        Workbook(hostile, "b.xlsx", LIMIT).rows("Ask")


def test_damaged_workbooks_give_rows_or_one_error() -> None:
    content = made(two_rows)
    generator = random.Random(7)
    with zipfile.ZipFile(io.BytesIO(content)) as package:
        parts = [name for name in package.namelist() if name.endswith((".xml", ".rels"))]
    for _ in range(150):

        def damage(xml: str) -> str:
            at = generator.randrange(len(xml))
            return xml[:at] + generator.choice(["", "<", '"', "9" * 30, "&", "ü"]) + xml[at + generator.randrange(9) :]

        try:
            book = Workbook(edited(content, generator.choice(parts), damage), "b.xlsx", LIMIT)
            for name in book.names:
                book.rows(name)
        except SourceError as error:
            assert "\n" not in str(error) and len(str(error)) < 400
