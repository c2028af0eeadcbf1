"""Tables of pages: rows of the text with the columns of their line items."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.core.filing import Filing, LineItem, Page, ParsedFiling, Place
from finray.core.query import Query
from finray.core.settings import EvidenceSettings, FilingSettings
from finray.evidence.blocks import Evidence
from finray.evidence.evidence import evidence_blocks
from finray.filings.read import parse_filing
from tests.evidence.one_filing import OneFiling
from tests.growth import assert_linear

FILING = Filing("id", "ACME_2022_10K", "f.pdf", "0" * 64, "Acme Inc.", "10-K", fiscal_year=2022, fiscal_period="FY")
FILING = replace(FILING, period_end=dt.date(2022, 12, 31))
ALL = EvidenceSettings(max_tokens=20_000, max_cells=0)
PAGE = """Segment Data
Sales and assets of each segment are as follows:
Sales
Assets
2022
2021
2022
2021
Widgets and
gadgets
$
1,200
$
1,100
40
30
Services
300
—
7
6
Other (not allocated)
5
$
1,500
$
1,100
47
36
(a)
Gadgets include those that were bought from others in both years that are shown above.
"""


def _item(row: int, column: int, label: str, text: str, year: int, column_label: str | None) -> LineItem:
    value = float("".join(c for c in text if c.isdigit()) or 0) * 1e6
    day = dt.date(year, 12, 31)
    return LineItem(
        0, None, label, value, text, "USD", 10**6, day, 12, row=row, column=column, column_label=column_label
    )


def _items() -> tuple[LineItem, ...]:
    rows = {1: ("Widgets and gadgets", "$1,200 $1,100 40 30"), 2: ("Services", "300 — 7 6")}
    rows[4] = ("Total", "$1,500 $1,100 47 36")
    heads = ("Sales 2022", None, None, "Assets 2021")
    return tuple(
        _item(row, column, label, text, 2023 - (column if column < 3 else column - 2), heads[column - 1])
        for row, (label, texts) in rows.items()
        for column, text in enumerate(texts.split(), start=1)
    )


def _evidence(
    text: str, items: tuple[LineItem, ...] = (), place: Place | None = None, asked: str = "sales"
) -> Evidence:
    page = Page(0, text, place=place, headings="Segment Data")
    facts = OneFiling(ParsedFiling(FILING, (page,), items))
    return evidence_blocks(Query(asked, asked), [facts.whole_page(0)], facts, ALL)


def test_a_table_has_heads_whole_rows_and_its_total() -> None:
    (table, *_) = [block for block in _evidence(PAGE, _items()).blocks if block.kind == "table"]
    assert table.text.split("\n") == [
        "**Segment Data — Sales and assets of each segment are as follows:**",
        "|USD millions, 12 months to|Sales Dec 2022|Sales Dec 2021|Assets Dec 2022|Assets Dec 2021|",
        "|---|---:|---:|---:|---:|",
        "|Widgets and gadgets|$1,200|$1,100|40|30|",
        "|Services|300|—|7|6|",
        "|Other (not allocated)||||5|",
        "|Total|$1,500|$1,100|47|36|",
    ]


def test_without_line_items_printed_years_head_the_columns() -> None:
    (table,) = _evidence("Sales of Acme\n2022 | 2021\nWidgets | 1,200 | 1,100\nServices | 300 | 250").blocks
    assert table.text.split("\n") == [
        "**Sales of Acme**",
        "||2022|2021|",
        "|---|---:|---:|",
        "|Widgets|1,200|1,100|",
        "|Services|300|250|",
    ]


def test_a_page_whose_text_is_out_of_order_is_shown_by_its_line_items() -> None:
    labels, figures = "Widgets and gadgets\nServices\nRents\nFees", "1,200\n300\n80\n9"
    rows = enumerate(zip(labels.split("\n"), figures.split("\n"), strict=True), start=1)
    items = tuple(_item(row, 1, label, figure, 2022, None) for row, (label, figure) in rows)
    (table, *_) = _evidence(f"Sales\n{labels}\n{figures}", items, asked="rents").blocks
    assert "|Rents|80|" in table.text.split("\n")
    assert "|USD millions, 12 months to|Dec 2022|" in table.text


def test_tagged_numbers_in_sentences_are_not_rows() -> None:
    lines = "".join(
        f"Of these, {number} million were paid in {number} regions of the country.\n" for number in range(9)
    )
    facts = tuple(
        replace(_item(10_000 + n, 0, "Payments", str(n), 2022, None), concept="us-gaap:Payments") for n in range(9)
    )
    (table, *_) = [block for block in _evidence(PAGE + lines, (*_items(), *facts)).blocks if block.kind == "table"]
    assert "|Widgets and gadgets|$1,200|$1,100|40|30|" in table.text.split("\n")
    assert "Payments" not in table.text


@pytest.mark.parametrize("place", ["signatures", "contents", "exhibit_index"])
def test_pages_that_are_not_evidence_are_left_out(place: Place) -> None:
    assert _evidence(PAGE, _items(), place) == Evidence()


def test_a_consent_of_auditors_is_not_evidence() -> None:
    consent = "Consent of Independent Registered Public Accounting Firm\nWe consent to the use of our report on sales."
    assert _evidence(consent, place="exhibit") == Evidence()
    assert _evidence("List of sales by subsidiary, of which there were three in the year.", place="exhibit").blocks


def test_titles_with_page_numbers_are_not_evidence() -> None:
    listed = "\n".join(f"Sales of region {page}\n{page}" for page in range(10, 20))
    assert not any(block.kind == "table" for block in _evidence(f"Overview\n{listed}").blocks)


def test_prose_has_its_heading_and_the_rest_of_its_sentences() -> None:
    filler = "They depend on the weather and on the prices of many raw materials."
    before = Page(0, f"{filler} Sales of widgets rose because of two acquisitions that were made by the company and")
    page = Page(1, f"of higher prices in all regions.\nOutlook\n{filler} Sales should be", headings="Outlook")
    after = Page(2, f"stable in the next year.\n{filler}")
    facts = OneFiling(ParsedFiling(FILING, (before, page, after)))
    (block,) = evidence_blocks(Query("q", "why did sales rise"), [facts.whole_page(1)], facts, ALL).blocks
    assert "Sales of widgets rose because of two acquisitions" in block.text
    assert block.text.index("**Outlook**") < block.text.index("stable in the next year.")


def test_two_passages_of_one_page_are_one_block() -> None:
    text = "Sales rose by a tenth in the year, mostly in the north of the country. " * 6
    facts = OneFiling(ParsedFiling(FILING, (Page(0, text),)))
    whole = facts.whole_page(0)
    halves = [replace(whole, end=250, text=text[:250]), replace(whole, start=220, text=text[220:])]
    (block,) = evidence_blocks(Query("q", "sales"), halves, facts, ALL).blocks
    assert block.passages == tuple(halves)
    assert block.text.count("Sales rose") == 6


def test_cells_are_only_those_of_blocks_that_fit_after_escaping() -> None:
    table = "2022 | 2021\nSales | 1,200 | 1,100\nCost | 30 | 25"
    text = f"Sales grew{' <<<<<<<<<<' * 40} in the year.\nSales of Acme\n{table}"
    items = (_item(1, 1, "Sales", "1,200", 2022, None), _item(1, 2, "Sales", "1,100", 2021, None))
    facts = OneFiling(ParsedFiling(FILING, (Page(0, text),), items))
    settings = EvidenceSettings(max_tokens=200, max_cells=0)
    assert evidence_blocks(Query("q", "sales"), [facts.whole_page(0)], facts, settings) == Evidence()


@given(st.text(alphabet=st.sampled_from("sales |\\`<1,0.\n\ufdfa"), max_size=2_000))
def test_hostile_pages_keep_to_the_budget(text: str) -> None:
    facts = OneFiling(ParsedFiling(FILING, (Page(0, text),)))
    evidence = evidence_blocks(Query("q", "sales"), [facts.whole_page(0)], facts, EvidenceSettings(max_tokens=200))
    assert evidence.tokens <= 200
    assert not re.search(r"(?<!\\)(?:\\\\)*[<`]", "".join(block.text for block in evidence.blocks))


@pytest.mark.shared
@pytest.mark.parametrize(
    ("path", "page", "row", "head"),
    [
        (
            "financebench/pdfs/AMCOR_2023Q4_EARNINGS.pdf",
            7,
            "|Net sales|3,909|3,673|14,544|14,694|",
            "|USD millions|3 months to Jun 2022|3 months to Jun 2023|12 months to Jun 2022|12 months to Jun 2023|",
        ),
        ("edgar/html/nflx-10-q-2025-07-18.html", 2, "|Revenues|$11,079,166|$9,559,310|", "3 months to Jun 2025"),
    ],
)
def test_statements_of_real_filings(shared_data: Path, path: str, page: int, row: str, head: str) -> None:
    parsed = parse_filing((shared_data / path).read_bytes(), path, FilingSettings())
    facts = OneFiling(parsed)
    evidence = evidence_blocks(Query("q", "revenues net sales"), [facts.whole_page(page)], facts, ALL)
    text = "\n".join(block.text for block in evidence.blocks)
    assert row in text
    assert head in text
    own = [item for item in parsed.line_items if item.page == page]
    assert all(item.text in text for item in own)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        (lambda n: "sales | 1,000 | 2,000\n" * n, 8_000),
        (lambda n: "sales | " + " | ".join(["1,000"] * 7 * n) + "\n" + "sales\n" * n, 3_000),
        (lambda n: "Sales rose. " * n, 16_000),
        (lambda n: "Sales\n1,000\n" * n, 15_000),
    ],
    ids=["rows", "columns", "sentences", "cells"],
)
def test_a_page_is_rendered_in_time_in_proportion_to_its_length(text: Callable[[int], str], size: int) -> None:
    def render(size: int) -> None:
        facts = OneFiling(ParsedFiling(FILING, (Page(0, text(size)),)))
        assert evidence_blocks(Query("q", "sales"), [facts.whole_page(0)], facts, EvidenceSettings()).tokens <= 3_500

    assert_linear(render, size)
