"""The text of a page as tables and prose."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.evidence.page_lines import page_lines
from finray.evidence.page_parts import Part, ProsePart, TablePart, page_parts

PDF_STATEMENT = """Table of Contents
Consolidated Statement of Cash Flows
(in millions)

2017

2016
2015
Operating Activities


Net income
$
4,908
 $
6,379 $
5,501
Restructuring and impairment
charges
295

160
230
Net Cash Provided by Operating Activities
9,994
10,673
10,864
See accompanying notes to the consolidated financial statements, which are an integral part of them.
81
"""
HTML_NOTE = """Note 3 – Earnings Per Share
The following table shows the computation of earnings per share for the years (shares in thousands):
2024 | 2023 | 2022
Numerator:
Net income | $93,736 | $96,995 | $99,803
Basic earnings per share | $6.11 | — | $(6.15)
Approximately 24 million restricted stock units were excluded from the computation because of their effect.
Acme Inc. | 2024 Form 10-K | 36
"""


def _table(parts: list[Part]) -> TablePart:
    (table,) = [part for part in parts if isinstance(part, TablePart)]
    return table


def test_rows_of_a_pdf_page_have_their_figures() -> None:
    table = _table(page_parts(PDF_STATEMENT))
    assert [(row.label, row.figures) for row in table.rows] == [
        ("Operating Activities", ()),
        ("Net income", ("$4,908", "$6,379", "$5,501")),
        ("Restructuring and impairment", ()),
        ("charges", ("295", "160", "230")),
        ("Net Cash Provided by Operating Activities", ("9,994", "10,673", "10,864")),
    ]
    assert table.rows[3].above[-1] == "Restructuring and impairment"


def test_rows_of_an_html_page_have_their_figures() -> None:
    table = _table(page_parts(HTML_NOTE, ["Note 3 – Earnings Per Share"]))
    assert [(row.label, row.figures) for row in table.rows] == [
        ("Numerator:", ()),
        ("Net income", ("$93,736", "$96,995", "$99,803")),
        ("Basic earnings per share", ("$6.11", "—", "$(6.15)")),
    ]
    assert table.title.startswith("The following table shows")


def test_running_headers_and_page_numbers_are_not_lines() -> None:
    words = [line.words for line in page_lines(PDF_STATEMENT)]
    assert "Table of Contents" not in words
    assert not any("Form 10-K" in line.words for line in page_lines(HTML_NOTE))
    assert all("81" not in line.figures for line in page_lines(PDF_STATEMENT))


def test_prose_is_apart_from_the_table() -> None:
    prose = [part for part in page_parts(HTML_NOTE) if isinstance(part, ProsePart)]
    assert prose[-1].lines[0].words.startswith("Approximately 24 million")


def test_a_second_set_of_years_begins_another_table() -> None:
    page = (
        "2023 | 2022\nCash | 1,000 | 900\nDebt | 500 | 400\n2023 | 2022 | 2021\nSales | 30 | 20 | 10\nCost | 3 | 2 | 1"
    )
    first, second = page_parts(page)
    assert isinstance(first, TablePart)
    assert isinstance(second, TablePart)
    assert [row.label for row in second.rows] == ["Sales", "Cost"]


def test_a_sentence_that_ends_with_a_figure_is_not_a_row() -> None:
    sentence = "The net increase in cash that the company has reported for the year ended December 31, 2023 was $12.8"
    assert not [part for part in page_parts(f"{sentence}\n{sentence}") if isinstance(part, TablePart)]


@pytest.mark.parametrize(
    "page",
    [
        "Amount\n2022\n$\n71 \n2023\n65 \n2024\n51\nThereafter\n507\n86",
        "2022 | $71\n2023 | 65\n2024 | 51\nThereafter | 507",
    ],
)
def test_years_are_labels_of_a_schedule(page: str) -> None:
    assert [(row.label, row.figures) for row in _table(page_parts(page)).rows] == [
        ("2022", ("$71",)),
        ("2023", ("65",)),
        ("2024", ("51",)),
        ("Thereafter", ("507",)),
    ]


def test_a_row_outside_a_table_keeps_its_figure() -> None:
    (prose,) = page_parts("Notes\nPar value of a share\n$\n0.01\nThe par value was set by the founders of the company.")
    assert isinstance(prose, ProsePart)
    assert [(line.words, line.figures) for line in prose.lines][1] == ("Par value of a share", ("$0.01",))


@given(st.text(alphabet=st.sampled_from("ab1 2,.$()%—|\n:;é\u2028\xa0"), max_size=400))
def test_parts_are_in_order_and_within_the_page(text: str) -> None:
    end = 0
    for part in page_parts(text):
        assert end <= part.start <= part.end <= len(text)
        end = part.end


@given(st.text(max_size=300))
def test_any_page_has_parts(text: str) -> None:
    page_parts(text, text.split("\n"))
