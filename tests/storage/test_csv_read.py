"""CSV as people save it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.core.errors import SourceError
from finray.storage.csv_read import read_csv


def cells(text: str | bytes) -> list[tuple[object, ...]]:
    content = text.encode() if isinstance(text, str) else text
    return [row.cells for row in read_csv(content, "q.csv").rows]


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_separator_is_found(separator: str) -> None:
    lines = [["Company", "Question"], ["Acme", '"Revenue, net; in fiscal 2020?"'], ["Beta", "Capex?"]]
    text = "\r\n".join(separator.join(line) for line in lines)
    assert cells(text) == [("Company", "Question"), ("Acme", "Revenue, net; in fiscal 2020?"), ("Beta", "Capex?")]


def test_one_column_needs_no_quotation_marks() -> None:
    assert cells("question\nWhat were revenue, capex and tax?\n\nAnd debt, net?\n") == [
        ("question",),
        ("What were revenue, capex and tax?",),
        ("And debt, net?",),
    ]


def test_excels_first_line_names_the_separator() -> None:
    read = read_csv(b"sep=;\r\na;b\r\n1;2", "q.csv")
    assert [(row.number, row.cells) for row in read.rows] == [(2, ("a", "b")), (3, (1, 2))]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_unicode_is_read_without_a_remark(encoding: str) -> None:
    read = read_csv("question,wer\nÜber 1 €?,Señor\n".encode(encoding), "q.csv")
    assert read.rows[1].cells == ("Über 1 €?", "Señor")
    assert read.remarks == ()


def test_windows_1252_is_read_with_one_line() -> None:
    read = read_csv("question;who\nÜber “1 €”?;Señor\n".encode("cp1252"), "q.csv")
    assert read.rows[1].cells == ("Über “1 €”?", "Señor")
    assert read.remarks == (
        "'q.csv' is not UTF-8 (line 2) and is read as Windows-1252; if accents are wrong, save it as 'CSV UTF-8'",
        "'q.csv': its columns are separated by a semicolon",
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a\n\x81\xff", "neither UTF-8 nor Windows-1252: line 2 has byte 0x81"),
        (b"PK\x03\x04\x00\xff", "is not text"),
        (b'a,b\n1,"open', "line 2: unexpected end of data; check its quotation marks"),
        (b'a,b\n1,"x"y\n', "line 2: .*expected after"),
        (b"\xff\xfea", "is damaged"),
    ],
)
def test_unreadable_files_give_one_line(content: bytes, message: str) -> None:
    with pytest.raises(SourceError, match=message) as raised:
        read_csv(content, "q.csv")
    assert "\n" not in str(raised.value)


def test_only_numbers_that_print_the_same_become_numbers() -> None:
    texts = ("007", "1.50", "1e5", "9999999999999999", "-0", "0.00001", "1٢")
    assert cells(",".join(("2022", "-5", "1.5", "0.0001", *texts))) == [(2022, -5, 1.5, 0.0001, *texts)]


def test_rows_know_their_line() -> None:
    read = read_csv(b'a,b\n"two\nlines",1\n\n,\nx,2\n', "q.csv")
    assert [(row.number, row.cells) for row in read.rows] == [(1, ("a", "b")), (2, ("two\nlines", 1)), (6, ("x", 2))]


@given(st.binary(max_size=200))
def test_any_bytes_give_rows_or_one_error(content: bytes) -> None:
    try:
        read = read_csv(content, "q.csv")
    except SourceError as error:
        assert "\n" not in str(error)
    else:
        assert all(row.cells for row in read.rows)
