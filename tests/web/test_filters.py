"""Filters by company, form and fiscal year."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.slow, pytest.mark.browser]
Visit = Callable[..., "Page"]
Ask = Callable[["Page", str], None]


def choose(page: Page, typed: str) -> None:
    page.get_by_role("combobox").fill(typed)
    page.keyboard.press("Enter")


def test_a_filter_narrows_the_answer_and_the_other_filters(
    visit: Visit, ask_page: Ask, site: str, html_question: dict[str, Any]
) -> None:
    page = visit(site)
    choose(page, "outfitters")
    choose(page, "2022")
    assert page.locator(".chip").count() == 2
    assert page.locator(".filters .count").inner_text().startswith("1 of ")
    page.get_by_role("combobox").click()
    assert page.get_by_role("option").filter(has_text="10-K").count() == 1
    page.keyboard.press("Escape")
    with page.expect_request("**/v1/answer") as request:
        ask_page(page, html_question["question"])
    sent = json.loads(request.value.post_data or "")["filters"]
    assert sent["fiscal_years"] == [2022]
    assert any("outfitters" in name.lower() for name in sent["companies"])
    page.get_by_text("How it got there").click()
    filings = page.locator(".ranking").first.locator(".rank-title").all_inner_texts()
    assert filings and all("Outfitters" in title and "2022" in title for title in filings)


def test_chips_can_be_removed_and_a_narrow_refusal_offers_all_filings(
    visit: Visit, ask_page: Ask, site: str, html_question: dict[str, Any]
) -> None:
    page = visit(site)
    choose(page, "cloudworks")
    ask_page(page, html_question["question"])
    page.wait_for_selector(".answer.refused")
    page.get_by_role("button", name="Ask all filings").click()
    page.wait_for_selector(".answer.answered")
    assert page.locator(".chip").count() == 0
    choose(page, "10-K")
    page.get_by_role("button", name="Remove Form 10-K").click()
    assert page.locator(".chip").count() == 0


def test_an_unmatched_filter_shows_a_message(visit: Visit, site: str) -> None:
    page = visit(site)
    page.get_by_role("combobox").fill("no such thing")
    assert "Nothing like that" in page.get_by_role("listbox").inner_text()
