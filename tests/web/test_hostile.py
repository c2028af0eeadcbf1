"""Text of filings, models and users is shown as text: none of it runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

from tests.web.scripted import HOSTILE

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.slow, pytest.mark.browser]
Visit = Callable[..., "Page"]
Ask = Callable[["Page", str], None]


def assert_harmless(page: Page) -> None:
    page.wait_for_timeout(300)
    assert page.evaluate("window.pwned") is None
    assert page.locator("img[src=x]").count() == 0
    assert page.locator("body script").count() == 0


@pytest.mark.parametrize("kind", ["hostile", "refused", "twice", "plain"])
def test_markup_in_every_field_of_a_reply_is_shown_as_text(
    visit: Visit, ask_page: Ask, scripted: str, kind: str
) -> None:
    page = visit(scripted)
    ask_page(page, f"{kind} {HOSTILE}")
    page.locator("details").evaluate_all("all => all.forEach(each => each.open = true)")
    assert HOSTILE in page.locator("#answer").inner_text()
    assert HOSTILE in page.locator("#trace").inner_text()
    if kind != "refused":
        page.wait_for_selector(".page-text p")
        assert HOSTILE in page.locator(".viewer").inner_text()
        assert page.locator(".rendered").inner_text().count(HOSTILE) == 2
    page.get_by_role("button", name="History: 1").click()
    assert HOSTILE in page.locator(".past-question").inner_text()
    assert_harmless(page)


def test_markup_in_a_link_is_shown_as_text(visit: Visit, scripted: str) -> None:
    page = visit(f"{scripted}/#q={quote(f'plain {HOSTILE}')}&company={quote(HOSTILE)}&form={quote(HOSTILE)}")
    assert_harmless(page)
    page.get_by_role("button", name="Ask", exact=True).click()
    page.wait_for_selector("#answer-title")
    assert page.locator(".chip").first.inner_text() == HOSTILE
    assert_harmless(page)


def test_markup_in_a_filing_is_shown_as_text(
    visit: Visit, ask_page: Ask, site: str, html_question: dict[str, Any]
) -> None:
    page = visit(site)
    ask_page(page, html_question["question"])
    page.wait_for_selector(".page-text mark")
    assert '<img src=x onerror="window.pwned=1"><script>' in page.locator(".page-text").inner_text()
    assert_harmless(page)


def test_a_script_that_got_in_would_not_run(visit: Visit, scripted: str) -> None:
    page = visit(scripted, strict=False)
    blocked = page.evaluate(
        """() => new Promise((resolve) => {
            document.addEventListener("securitypolicyviolation", (event) => resolve(event.effectiveDirective));
            const script = document.createElement("script");
            script.textContent = "window.pwned = 1";
            document.body.append(script);
            setTimeout(() => resolve("nothing"), 2000);
        })"""
    )
    assert blocked == "script-src-elem"
    assert page.evaluate("window.pwned") is None


def test_the_page_sends_requests_only_to_the_service(visit: Visit, ask_page: Ask, scripted: str) -> None:
    page = visit(scripted)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.reload()
    ask_page(page, "plain")
    assert asked and all(url.startswith((scripted, "blob:")) for url in asked)
