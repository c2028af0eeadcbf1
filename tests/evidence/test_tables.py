"""Stored tables and prose as they are shown."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finray.core.filing import Filing, Page, ParsedFiling, Place
from finray.core.query import Query
from finray.core.settings import EvidenceSettings
from finray.evidence.blocks import EvidenceBlock
from finray.evidence.evidence import evidence_blocks
from finray.evidence.rendering import letters
from tests.evidence.one_filing import OneFiling, html_table, parsed
from tests.growth import assert_linear

FILING = Filing("id", "ACME_2022_10K", "f.pdf", "0" * 64, "Acme Inc.", "10-K", fiscal_year=2022, fiscal_period="FY")
FILING = replace(FILING, period_end=dt.date(2022, 12, 31))
ALL = EvidenceSettings(max_tokens=20_000)
SEGMENTS = "<p>Segment Data</p><p>Sales and assets of each segment are (in millions):</p>" + html_table("""
| Sales*2 | Assets*2
| 2022 | 2021 | 2022 | 2021
Widgets and gadgets | $1,200 | $1,100 | 40 | 30
Services | 300 | — | 7 | 6
Other (not allocated) | | | | 5
Total | $1,500 | $1,100 | 47 | 41
""")


def _shown(parsed_filing: ParsedFiling, page: int, asked: str, settings: EvidenceSettings) -> tuple[EvidenceBlock, ...]:
    facts = OneFiling(parsed_filing)
    return evidence_blocks(Query(asked, asked), [facts.whole_page(page)], facts, settings)


def _of_html(*pages: str, page: int = 1, asked: str = "sales") -> tuple[EvidenceBlock, ...]:
    return _shown(parsed(*pages), page, asked, ALL)


def _of_text(text: str, place: Place | None = None, settings: EvidenceSettings = ALL) -> tuple[EvidenceBlock, ...]:
    return _shown(ParsedFiling(FILING, (Page(0, text, place=place),)), 0, "sales", settings)


def test_a_table_has_heads_units_whole_rows_and_its_total() -> None:
    (table,) = _of_html(SEGMENTS)
    assert table.text.split("\n") == [
        "**Segment Data Sales and assets of each segment are (in millions):**",
        "|USD millions|Sales 2022|Sales 2021|Assets 2022|Assets 2021|",
        "|---|---:|---:|---:|---:|",
        "|Widgets and gadgets|$1,200|$1,100|40|30|",
        "|Services|300|—|7|6|",
        "|Other (not allocated)||||5|",
        "|Total|$1,500|$1,100|47|41|",
    ]


def test_every_figure_of_a_table_has_a_name() -> None:
    (table,) = _of_html(SEGMENTS)
    lines = table.marked.split("\n")
    heads = [head.partition(":")[0] for head in lines[1].split("|")[2:-1]]
    named: dict[str, str] = {}
    for line in lines[3:]:
        label, *figures = line.split("|")[1:-1]
        named |= {f"{head}{label.split()[0]}": text for head, text in zip(heads, figures, strict=True) if text}
    assert named == {name: item.text for name, item in table.cells.items()}
    assert table.cells["C2"].label == "Services"


def test_columns_beyond_the_alphabet_have_two_letters() -> None:
    regions = range(30)
    rows = "\n".join(
        f"{label} | " + " | ".join(str(first + n) for n in regions) for label, first in (("Sales", 100), ("Cost", 10))
    )
    heads = " | ".join(f"Region {n}" for n in regions)
    (table,) = _of_html(f"<p>Volumes (in millions):</p>{html_table(chr(10) + '|' + heads + chr(10) + rows)}")
    assert "|AA: Region 26|AB: Region 27|" in table.marked
    assert (table.cells["AA1"].text, table.cells["AD2"].text) == ("126", "39")
    assert [letters(n) for n in (0, 25, 26, 51, 52, 701, 702)] == ["A", "Z", "AA", "AZ", "BA", "ZZ", "AAA"]


def test_every_figure_of_a_sentence_has_a_name() -> None:
    (block,) = _of_text("Outlook for the year is good. Sales were $12.5 million in the north and 30% more elsewhere.")
    assert "$12.5 million [A2]" in block.marked
    assert "30% [B2]" in block.marked
    assert "[A2]" not in block.text
    assert {mark: item.text for mark, item in block.cells.items()} == {"A2": "$12.5 million", "B2": "30%"}
    assert block.cells["A2"].value == 12.5e6


def test_a_table_over_a_page_break_is_shown_once_and_whole() -> None:
    heads = "<p>Property by class (in millions):</p>"
    first = html_table("\nDecember 31, | 2022 | 2021\nSales offices | 120 | 110\nPlants | 30 | 40")
    rest = html_table("\nSales vehicles | 50 | 40\nTotal property | 200 | 190")
    filing = parsed(heads + first, "<p>Property by class (continued)</p>" + rest)
    facts = OneFiling(filing)
    passages = [facts.whole_page(2), facts.whole_page(1)]
    (table,) = [b for b in evidence_blocks(Query("q", "sales"), passages, facts, ALL) if b.kind == "table"]
    assert table.text.split("\n")[3:] == [
        "|Sales offices|120|110|",
        "|Plants|30|40|",
        "|Sales vehicles|50|40|",
        "|Total property|200|190|",
    ]
    assert {item.page for item in table.cells.values()} == {1, 2}


@pytest.mark.parametrize("place", ["signatures", "contents", "exhibit_index"])
def test_pages_that_are_not_evidence_are_left_out(place: Place) -> None:
    assert _of_text("Sales rose in the year.", place) == ()


def test_a_consent_of_auditors_is_not_evidence() -> None:
    consent = "Consent of Independent Registered Public Accounting Firm\nWe consent to the use of our report on sales."
    assert _of_text(consent, "exhibit") == ()
    assert _of_text("List of sales by subsidiary, of which there were three in the year.", "exhibit")


def test_prose_has_its_heading_and_the_rest_of_its_sentences() -> None:
    filler = "They depend on the weather and on the prices of many raw materials."
    before = Page(0, f"{filler} Sales of widgets rose because of two acquisitions that were made by the company and")
    page = Page(1, f"of higher prices in all regions.\nOutlook\n{filler} Sales should be", headings="Outlook")
    after = Page(2, f"stable in the next year.\n{filler}")
    (block,) = _shown(ParsedFiling(FILING, (before, page, after)), 1, "why did sales rise", ALL)
    assert "Sales of widgets rose because of two acquisitions" in block.text
    assert block.text.index("**Outlook**") < block.text.index("stable in the next year.")


def test_two_passages_of_one_page_are_one_block() -> None:
    text = "Sales rose by a tenth in the year, mostly in the north of the country. " * 6
    facts = OneFiling(ParsedFiling(FILING, (Page(0, text),)))
    whole = facts.whole_page(0)
    halves = [replace(whole, end=250, text=text[:250]), replace(whole, start=220, text=text[220:])]
    (block,) = evidence_blocks(Query("q", "sales"), halves, facts, ALL)
    assert block.passages == tuple(halves)
    assert block.text.count("Sales rose") == 6


@given(st.text(alphabet=st.sampled_from("sales |\\`<1,0.\n\ufdfa"), max_size=2_000))
def test_hostile_pages_keep_to_the_budget(text: str) -> None:
    blocks = _of_text(text, settings=EvidenceSettings(max_tokens=200))
    assert sum(block.tokens for block in blocks) <= 200
    assert not re.search(r"(?<!\\)(?:\\\\)*[<`]", "".join(block.text + block.marked for block in blocks))


@pytest.mark.parametrize(
    "text",
    [lambda n: "sales | 1,000 | 2,000\n" * n, lambda n: "Sales rose. " * n, lambda n: "Sales\n1,000\n" * n],
    ids=["rows", "sentences", "cells"],
)
def test_a_page_is_rendered_in_time_in_proportion_to_its_length(text: Callable[[int], str]) -> None:
    assert_linear(lambda size: _of_text(text(size), settings=EvidenceSettings()), 8_000)
