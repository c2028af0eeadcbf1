"""Tables from the positions of words."""

from __future__ import annotations

import pymupdf
from hypothesis import given
from hypothesis import strategies as st

from finray.filings.pdf.grid import grids_of_words, page_grids
from finray.filings.tables.grids import Grid
from finray.filings.tables.rows import read_row

LEFT, COLUMNS = 50.0, (330.0, 400.0, 470.0)


def _page(lines: list[tuple[str, tuple[str, ...]]], size: float = 9.0, step: float = 12.0) -> pymupdf.Page:
    """A page of labels at the left and figures flush right on COLUMNS."""
    document = pymupdf.open()  # type: ignore[no-untyped-call]
    page = document.new_page()
    for number, (label, figures) in enumerate(lines):
        y = 80 + number * step
        page.insert_text((LEFT, y), label, fontsize=size)
        for right, figure in zip(COLUMNS, figures, strict=False):
            if figure:
                width = pymupdf.get_text_length(figure, fontsize=size)
                page.insert_text((right - width, y), figure, fontsize=size)
    return page


def _rows(grid: Grid) -> list[list[str]]:
    return [[cell.text for cell in row] for row in grid.rows]


def test_columns_do_not_merge() -> None:
    page = _page(
        [
            ("(in millions)", ("2022", "2021", "2020")),
            ("Net sales", ("$ 1,200", "$ 1,100", "$ 987")),
            ("Cost of sales", ("(700)", "(650)", "-")),
            ("Other", ("", "5", "4")),
        ]
    )
    (grid,) = page_grids(page, 7)
    assert grid.page == 7
    assert _rows(grid)[1:] == [
        ["Net sales", "$1,200", "$1,100", "$987"],
        ["Cost of sales", "(700)", "(650)", "-"],
        ["Other", "5", "4"],
    ]
    assert [cell.column for cell in grid.rows[3]] == [0, 2, 3]


def test_wrapped_labels_are_joined() -> None:
    page = _page(
        [
            ("Assets", ("2022", "2021", "2020")),
            ("Depreciation of property and equipment, operating", ()),
            ("lease assets, and other", ("10", "11", "12")),
            ("Inventories", ("1", "2", "3")),
            ("Net increase in cash and cash equivalents", ("4", "5", "6")),
            ("and restricted cash", ()),
        ]
    )
    (grid,) = page_grids(page, 0)
    labels = [row[0].text for row in grid.rows]
    assert "Depreciation of property and equipment, operating lease assets, and other" in labels
    assert "Net increase in cash and cash equivalents and restricted cash" in labels


def test_a_label_that_ends_in_an_abbreviation_goes_on() -> None:
    page = _page(
        [
            ("", ("2022", "2021", "2020")),
            ("Income attributable to Torvane Inc.", ()),
            ("common shareholders", ("$1.41", "$1.76", "$1.40")),
            ("This is the end.", ()),
            ("other", ("1", "2", "3")),
        ]
    )
    (grid,) = page_grids(page, 0)
    labels = [row[0].text for row in grid.rows[1:]]
    assert labels == ["Income attributable to Torvane Inc. common shareholders", "This is the end.", "other"]


def test_a_year_and_its_scale_are_one_heading() -> None:
    heads = ("2022 $ million", "2021 $ million")
    page = _page([("", heads), ("Net sales", ("14,544", "14,694")), ("Net income", ("805", "1,048"))])
    (grid,) = page_grids(page, 0)
    assert [(cell.text, cell.column) for cell in grid.rows[0]] == [(heads[0], 1), (heads[1], 2)]


def test_terms_are_figures_in_a_row_and_headings_over_columns() -> None:
    page = _page(
        [
            ("(in millions)", ("1 year", "3 years", "5 years")),
            ("Notes", ("120", "230", "340")),
            ("Expected term", ("6.5 years", "7 years", "7 years")),
            ("1 year - 5 years", ("12", "23", "34")),
        ]
    )
    (grid,) = page_grids(page, 0)
    assert _rows(grid)[2:] == [
        ["Expected term", "6.5 years", "7 years", "7 years"],
        ["1 year - 5 years", "12", "23", "34"],
    ]
    assert [row.numbers == () for row in map(read_row, grid.rows)] == [True, False, False, False]


def test_texts_between_labels_and_figures_are_no_part_of_the_label() -> None:
    def read(names: tuple[str, str]) -> list[str]:
        page = _page([("", ("2022", "2021", "2020")), *((name, ("10", "11", "12")) for name in names)])
        for number in (1, 2):
            page.insert_text((200, 80 + 12 * number), f"July 20{number + 24}", fontsize=9)
        (grid,) = page_grids(page, 0)
        return [row[0].text for row in grid.rows[1:]]

    assert read(("2025 Notes", "Other notes")) == ["2025 Notes", "Other notes"]
    assert read(("Notes", "Notes")) == ["Notes July 2025", "Notes July 2026"]


def test_a_heading_with_a_change_behind_its_years_begins_another_table() -> None:
    page = _page(
        [
            ("GAAP results", ("2022", "2021")),
            ("Net sales", ("14,544", "14,694")),
            ("Adjusted results", ("2022", "2021", "% Change")),
            ("Net sales", ("14,000", "14,100", "1")),
        ]
    )
    grids = page_grids(page, 0)
    assert [[cell.text for cell in grid.rows[0]] for grid in grids] == [
        ["GAAP results", "2022", "2021"],
        ["Adjusted results", "2022", "2021", "% Change"],
    ]


def test_headings_stay_apart_from_the_first_row_below() -> None:
    page = _page([("", ("2022", "2021", "2020")), ("Current assets:", ()), ("Cash", ("1", "2", "3"))])
    (grid,) = page_grids(page, 0)
    assert _rows(grid)[1:] == [["Current assets:"], ["Cash", "1", "2", "3"]]


def test_a_title_in_the_middle_heads_no_column() -> None:
    page = _page([("", ()), ("", ("2022", "2021", "2020")), ("Cash", ("1", "2", "3")), ("Debt", ("4", "5", "6"))])
    page.insert_text((220, 80), "Consolidated Balance Sheets", fontsize=9)
    (grid,) = page_grids(page, 0)
    assert [[(cell.text, cell.column) for cell in row] for row in grid.rows[:2]] == [
        [("Consolidated Balance Sheets", 0)],
        [("2022", 1), ("2021", 2), ("2020", 3)],
    ]


def test_a_title_that_ends_above_the_first_column_heads_it_no_more() -> None:
    page = _page([("", ()), ("", ("2022", "2021", "2020")), ("Cash", ("1", "2", "3"))])
    page.insert_text((201, 80), "Acme Outfitters Corporation Inc.", fontsize=9)
    (grid,) = page_grids(page, 0)
    assert [(cell.text, cell.column) for cell in grid.rows[0]] == [("Acme Outfitters Corporation Inc.", 0)]


def test_a_wide_heading_over_the_first_column_stays_there() -> None:
    page = _page([("", ("Share of plan assets", "", "")), ("", ("2022", "2021", "2020")), ("Cash", ("1", "2", "3"))])
    (grid,) = page_grids(page, 0)
    assert [(cell.text, cell.column) for cell in grid.rows[0]] == [("Share of plan assets", 1)]


def test_close_set_dates_head_their_own_columns() -> None:
    heading = (
        (300.0, "December"),
        (336.0, "31,"),
        (351.0, "2022"),
        (371.0, "December"),
        (407.0, "25,"),
        (422.0, "2021"),
    )
    words = [(x, 100.0, x + len(word) * 4.2, 109.0, word) for x, word in heading]
    for y in (120.0, 132.0, 144.0, 156.0):
        words += [(50.0, y, 90.0, y + 9, "Row"), (340.0, y, 368.0, y + 9, "1,000"), (412.0, y, 440.0, y + 9, "2,000")]
    (grid,) = grids_of_words(words, 0)
    assert [(cell.column, cell.text) for cell in grid.rows[0]] == [(1, "December 31, 2022"), (2, "December 25, 2021")]


def test_tables_of_other_columns_stay_apart() -> None:
    page = _page(
        [
            ("", ("2017", "2016", "2015")),
            ("Rent expense", ("$ 742", "$ 701", "$ 696")),
            ("Minimum lease payments by period", ()),
            ("", ("", "Operating Lease Payments")),
            ("2018", ("", "$ 45,200,000,000,000,000")),
            ("2019", ("", "403,000,000,000,000,000")),
        ]
    )
    first, second = page_grids(page, 0)
    assert _rows(first)[-1] == ["Rent expense", "$742", "$701", "$696"]
    assert [row[0] for row in _rows(second)[-2:]] == ["2018", "2019"]


def test_a_sentence_that_introduces_a_table_ends_the_one_above() -> None:
    page = _page(
        [
            ("Deposits", ("10", "11", "12")),
            ("The scheduled maturities of deposits were as follows:", ()),
            ("Certificates", ("1", "2", "3")),
        ]
    )
    first, second = page_grids(page, 0)
    assert _rows(first) == [["Deposits", "10", "11", "12"]]
    assert second.caption == "The scheduled maturities of deposits were as follows:"


def test_a_year_alone_heads_all_columns_below() -> None:
    page = _page(
        [
            ("", ("", "2022", "")),
            ("", ("North", "South", "East")),
            ("Revenues", ("10", "11", "12")),
            ("", ("", "2021", "")),
            ("", ("North", "South", "East")),
            ("Revenues", ("7", "8", "9")),
        ]
    )
    first, second = page_grids(page, 0)
    assert [(cell.text, cell.column, cell.span) for cell in first.rows[0]] == [("2022", 1, 3)]
    assert [(cell.text, cell.column, cell.span) for cell in second.rows[0]] == [("2021", 1, 3)]


def test_a_year_above_the_line_of_the_others_heads_its_column() -> None:
    page = _page(
        [
            ("", ("", "", "2022")),
            ("", ("2020", "2021", "")),
            ("", ("", "", "(As Restated)")),
            ("Net income", ("319", "288", "307")),
            ("Revenue", ("10", "11", "12")),
        ]
    )
    (grid,) = page_grids(page, 0)
    assert [(cell.text, cell.column, cell.span) for cell in grid.rows[0]] == [("2022", 3, 1)]


def test_years_with_footnote_marks_and_ranges_of_years_are_headings() -> None:
    page = _page(
        [
            ("", ("2021(a)", "2022", "2023 - 2027")),
            ("Pension", ("$ 1,110", "$ 960", "$ 5,385")),
            ("Retiree medical", ("65", "60", "290")),
        ]
    )
    (grid,) = page_grids(page, 0)
    assert [(cell.text, cell.column) for cell in grid.rows[0]] == [("2021(a)", 1), ("2022", 2), ("2023 - 2027", 3)]
    assert len(grid.rows) == 3


def test_a_page_of_prose_or_nothing_has_no_table() -> None:
    assert page_grids(_page([("Only words on this page, none of them a figure.", ())]), 0) == []
    assert page_grids(_page([]), 0) == []


def test_dot_leaders_and_footnote_marks_are_not_cells() -> None:
    page = _page([("Net sales . . . . . . . . .", ("10", "11", "12")), ("Other", ("1", "2", "3"))])
    page.insert_text((472, 76), "1", fontsize=5)
    (grid,) = page_grids(page, 0)
    assert _rows(grid)[0] == ["Net sales", "10", "11", "12"]


_any_words = st.tuples(st.floats(), st.floats(), st.floats(), st.floats(), st.text(max_size=8))
_placed = st.tuples(
    st.floats(0, 500),
    st.floats(0, 700),
    st.floats(0, 600),
    st.floats(0, 800),
    st.sampled_from(["$", "1,234", "(5)", "—", "Net", "2022", "sales:", ")", "%", "December", "31,"]),
)


@given(st.lists(_any_words | _placed, max_size=40))
def test_any_words_never_fail(words: list[tuple[float, float, float, float, str]]) -> None:
    for grid in grids_of_words(words, 0):
        assert grid.rows


def _words(*cells: tuple[float, float, str], size: float = 8.0) -> list[tuple[float, float, float, float, str]]:
    """The words of ``cells``, (left, top, text), each letter half as wide as ``size``."""
    words = []
    for left, top, text in cells:
        for word in text.split():
            right = left + 0.5 * size * len(word)
            words.append((left, top, right, top + size, word))
            left = right + 0.3 * size
    return words


def _flush(right: float, top: float, text: str, size: float = 8.0) -> tuple[float, float, str]:
    return right - 0.5 * size * len(text), top, text


def test_a_small_mark_between_two_lines_is_no_figure() -> None:
    words = _words((50, 100, "Balance as of September"), (50, 107.5, "30, 2022"), _flush(300, 107.5, "1,698"))
    words += _words(
        _flush(400, 107.5, "1,849"), (50, 120, "Net income"), _flush(300, 120, "9,743"), _flush(400, 120, "9,743")
    )
    mark = (305.0, 105.5, 311.0, 110.5, "(1)")
    (grid,) = grids_of_words([*words, mark], 0)
    assert _rows(grid) == [["Balance as of September 30, 2022", "1,698", "1,849"], ["Net income", "9,743", "9,743"]]


def test_a_label_set_lower_than_its_figures_is_in_their_row() -> None:
    words = _words(_flush(300, 100, "26,758"), _flush(400, 100, "24,005"), (50, 103.5, "Innovative products"))
    words += _words((50, 120, "Vaccines"), _flush(300, 120, "6,245"), _flush(400, 120, "4,464"))
    (grid,) = grids_of_words(words, 0)
    assert _rows(grid) == [["Innovative products", "26,758", "24,005"], ["Vaccines", "6,245", "4,464"]]


def test_negative_counts_are_a_column_and_ascending_marks_are_none() -> None:
    rows = (
        ("Balance 2020", "1,224", "(3)", "1,221"),
        ("Issued", "4", "(2)", "2"),
        ("Balance 2021", "1,228", "(5)", "1,223"),
    )
    words = [
        word
        for number, (label, *figures) in enumerate(rows)
        for word in _words(
            (50, 100 + 12 * number, label),
            *(_flush(x, 100 + 12 * number, f) for x, f in zip((300, 360, 420), figures, strict=True)),
        )
    ]
    (grid,) = grids_of_words(words, 0)
    assert [[cell.column for cell in row] for row in grid.rows] == [[0, 1, 2, 3]] * 3


def test_figures_inside_of_labels_do_not_make_columns() -> None:
    rows = (
        ("2017 Notes issuance of $17.0 billion", "15,000"),
        ("2020 Notes issuance of $10.0 billion", "9,000"),
        ("2021 Notes issuance of $18.5 billion", "17,500"),
    )
    words = [
        w
        for n, (label, figure) in enumerate(rows)
        for w in _words((50, 100 + 12 * n, label), _flush(400, 100 + 12 * n, figure))
    ]
    (grid,) = grids_of_words(words, 0)
    assert _rows(grid) == [list(row) for row in rows]


def test_a_range_of_rates_is_one_text() -> None:
    words = _words(
        (50, 100, "Notes"),
        (200, 100, "4.80% - 4.95%"),
        _flush(400, 100, "4,000"),
        (50, 112, "Loans"),
        _flush(400, 112, "682"),
    )
    (grid,) = grids_of_words(words, 0)
    assert [cell.text for cell in grid.rows[0]][-1] == "4,000"
    assert max(cell.column for row in grid.rows for cell in row) == 1


def test_prose_that_runs_under_the_figures_ends_the_table() -> None:
    first = _words((50, 100, "Realized gains"), _flush(300, 100, "1,043"), _flush(400, 100, "1,002"))
    prose = _words(
        (50, 124, "The following table shows the maturities of all of our marketable securities and of cash as of"),
        size=8,
    )
    rest = _words(
        (50, 136, "December 31, 2022 (in millions):"), (50, 150, "Due within one year"), _flush(400, 150, "78,065")
    )
    first_grid, second_grid = grids_of_words([*first, *prose, *rest], 0)
    assert _rows(first_grid) == [["Realized gains", "1,043", "1,002"]]
    assert _rows(second_grid)[-1] == ["Due within one year", "78,065"]


def test_a_title_word_wraps_if_it_does_not_fit() -> None:
    words = _words(
        (50, 100, "Productivity and Business"),
        (56, 109, "Processes"),
        _flush(204, 109, "23,823"),
        _flush(280, 109, "514"),
    )
    words += _words((50, 121, "Cloud"), _flush(204, 121, "5,703"), _flush(280, 121, "605"))
    (grid,) = grids_of_words(words, 0)
    assert _rows(grid) == [["Productivity and Business Processes", "23,823", "514"], ["Cloud", "5,703", "605"]]


def test_texts_behind_the_last_figures_head_no_figures() -> None:
    words = _words(
        (300, 80, "2022"), (360, 80, "Useful life"), (50, 100, "Land"), _flush(320, 100, "511"), (370, 100, "(A)")
    )
    words += _words((50, 112, "Equipment"), _flush(320, 112, "7,568"), (370, 112, "(B)"))
    (grid,) = grids_of_words(words, 0)
    assert [(cell.text, cell.column) for cell in grid.rows[0]] == [("2022", 1), ("Useful life", 2)]
