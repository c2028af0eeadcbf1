"""Accessibility: keyboard, screen reader, phone, dark mode."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.slow, pytest.mark.browser]
Visit = Callable[..., "Page"]
Ask = Callable[["Page", str], None]
FOCUSED = "document.activeElement.getAttribute('aria-label') ?? document.activeElement.innerText"


def violations(page: Page) -> list[str]:
    """Violations that axe-core reports, by rule and element."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    found = axe.Axe().run(
        page, options={"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
    )
    return [f"{rule['id']}: {node['html'][:200]}" for rule in found.response["violations"] for node in rule["nodes"]]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("question", ["", "twice", "refused", "ungrounded", "broken"])
def test_axe_finds_nothing(visit: Visit, ask_page: Ask, scripted: str, scheme: str, question: str) -> None:
    page = visit(scripted, color_scheme=scheme)
    if question:
        ask_page(page, question)
        page.locator("details").evaluate_all("all => all.forEach(each => each.open = true)")
        if question in ("twice", "ungrounded"):
            page.wait_for_selector(".page-text mark")
    assert violations(page) == []


def test_axe_finds_nothing_in_open_lists_and_dialogs(visit: Visit, ask_page: Ask, scripted: str, locked: str) -> None:
    page = visit(scripted)
    ask_page(page, "plain")
    page.get_by_role("combobox").click()
    assert violations(page) == []
    page.keyboard.press("Escape")
    page.get_by_role("button", name="History: 1").click()
    assert violations(page) == []
    assert violations(visit(locked)) == []


def test_axe_finds_nothing_next_to_an_image(
    visit: Visit, ask_page: Ask, site: str, pdf_question: dict[str, Any]
) -> None:
    page = visit(site)
    ask_page(page, pdf_question["question"])
    page.wait_for_selector(".sheet")
    assert violations(page) == []


def test_everything_can_be_done_from_the_keyboard(visit: Visit, ask_page: Ask, scripted: str) -> None:
    page = visit(scripted)
    page.keyboard.press("Tab")
    assert page.evaluate(FOCUSED) == "Skip to the answer"
    while page.evaluate("document.activeElement.id") != "question":
        page.keyboard.press("Tab")
    page.keyboard.type("first line")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("plain")
    assert page.locator("#result").is_hidden()
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-answer]")
    assert page.locator("#live").inner_text() == "Answer: 25.0%."
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "filter"
    page.keyboard.press("ArrowDown")
    active = page.get_by_role("combobox").get_attribute("aria-activedescendant")
    assert page.locator(f"#{active}").get_attribute("aria-selected") == "true"
    page.keyboard.press("Enter")
    assert page.locator(".chip").count() == 1
    page.keyboard.press("Backspace")
    assert page.locator(".chip").count() == 0
    for _ in range(40):
        page.keyboard.press("Tab")
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
        if page.evaluate("document.activeElement.classList.contains('token')"):
            break
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "viewer-title"


def test_dialogs_take_the_focus_and_give_it_back(visit: Visit, ask_page: Ask, scripted: str) -> None:
    page = visit(scripted)
    ask_page(page, "plain")
    page.locator("#history-button").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.closest('dialog') !== null")
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.id") == "history-button"


@pytest.mark.parametrize("width", [320, 360, 768, 1440])
def test_no_width_scrolls_sideways(
    visit: Visit, ask_page: Ask, site: str, pdf_question: dict[str, Any], width: int
) -> None:
    page = visit(site, width=width, height=740)
    sideways = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(sideways) <= 0
    page.get_by_role("combobox").click()
    assert page.evaluate(sideways) <= 0
    page.keyboard.press("Escape")
    ask_page(page, pdf_question["question"])
    page.wait_for_selector(".sheet")
    page.get_by_text("How it got there").click()
    assert page.evaluate(sideways) <= 0
    button = page.locator("#submit").bounding_box()
    assert button and button["height"] >= 40


def test_dark_and_light_follow_the_system_and_the_switch(visit: Visit, scripted: str) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    light, dark = visit(scripted).evaluate(ground), None
    page = visit(scripted, color_scheme="dark")
    dark = page.evaluate(ground)
    assert dark != light
    page.get_by_role("button", name="Theme: Auto").click()
    assert page.evaluate(ground) == light
    page.reload()
    page.get_by_role("button", name="Theme: Light").click()
    assert page.evaluate(ground) == dark
