"""Questions in spreadsheets as people keep them."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from finray.batch.question_files import BadLine, read_question_file, read_questions
from finray.batch.question_tables import QuestionFile, read_question_table
from finray.core.errors import SourceError
from finray.core.questions import Question
from finray.storage.sheets import Styled


def csv(text: str, **options: Any) -> QuestionFile:
    limits = {"max_characters": 8_000, "max_bytes": 1_000_000}
    return read_question_table(text.encode(), "q.csv", **(limits | options))


def xlsx(*sheets: tuple[str, list[list[Any]], list[str]], **options: Any) -> QuestionFile:
    """A workbook of (name, rows, merged ranges)."""
    book = openpyxl.Workbook(write_only=False)
    book.remove(book.active)
    for name, rows, merged in sheets:
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
        for reference in merged:
            sheet.merge_cells(reference)
    content = io.BytesIO()
    book.save(content)
    limits = {"max_characters": 8_000, "max_bytes": 50_000_000}
    return read_question_table(content.getvalue(), "q.xlsx", **(limits | options))


def asked(file: QuestionFile) -> list[str]:
    return [line.question if isinstance(line, Question) else f"{line.line}: {line.reason}" for line in file.lines]


def test_any_columns_come_along_and_the_question_column_is_found() -> None:
    file = csv("Company,QUESTION ,Note\nAcme,What was revenue?,=1+1\nBeta,Capex in 2020?,-5\n")
    assert asked(file) == ["What was revenue?", "Capex in 2020?"]
    assert file.columns == ("Company", "QUESTION", "Note")
    assert [file.rows[line.qid] for line in file.lines] == [
        ("Acme", "What was revenue?", "=1+1"),
        ("Beta", "Capex in 2020?", -5),
    ]


def test_a_column_may_be_named_or_known_by_its_question_marks() -> None:
    table = "firm,ask,why\nAcme,What was revenue?,a\nBeta,How much debt?,b\n"
    file = csv(table)
    assert asked(file) == ["What was revenue?", "How much debt?"]
    assert file.remarks == ("'q.csv': the questions are taken from 'ask'",)
    assert asked(csv(table, question_column="WHY")) == ["a", "b"]
    with pytest.raises(SourceError, match=r"no column 'text'; its first row has 'firm', 'ask', 'why'"):
        csv(table, question_column="text")
    with pytest.raises(SourceError, match="no column of questions; name it by --question-column"):
        csv("firm,year\nAcme,2020\n")
    with pytest.raises(SourceError, match="several columns that may hold the questions"):
        csv("a,b\nwho?,what?\n")


def test_rows_are_named_by_their_question_and_keep_their_name_if_rows_are_added() -> None:
    before = csv("question\nRevenue?\nCapex?\nRevenue?\n")
    after = csv("question\nNew?\nRevenue?\nCapex?\nRevenue?\n")
    assert [line.qid for line in after.lines][1:] == [line.qid for line in before.lines]
    assert len({line.qid for line in before.lines}) == 3


def test_a_column_of_ids_and_gold_answers_is_used() -> None:
    file = csv("qid,question,answer,value,unit,question_type\n7,Revenue?,$5,5.0,USD,2020\n,Capex?,,,,\n")
    first, second = file.lines
    assert isinstance(first, Question) and (first.qid, first.answer, first.unit) == ("7", "$5", "USD")
    assert isinstance(second, Question) and second.qid.startswith("q-") and second.answer is None


def test_bad_rows_are_named_and_nothing_is_lost() -> None:
    file = csv("question,note\nRevenue?,a\n,only a note\nCapex, net?,b\n" + "x" * 30 + ",c\n", max_characters=20)
    assert asked(file) == [
        "Revenue?",
        "3: no question in this row",
        "4: 3 cells under 2 names of columns; a cell that contains the separator needs quotation marks",
        "5: the question has 30 characters, more than the 20 that bulk.max_question_characters allows",
    ]
    assert file.columns == ("question", "note", "")
    assert [file.rows[line.qid] for line in file.lines][2] == ("Capex", " net?", "b")


def test_a_title_and_two_head_rows() -> None:
    rows: list[list[Any]] = [
        ["Analyst requests", None, None],
        ["Company", None, "Question"],
        ["Name", "Ticker", None],
        ["Acme", "ACM", "Revenue?"],
        ["Beta", "BET", "Capex?"],
    ]
    file = xlsx(("Ask", rows, ["A1:C1", "A2:B2", "C2:C3"]))
    assert file.columns == ("Company Name", "Ticker", "Question")
    assert asked(file) == ["Revenue?", "Capex?"]
    assert file.remarks == (
        "sheet 'Ask': merged cells (C2:C3): their value counts for every row that they cover",
        "the columns are named in row 2; what stands above is left out: Analyst requests",
        "rows 2 to 3 name the columns together",
    )


def test_merged_formula_and_number_cells_of_questions() -> None:
    rows: list[list[Any]] = [
        ["Company", "Question"],
        ["Acme", "Revenue?"],
        [None, "Capex?"],
        ["Beta", '="Debt of "&A4&"?"'],
        ["Gamma", 2020],
    ]
    file = xlsx(("Ask", rows, ["A2:A3"]))
    assert asked(file) == [
        "Revenue?",
        "Capex?",
        "4: its cell holds a formula without a stored value",
        "5: 'question' is a number, not text",
    ]
    assert [file.rows[line.qid][0] for line in file.lines] == ["Acme", "Acme", "Beta", "Gamma"]


def test_the_sheet_with_questions_is_found_or_named() -> None:
    sheets: tuple[tuple[str, list[list[Any]], list[str]], ...] = (
        ("Read me", [["Version", 2]], []),
        ("Q1", [["question"], ["a?"]], []),
        ("Q2", [["question"], ["b?"]], []),
    )
    file = xlsx(*sheets)
    assert asked(file) == ["a?"]
    assert file.remarks == ("'q.xlsx': sheet 'Q1' has the questions; 'Read me', 'Q2' not read (--sheet names another)",)
    assert asked(xlsx(*sheets, sheet="Q2")) == ["b?"]
    with pytest.raises(SourceError, match="no sheet 'Q3'; its sheets are Read me, Q1, Q2"):
        xlsx(*sheets, sheet="Q3")
    with pytest.raises(SourceError, match="no column of questions"):
        xlsx(sheets[0])


def test_the_limit_and_options_that_do_not_fit_give_one_line(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"q\.csv' has 14 bytes, more than the 10 of bulk\.max_table_bytes; split it"):
        csv("question\nwho?\n", max_bytes=10)
    with pytest.raises(SourceError, match="is CSV, which has no sheets"):
        csv("question\nwho?\n", sheet="a")
    with pytest.raises(SourceError, match="is empty"):
        csv("\n")
    records = tmp_path / "q.jsonl"
    records.write_text('{"qid": "a", "question": "who?"}\n')
    with pytest.raises(SourceError, match=r"only in \.csv and \.xlsx"):
        read_question_file(str(records), question_column="question")


def test_every_reader_of_questions_reads_tables(tmp_path: Path) -> None:
    path = tmp_path / "Q.CSV"
    path.write_text("question\nwho?\n;\n", encoding="utf-8")
    assert [type(line) for line in read_questions(str(path))] == [Question, Question]


def test_thousands_of_rows() -> None:
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("Ask")
    sheet.append(["question", "year"])
    for number in range(4_000):
        sheet.append([f"What was the revenue of company {number}?", 2020])
    content = io.BytesIO()
    book.save(content)
    file = read_question_table(content.getvalue(), "q.xlsx", max_characters=100, max_bytes=10**9)
    assert len(file.lines) == len(file.rows) == 4_000
    assert not any(isinstance(line, BadLine) for line in file.lines)


def test_formats_of_further_columns_are_kept() -> None:
    book = openpyxl.Workbook()
    book.active.append(["question", "weight"])
    book.active.append(["who?", 0.25])
    book.active["B2"].number_format = "0%"
    content = io.BytesIO()
    book.save(content)
    file = read_question_table(content.getvalue(), "q.xlsx", max_characters=100, max_bytes=10**9)
    assert file.rows[file.lines[0].qid] == ("who?", Styled(0.25, "0%"))
