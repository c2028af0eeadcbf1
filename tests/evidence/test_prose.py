"""The prose of a page, beside its tables."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.core.filing import Page
from finray.evidence.prose import Prose, page_lines, prose_of
from finray.evidence.tables import ShownTable
from tests.evidence.one_filing import OneFiling, html_table, parsed
from tests.growth import assert_linear

FILLER = "The weather was mild in the north of the country."


def _texts(parts: list[Prose]) -> list[str]:
    return [sentence.text for part in parts for sentence in part.sentences]


def _of_html(page: str) -> list[Prose]:
    filing = parsed(page)
    printed = filing.pages[1]
    tables = OneFiling(filing).tables([("", 1)])["", 1]
    return prose_of(printed, [ShownTable.of(table, printed, filing.filing) for table in tables])


@pytest.mark.parametrize(
    ("above", "below"),
    [
        ("Table of Contents", "81"),
        ("Index to Consolidated Financial Statements", "Page 12"),
        ("", "Acme Inc. | 2024 Form 10-K | 36"),
        ("", "F-12"),
        ("Table of Contents\n7", "- 7 -"),
    ],
)
def test_running_headers_and_footers_are_left_out(above: str, below: str) -> None:
    page = f"{above}\n\n{FILLER}\n\n{below}\n"
    assert [line.text for line in page_lines(page)] == [FILLER]


def test_only_one_number_at_the_edge_is_that_of_the_page() -> None:
    assert [line.text for line in page_lines(f"{FILLER}\n1200\n81")] == [FILLER, "1200"]


def test_sentences_go_on_over_lines() -> None:
    text = "Sales rose by 5%  in\nthe year. Costs at Acme Inc. fell,\nas did those of the U.S. business.\n• Rents rose."
    (part,) = prose_of(Page(0, text), ())
    assert [sentence.text for sentence in part.sentences] == [
        "Sales rose by 5% in the year.",
        "Costs at Acme Inc. fell, as did those of the U.S. business.",
        "• Rents rose.",
    ]
    assert text[part.sentences[1].start : part.sentences[1].end].endswith("as did those of the U.S. business.")


def test_headings_are_marked_and_not_part_of_a_sentence() -> None:
    (part,) = prose_of(Page(0, f"{FILLER}\nOutlook\nSales may rise.", headings="Outlook"), ())
    assert [(sentence.text, sentence.is_heading) for sentence in part.sentences] == [
        (FILLER, False),
        ("Outlook", True),
        ("Sales may rise.", False),
    ]


def test_rows_of_a_table_of_words_stay_apart() -> None:
    (part,) = prose_of(Page(0, f"{FILLER}\nName | Office\nA. Bell | Chair\nB. Coe | Treasurer\n{FILLER}"), ())
    assert [sentence.text for sentence in part.sentences] == [
        FILLER,
        "Name | Office",
        "A. Bell | Chair",
        "B. Coe | Treasurer",
        FILLER,
    ]


def test_references_to_the_notes_are_left_out() -> None:
    page = "See accompanying notes.\nThe accompanying notes are an integral part of these financial statements."
    assert prose_of(Page(0, page), ()) == []


def test_prose_has_neither_rows_nor_heads_of_tables() -> None:
    heads = "\n| Sales*2 | Assets*2\n| 2022 | 2021 | 2022 | 2021\n"
    rows = f"{heads}Widgets | $1,200 | $1,100 | 40 | 30\nRents | 3 | — | 7 | 6"
    parts = _of_html(
        f"<p>{FILLER}</p><p>Note 3</p><p>Sales of each segment are (in millions):</p>{html_table(rows)}"
        "<p>Gadgets include parts that others made.</p><p>999</p><p>Rents are paid in advance.</p>"
    )
    assert _texts(parts) == [
        FILLER,
        "Gadgets include parts that others made.",
        "Rents are paid in advance.",
    ]


def test_prose_between_tables_is_a_part_of_its_own() -> None:
    table = html_table("\n| 2022 | 2021\nSales | 30 | 20\nCost | 3 | 2")
    between = "Costs fell because prices of steel fell in the north."
    above = "<p>Note 3</p><p>By year:</p>"
    pages = (
        f"<p>{FILLER}</p>{above}{table}<p>{between}</p>{above}",
        f"{table.replace('Sales', 'Rents')}<p>Rents rose.</p>",
    )
    parts = _of_html("".join(pages))
    assert _texts(parts[:1]) == [FILLER]
    assert between in _texts(parts[1:2])
    assert _texts(parts[2:]) == ["Rents rose."]


def test_amounts_without_a_scale_have_that_of_the_tables() -> None:
    page = (
        "<p>(in thousands)</p>"
        + html_table("\n| 2022 | 2021\nSales | $30,500 | $20,400\nCost | 3,000 | 2,000")
        + "<p>Of our sales, $12,500 were made to customers in the north of the country.</p>"
    )
    assert {part.scale for part in _of_html(page)} == {1_000}


@given(st.text(alphabet=st.sampled_from("ab1 2,.$()%—|\n:;é\u2028\xa0•A"), max_size=400))
def test_sentences_are_in_order_and_within_the_page(text: str) -> None:
    start = 0
    for part in prose_of(Page(0, text, headings="ab"), ()):
        for sentence in part.sentences:
            assert start <= sentence.start <= sentence.end <= len(text)
            assert "".join(sentence.text.split())[:5] in "".join(text[sentence.start : sentence.end].split())
            start = sentence.start


@pytest.mark.parametrize(
    "text",
    [
        lambda n: "Sales rose. " * n,
        lambda n: ".)))" * n + "\n" + '."' * n,
        lambda n: "a\n" * n,
        lambda n: "A. " * n,
        lambda n: "see the notes | " * n,
    ],
    ids=["sentences", "closing marks", "lines", "abbreviations", "cells"],
)
def test_a_page_is_read_in_time_in_proportion_to_its_length(text: Callable[[int], str]) -> None:
    assert_linear(lambda size: prose_of(Page(0, text(size)), ()), 16_000)
