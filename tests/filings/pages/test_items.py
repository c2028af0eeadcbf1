"""SEC Items of pages."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from finray.filings.pages.items import label_items

FILLER = "Words of the report that say nothing about its structure. " * 30
COVER_10K = "FORM 10-K\nAnnual report pursuant to Section 13\nFor the fiscal year ended December 31, 2022"
COVER_10Q = "FORM 10-Q\nQuarterly report pursuant to Section 13\nFor the quarterly period ended June 30, 2022"
TITLES_10K = {
    "1": "Business",
    "1A": "Risk Factors",
    "2": "Properties",
    "3": "Legal Proceedings",
    "7": "Management’s Discussion and Analysis",
    "7A": "Quantitative and Qualitative Disclosures",
    "8": "Financial Statements and Supplementary Data",
    "15": "Exhibits",
}
CONTENTS = "TABLE OF CONTENTS\n" + "\n".join(
    f"Item {item}. {title}\n{number}" for number, (item, title) in enumerate(TITLES_10K.items(), 3)
)


def _page(item: str, title: str) -> str:
    return f"Item {item}. {title}\n{FILLER}"


def test_items_run_from_heading_to_heading() -> None:
    pages = [COVER_10K, CONTENTS]
    for item, title in TITLES_10K.items():
        pages += [_page(item, title), FILLER]
    expected = [None, None] + [item for item in TITLES_10K for _ in range(2)]
    assert label_items(pages) == expected


def test_references_to_other_items_do_not_start_them() -> None:
    pages = [
        COVER_10K,
        _page("1", "Business"),
        f"{FILLER}\nItem 8 of this report has more.\n{FILLER}",
        _page("1A", "Risk Factors"),
        f"Item 7, “Management’s Discussion,”\n{FILLER}",
        _page("7", "Management’s Discussion and Analysis"),
        _page("8", "Financial Statements"),
    ]
    assert label_items(pages) == [None, "1", "1", "1A", "1A", "7", "8"]


def test_headings_with_odd_spaces_and_the_title_on_the_next_line() -> None:
    pages = [
        COVER_10K,
        f"ITEM\xa01.\nBUSINESS\n{FILLER}",
        f"ITEM\xa0 1A.\xa0 \xa0RISK FACTORS\n{FILLER}",
        f"Item 7.\nManagement’s Discussion\n{FILLER}",
    ]
    assert label_items(pages) == [None, "1", "1A", "7"]


def test_quarterly_items_are_numbered_by_part() -> None:
    pages = [
        COVER_10Q,
        f"PART I\n{_page('1', 'Financial Statements')}",
        _page("2", "Management’s Discussion"),
        _page("4", "Controls and Procedures"),
        f"PART II\n{_page('1', 'Legal Proceedings')}",
        _page("1A", "Risk Factors"),
        _page("6", "Exhibits"),
    ]
    assert label_items(pages) == [None, "P1-1", "P1-2", "P1-4", "P2-1", "P2-1A", "P2-6"]


def test_current_report() -> None:
    pages = ["FORM 8-K", f"Item 2.02 Results of Operations\n{FILLER}", "Exhibit 99.1"]
    assert label_items(pages) == [None, "2.02", "2.02"]


@given(st.lists(st.text(alphabet="Item 178A.\nPARTfinancial", max_size=200), max_size=5))
def test_any_text_gets_one_label_a_page(texts: list[str]) -> None:
    assert len(label_items(texts)) == len(texts)
