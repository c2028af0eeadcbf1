"""Headings of pages, recognized by their form."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from finray.filings.pages.headings import MAX_HEADINGS, page_headings


def headings(*lines: str) -> list[str]:
    return page_headings(["\n".join(lines)])[0].splitlines()


def test_titles_are_headings_and_sentences_are_not() -> None:
    assert headings(
        "Note 5 - Acquisitions and Divestitures",
        "On August 1, 2022, the Company completed the acquisition of a plant.",
        "Legal Proceedings",
        "we are party to a variety of litigation",
    ) == ["Note 5 - Acquisitions and Divestitures", "Legal Proceedings"]


def test_an_item_may_end_with_a_full_stop() -> None:
    assert headings("Item 3. Legal Proceedings.") == ["Item 3. Legal Proceedings."]


def test_the_label_of_a_row_is_not_a_heading_but_a_title_before_years_is() -> None:
    assert headings("Segment Results", "2022", "2021", "Net Sales", "$", "1,234", "1,100") == ["Segment Results"]


def test_of_a_list_of_names_only_the_head_is_kept() -> None:
    places = [f"Town{chr(65 + at)} Plant" for at in range(20)]
    assert headings("Property Type", *places, "Item 3. Legal Proceedings.") == [
        "Property Type",
        "TownA Plant",
        "Item 3. Legal Proceedings.",
    ]


def test_running_headers_are_left_out() -> None:
    pages = page_headings([f"Acme Annual Report\nSubject {chr(65 + at)} Matters\nsome text here" for at in range(10)])
    assert all("Acme" not in page for page in pages)
    assert pages[1] == "Subject B Matters"


@given(st.lists(st.text(max_size=400), max_size=6))
def test_any_text_gives_one_entry_a_page(texts: list[str]) -> None:
    found = page_headings(texts)
    assert len(found) == len(texts)
    assert all(len(page.splitlines()) <= MAX_HEADINGS * 2 for page in found)
