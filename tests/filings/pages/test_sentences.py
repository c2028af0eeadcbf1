from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from finray.filings.pages.sentences import MAX_CHARACTERS, is_tabular, page_sentences
from tests.growth import assert_linear

PDF = """Table of Contents
Cost of Sales
2020 v. 2019
Cost of sales increased $441 million in the year that ended on December 31, 2020, primarily due to:
• increased sales volumes; and
• the unfavorable impact of foreign exchange on intercompany inventory in Europe, the U.S. and
several other countries.
Costs
Rent
1,234
1,100
Gross margin
61.2 %
60.1 %
The decrease in cost of sales as a percentage of revenues in 2020, compared to 2019, was due to lower rent, as Mr.
Smith explained.
58
"""


def texts(page: str, headings: str | None = None) -> list[str]:
    return [sentence.text for sentence in page_sentences(page, headings)]


def test_a_list_stays_with_the_sentence_that_introduces_it() -> None:
    first, second = page_sentences(PDF, "Cost of Sales")
    assert first.text.startswith("Cost of sales increased $441 million")
    assert first.text.endswith("the U.S. and several other countries.")
    assert first.heading == "Cost of Sales, 2020 v. 2019"
    assert second.text.endswith("lower rent, as Mr. Smith explained.")


def test_rows_of_a_table_are_not_sentences() -> None:
    page = "Revenue | $1,200\nWe sell anvils and other heavy goods in many countries.\nCosts 1 2 3 4 5 rose well\n"
    assert texts(page) == ["We sell anvils and other heavy goods in many countries."]


def test_a_cell_with_prose_stands_under_the_label_of_its_row() -> None:
    page = "Name | Position | Age\nJane Doe | Chief Executive Officer of the company, effective June 2013. She joined the company in June 2001. | 49"  # noqa: E501
    assert [(s.heading, s.text) for s in page_sentences(page)] == [
        ("Jane Doe", "Chief Executive Officer of the company, effective June 2013."),
        ("Jane Doe", "She joined the company in June 2001."),
    ]


def test_a_name_and_an_age_head_what_follows() -> None:
    page = (
        "Officers\nJane Doe\n52\nPresident and Chief Executive Officer of the company since December 2011, after many\n"
        "years with its largest competitor in Europe.\nJohn Roe\n48\n"
        "Secretary of the company and of all of its subsidiaries since May 2019.\n"
    )
    assert [s.heading for s in page_sentences(page)] == ["Jane Doe", "John Roe"]


def test_a_signature_is_one_stretch() -> None:
    page = (
        "We believe that our audit gives a reasonable basis for our opinion.\n/s/ Able & Baker LLP\nDenver, Colorado\n"
    )
    signature = page_sentences(page)[-1]
    assert signature.signed
    assert signature.text == "/s/ Able & Baker LLP Denver, Colorado"


@pytest.mark.parametrize(
    ("text", "tabular"),
    [
        ("Revenue | 12", True),
        ("Net sales 9,458.2 9,319.1 9,101.0 8,900.0 and more words", True),
        ("Revenue rose 3% to $12.4 million in 2022, from $12.0 million.", False),
    ],
)
def test_tables(text: str, tabular: bool) -> None:
    assert is_tabular(text) is tabular


LINES = st.one_of(
    st.text(max_size=60),
    st.sampled_from(
        ["Net sales", "1,234", "$", "• lower costs;", "due to:", "A | B | 12", "/s/ X", "2020 v. 2019", "\n", " "]
    ),
    st.sampled_from(
        ["We sold the plant in May. It was old", "and small. The U.S. market grew.", "“Quoted text.” (a) See it!"]
    ),
)


@settings(max_examples=60)
@given(st.lists(LINES, max_size=15).map("\n".join))
def test_sentences_are_quoted_in_order_and_are_not_tables(page: str) -> None:
    squeezed = " ".join(page.split())
    sentences = page_sentences(page)
    assert all(a.end <= b.start for a, b in itertools.pairwise(sentences))
    for sentence in sentences:
        assert sentence.text in squeezed
        assert sentence.text == " ".join(page[sentence.start : sentence.end].split())
        assert len(sentence.text) <= MAX_CHARACTERS or sentence.signed
        assert sentence.signed or not is_tabular(sentence.text)


@pytest.mark.parametrize("line", ["• ", "A. ", "(a) ", "2020 ", "x; ", "/s/ y\n", "A | ", "Word\n"])
def test_a_hostile_page_takes_time_in_proportion_to_its_length(line: str) -> None:
    assert_linear(lambda lines: page_sentences(line * lines), 20_000)
