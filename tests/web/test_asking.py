"""Asking: stages, answers, refusals, failures, history, links."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

from tests.web.scripted import ScriptedService

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.slow, pytest.mark.browser]
Visit = Callable[..., "Page"]
Ask = Callable[["Page", str], None]


def test_a_question_is_answered_with_its_stages_cells_and_pages(
    visit: Visit, ask_page: Ask, site: str, html_question: dict[str, Any]
) -> None:
    page = visit(site)
    ask_page(page, html_question["question"])
    assert page.locator("[data-answer]").inner_text() == html_question["answer"]
    stages = page.locator(".stage")
    assert stages.locator(".name").all_inner_texts() == ["Question", "Filings", "Pages", "Evidence", "Answer"]
    assert page.locator(".stage.finished").count() == 5
    assert all(text.endswith(" s") for text in stages.locator(".time").all_inner_texts())
    assert "filing" in stages.nth(1).inner_text()
    evidence = html_question["evidence"][0]
    assert f"p. {evidence['page'] + 1}" in page.locator(".cells .cite").first.inner_text()
    assert page.locator(".cells .printed").first.inner_text().lstrip("$") in evidence["text"]
    page.get_by_text("How it got there").click()
    assert page.locator(".ranking .reason").first.is_visible()
    assert page.locator(".ranking .badge").first.inner_text() == "kept"


def test_an_example_is_asked_with_a_click(visit: Visit, site: str) -> None:
    page = visit(site)
    page.locator(".example").first.click()
    page.wait_for_selector("#answer-title")
    assert page.locator("[data-answer]").inner_text()


def test_stages_arrive_while_the_work_goes_on_and_it_can_be_cancelled(
    visit: Visit, scripted: str, scripted_service: ScriptedService
) -> None:
    page, closed = visit(scripted), scripted_service.closed
    page.get_by_label("Question", exact=True).fill("A slow one")
    page.keyboard.press("Enter")
    page.wait_for_selector(".stage.finished[data-stage=transform]")
    page.wait_for_selector(".stage.started[data-stage=documents]")
    page.get_by_role("button", name="Cancel").click()
    page.get_by_text("Cancelled. Nothing is at work").wait_for()
    deadline = time.monotonic() + 20
    while scripted_service.closed == closed and time.monotonic() < deadline:
        page.wait_for_timeout(50)
    assert scripted_service.closed == closed + 1
    assert page.get_by_role("button", name="Ask", exact=True).is_visible()


def test_a_new_question_replaces_a_running_one(visit: Visit, ask_page: Ask, scripted: str) -> None:
    page = visit(scripted)
    page.get_by_label("Question", exact=True).fill("A slow one")
    page.keyboard.press("Enter")
    page.wait_for_selector(".stage.started[data-stage=documents]")
    page.keyboard.press("Escape")
    ask_page(page, "A plain one")
    page.wait_for_selector("[data-answer]")
    page.wait_for_timeout(200)
    assert page.locator(".answer .asked").inner_text() == "A plain one"


def test_a_refusal_shows_missing_and_nearest_evidence(visit: Visit, ask_page: Ask, site: str) -> None:
    page = visit(site)
    ask_page(page, "What was Nonesuch Holdings' revenue in fiscal 2022?")
    card = page.locator(".answer.refused")
    assert "do not hold the answer" in card.inner_text()
    assert "Nonesuch" in card.locator(".list", has_text="What is missing").inner_text()
    assert card.locator(".list", has_text="What comes nearest").is_visible()
    assert card.locator(".warning").count() == 0


def test_two_iterations_and_missing_evidence_are_shown_separately(visit: Visit, ask_page: Ask, scripted: str) -> None:
    page = visit(scripted)
    ask_page(page, "Ask twice")
    assert page.locator("ol.stages").count() == 2
    page.get_by_text("How it got there").click()
    rounds = page.locator(".iteration")
    assert rounds.count() == 2
    assert "revenue of fiscal 2022" in rounds.first.inner_text()
    assert "And what was revenue the year before?" in rounds.first.inner_text()


def test_an_answer_that_is_not_grounded_warns(visit: Visit, ask_page: Ask, scripted: str) -> None:
    page = visit(scripted)
    ask_page(page, "An ungrounded one")
    assert "Not grounded" in page.locator(".answer .warning").inner_text()
    assert "Doubtful (confidence 20%)" in page.locator(".signs").inner_text()


def test_the_program_is_shown_with_names_and_with_numbers(visit: Visit, ask_page: Ask, scripted: str) -> None:
    page = visit(scripted)
    ask_page(page, "A plain one")
    formula = page.locator(".formula")
    assert formula.nth(0).inner_text() == "(revenue FY2023 − revenue FY2022) ÷ revenue FY2022"
    assert formula.nth(1).inner_text() == "(1,250 − 1,000) ÷ 1,000 = 25%"
    page.locator(".token").nth(1).click()
    page.wait_for_selector(".viewer mark.on-focus")
    assert page.locator(".viewer mark.on-focus").inner_text() == "1,000"


def test_failures_are_explained_with_the_request_id(visit: Visit, ask_page: Ask, scripted: str) -> None:
    page = visit(scripted)
    ask_page(page, "A broken one")
    alert = page.get_by_role("alert")
    assert "A model that this service needs cannot be reached; try again later." in alert.inner_text()
    assert len(alert.locator("code").inner_text()) >= 16
    page.route("**/v1/answer", lambda route: route.abort())
    page.get_by_role("button", name="Try again").click()
    page.get_by_text("The service cannot be reached").wait_for()


def test_a_full_service_shows_the_retry_time(visit: Visit, ask_page: Ask, scripted: str) -> None:
    body = {"error": {"message": "too much at once", "type": "rate_limit_error", "param": None, "code": "overloaded"}}
    page = visit(scripted)
    page.route(
        "**/v1/answer",
        lambda route: route.fulfill(status=429, headers={"Retry-After": "7"}, body=json.dumps(body)),
    )
    ask_page(page, "A plain one")
    assert "Too much at once. Try again in 7 seconds." in page.get_by_role("alert").inner_text()


def test_history_shows_earlier_answers_again_even_after_a_reload(visit: Visit, ask_page: Ask, scripted: str) -> None:
    page = visit(scripted)
    ask_page(page, "A plain one")
    ask_page(page, "A refused one")
    page.wait_for_selector(".answer.refused")
    page.reload()
    page.get_by_role("button", name="History: 2").click()
    past = page.locator(".past")
    assert past.locator(".past-question").all_inner_texts() == ["A refused one", "A plain one"]
    page.route("**/v1/answer", lambda route: route.abort())
    past.nth(1).click()
    assert page.locator("[data-answer]").inner_text() == "25.0%"
    assert page.evaluate("document.activeElement.id") == "answer-title"
    page.go_back()
    page.wait_for_selector(".answer.refused")


def test_a_link_fills_the_box_and_filters_and_asks_nothing(
    visit: Visit, scripted: str, scripted_service: ScriptedService
) -> None:
    asked = scripted_service.asked
    page = visit(f"{scripted}/#q={quote('A plain one?')}&form=10-K&year=2023")
    page.get_by_label("Question", exact=True).and_(page.locator(":focus")).wait_for()
    assert page.get_by_label("Question", exact=True).input_value() == "A plain one?"
    assert page.locator(".chip").all_inner_texts() == ["10-K", "2023"]
    page.evaluate("location.hash = 'q=Another+plain+one?'")
    deadline = time.monotonic() + 10
    while page.locator("#question").input_value() != "Another plain one?" and time.monotonic() < deadline:
        page.wait_for_timeout(20)
    assert page.locator("#question").input_value() == "Another plain one?"
    page.wait_for_timeout(300)
    assert scripted_service.asked == asked
    assert not page.locator("#result").is_visible()
    page.get_by_role("button", name="Ask", exact=True).click()
    page.wait_for_selector("[data-answer]")
    assert scripted_service.asked == asked + 1


def test_a_link_to_an_earlier_question_shows_its_answer_again(
    visit: Visit, ask_page: Ask, scripted: str, scripted_service: ScriptedService
) -> None:
    page = visit(scripted)
    ask_page(page, "A plain one")
    page.wait_for_selector("[data-answer]")
    asked = scripted_service.asked
    page.reload()
    page.wait_for_selector("[data-answer]")
    assert scripted_service.asked == asked


def test_answers_can_be_copied_and_downloaded(visit: Visit, ask_page: Ask, scripted: str, tmp_path: Path) -> None:
    page = visit(scripted, permissions=["clipboard-read", "clipboard-write"])
    ask_page(page, "A plain one")
    page.get_by_role("button", name="Copy answer").click()
    page.get_by_text("Answer copied with its sources").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("A plain one\n25.0%\nComputed as (revenue_fy2023")
    assert "fiscal 2023, p. 2" in copied
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the prediction as JSON").click()
    download.value.save_as(tmp_path / "prediction.json")
    assert json.loads((tmp_path / "prediction.json").read_text())["answer"] == "25.0%"


def test_a_key_is_asked_for_kept_and_taken_from_the_address(
    visit: Visit, ask_page: Ask, locked: str, web_key: tuple[str, str]
) -> None:
    page = visit(locked)
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("API key").fill("frk_wrong")
    page.keyboard.press("Enter")
    dialog.get_by_text("does not know this key").wait_for()
    dialog.get_by_label("API key").fill(web_key[1])
    page.keyboard.press("Enter")
    ask_page(page, "A plain one")
    assert page.locator("[data-answer]").inner_text() == "25.0%"

    other = visit(f"{locked}/#key={web_key[1]}")
    assert web_key[1] not in other.url
    assert other.locator("#key-dialog").count() == 0
    ask_page(other, "A plain one")
    assert other.locator("[data-answer]").is_visible()


def test_a_follow_up_shows_how_it_was_read(
    visit: Visit, ask_page: Ask, site: str, html_question: dict[str, Any]
) -> None:
    page = visit(site)
    question = html_question["question"]
    (year,) = set(re.findall(r"20\d\d", question))
    ask_page(page, question)
    page.get_by_label("Follow-up").fill(f"and in {int(year) - 1}?")
    page.keyboard.press("Enter")
    page.locator(".read-as").wait_for()
    read = page.locator(".read-as").inner_text()
    assert str(int(year) - 1) in read
    assert year not in read
    assert page.locator(".answer .asked").inner_text() == f"and in {int(year) - 1}?"
    assert page.get_by_label("Question", exact=True).input_value() in read
    page.get_by_label("Follow-up").fill("and last year?")
    page.keyboard.press("Enter")
    page.locator(".answer [data-answer]").get_by_text("leaves open which fiscal period").wait_for()
