"""Evidence pages: images with marks, text with marks, page navigation and zoom."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.slow, pytest.mark.browser]
Visit = Callable[..., "Page"]
Ask = Callable[["Page", str], None]


@pytest.fixture
def evidence(visit: Visit, ask_page: Ask, site: str, pdf_question: dict[str, Any]) -> Page:
    """The page after a question that a PDF answers."""
    page = visit(site)
    ask_page(page, pdf_question["question"])
    page.wait_for_selector(".sheet")
    return page


def test_the_page_is_shown_with_the_cell_and_passage_marked(evidence: Page, pdf_question: dict[str, Any]) -> None:
    gold = pdf_question["evidence"][0]
    assert evidence.locator("#viewer-title").inner_text().endswith(f"p. {gold['page'] + 1}")
    assert "marked:" in (evidence.locator(".sheet").get_attribute("alt") or "")
    with evidence.expect_response("**/image?*") as plain:
        evidence.get_by_role("button", name="Next page").click()
    assert "highlight" not in plain.value.url
    evidence.wait_for_selector(".sheet")
    with evidence.expect_response("**/image?*") as marked:
        evidence.get_by_role("button", name="Evidence", exact=True).click()
    assert "highlight=" in marked.value.url and "box=" in marked.value.url
    url, dpi = marked.value.url.split("?")[0], "dpi=90"
    assert dpi in marked.value.url
    unmarked = evidence.request.get(f"{url}?{dpi}")
    assert unmarked.ok and unmarked.body() != marked.value.body()


def test_the_text_next_to_it_marks_the_same_figure(evidence: Page) -> None:
    printed = evidence.locator(".cells .printed").first.inner_text().lstrip("$ ")
    figure = evidence.locator(".page-text mark.on-figure").first
    assert figure.inner_text() == printed
    assert figure.is_visible() and evidence.locator(".sheet").is_visible()
    row = evidence.locator(".page-text tr", has=evidence.locator("mark.on-figure")).first
    assert evidence.locator(".cell .what strong").first.inner_text() in row.inner_text()


BROKEN_WORDS = """() => {
    const broken = [], range = document.createRange();
    const walker = document.createTreeWalker(document.querySelector('.text'), NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        for (const match of walker.currentNode.data.matchAll(/[A-Za-z]+/g)) {
            range.setStart(walker.currentNode, match.index);
            range.setEnd(walker.currentNode, match.index + match[0].length);
            if (range.getClientRects().length > 1) broken.push(match[0]);
        }
    }
    return broken;
}"""


def test_the_text_pane_breaks_no_word_and_cuts_no_column(evidence: Page) -> None:
    assert evidence.locator(".text table").count() > 0
    cut = (
        "[...document.querySelectorAll('.text .table')].filter(each => each.scrollWidth > each.clientWidth + 1).length"
    )
    for width in (1180, 1280, 1600):
        evidence.set_viewport_size({"width": width, "height": 800})
        assert evidence.evaluate(BROKEN_WORDS) == []
        assert evidence.evaluate(cut) == 0


def test_a_cell_of_the_computation_leads_to_its_place_on_the_page(evidence: Page) -> None:
    evidence.locator(".cells .cite").first.click()
    evidence.wait_for_selector(".spot")
    assert evidence.evaluate("document.activeElement.id") == "viewer-title"
    spot, sheet = evidence.locator(".spot").bounding_box(), evidence.locator(".sheet").bounding_box()
    paper = evidence.locator(".paper").bounding_box()
    assert spot and sheet and paper
    assert sheet["x"] <= spot["x"] and spot["x"] + spot["width"] <= sheet["x"] + sheet["width"]
    assert paper["y"] <= spot["y"] <= paper["y"] + paper["height"], "what was asked for is in view"


def test_zoom_and_the_choice_of_image_and_text(evidence: Page) -> None:
    before = evidence.locator(".sheet").bounding_box()
    evidence.get_by_role("button", name="Zoom in").click()
    evidence.wait_for_selector(".sheet")
    after = evidence.locator(".sheet").bounding_box()
    assert before and after and after["width"] == pytest.approx(before["width"] * 1.5, rel=0.03)
    evidence.get_by_role("button", name="Text", exact=True).click()
    assert evidence.locator(".paper").is_hidden()
    evidence.get_by_role("button", name="Image", exact=True).click()
    assert evidence.locator(".paper").is_visible() and evidence.locator(".text").is_hidden()


def test_pages_can_be_turned_from_the_keyboard_to_the_ends_and_not_beyond(evidence: Page) -> None:
    evidence.locator("#viewer-title").focus()
    number = int(evidence.locator(".bar-row .number").first.inner_text().removeprefix("p. "))
    for _ in range(number + 1):
        evidence.keyboard.press("[")
        evidence.wait_for_selector(".sheet")
    assert evidence.locator(".bar-row .number").first.inner_text() == "p. 1"
    assert evidence.get_by_role("button", name="Previous page").is_disabled()


def test_a_filing_without_images_is_shown_as_text_with_tables(
    visit: Visit, ask_page: Ask, site: str, html_question: dict[str, Any]
) -> None:
    page = visit(site)
    ask_page(page, html_question["question"])
    page.get_by_text("This filing is HTML, so here is its text.").wait_for()
    assert page.locator(".paper").is_hidden()
    assert page.locator(".page-text mark.on-passage").count() > 0
    figure, text = page.locator(".rendered td mark.on-figure"), page.locator(".text")
    assert figure.inner_text().lstrip("$") in html_question["evidence"][0]["text"]
    assert "Fiscal Year Ended" in page.locator(".rendered th").first.inner_text()
    place, pane = figure.bounding_box(), text.bounding_box()
    assert place and pane and pane["y"] <= place["y"] <= pane["y"] + pane["height"], "the figure is in view"


def test_a_source_that_is_gone_leaves_the_text(
    visit: Visit, ask_page: Ask, site: str, pdf_question: dict[str, Any]
) -> None:
    page = visit(site)
    body = '{"error": {"message": "gone", "type": "invalid_request_error", "param": null, "code": "not_found"}}'
    page.route("**/image?*", lambda route: route.fulfill(status=404, body=body))
    ask_page(page, pdf_question["question"])
    page.get_by_text("The source of this filing cannot be reached, so here is its text.").wait_for()
    assert page.locator(".page-text mark").count() > 0
