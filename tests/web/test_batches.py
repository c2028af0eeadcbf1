"""The page for batches: paste or drop, progress, stop and resume, filters, an answer beside its page, downloads."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import openpyxl
import pytest

from finray.api.app import create_app
from finray.api.batches.batches import Batches
from finray.api.keys import KeyRing
from finray.api.service import LocalService
from finray.core.settings import Settings
from tests.api.batch_service import Borrowed, Decided
from tests.web.scripted import HOSTILE, ScriptedService

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.slow, pytest.mark.browser]
Visit = Callable[..., "Page"]


class DecidedWithPages(Decided):
    """Answers that a test decides, and the filings of the scripted service."""

    async def read(self, key: str, work: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if work.__name__ == "named_filings":
            return {}
        return await ScriptedService().read(key, work, *args, **kwargs)


@pytest.fixture
def decided(local_settings: Settings) -> DecidedWithPages:
    return DecidedWithPages(local_settings)


@pytest.fixture
def url(decided: DecidedWithPages, local_settings: Settings, tmp_path: Path, listen: Callable[[Any], str]) -> str:
    batches = Batches(str(tmp_path / "batches"), decided, local_settings)
    return listen(create_app(decided, local_settings.serving, None, batches=batches)) + "/batches.html"


@pytest.fixture(scope="module")
def real_url(
    web_index: str, local_settings: Settings, tmp_path_factory: pytest.TempPathFactory, listen: Callable[[Any], str]
) -> Iterator[str]:
    with closing(LocalService(web_index, local_settings)) as service:
        service.wait_until_ready()
        borrowed: Any = Borrowed(service)
        batches = Batches(str(tmp_path_factory.mktemp("batches")), borrowed, local_settings)
        yield listen(create_app(borrowed, local_settings.serving, None, batches=batches)) + "/batches.html"


def drop(page: Page, name: str, content: bytes) -> None:
    """Drop a file on the page."""
    data = page.evaluate_handle(
        """([name, bytes]) => {
            const data = new DataTransfer();
            data.items.add(new File([new Uint8Array(bytes)], name));
            return data;
        }""",
        [name, list(content)],
    )
    page.dispatch_event("#main", "drop", {"dataTransfer": data})


def state(page: Page, text: str) -> None:
    page.locator("#batch-state", has_text=text).wait_for()


def test_pasted_questions_are_answered_stopped_resumed_filtered_and_downloaded(
    visit: Visit, url: str, decided: DecidedWithPages, tmp_path: Path
) -> None:
    page = visit(url)
    asked = [f"one {HOSTILE}", "refused, or is it?", "unsure?", "ungrounded?", "broken?", "slow?"]
    page.get_by_label("Questions, one a line").fill("\n\n".join(asked))
    page.get_by_role("button", name="Ask them").click()
    state(page, "5 of 6 questions, running")
    rows = page.locator(".answers tbody tr")
    assert rows.count() == 6
    assert HOSTILE in rows.nth(0).inner_text() and "1.5 billion" in rows.nth(0).inner_text()
    assert "Not in the filings: filings" in rows.nth(1).inner_text()
    assert "low confidence" in rows.nth(2).inner_text() and "30%" in rows.nth(2).inner_text()
    assert "not grounded" in rows.nth(3).inner_text()
    page.get_by_role("button", name="Stop").click()
    state(page, "stopped")
    page.reload()
    state(page, "5 of 6 questions, stopped")
    decided.released = True
    page.get_by_role("button", name="Resume").click()
    state(page, "6 of 6 questions, done")
    page.get_by_role("button", name="Retry errors").click()
    page.locator("#show-error").wait_for(state="detached")
    state(page, "6 of 6 questions, done")
    for name, found in (("Refused 1", "refused,"), ("Low confidence 1", "unsure"), ("Not grounded 1", "ungrounded")):
        page.get_by_role("button", name=name).click()
        page.locator(".answers tbody tr", has_text=found).wait_for()
        page.locator(".answers tbody tr").nth(1).wait_for(state="detached")
    page.get_by_role("button", name="ungrounded?").click()
    assert page.get_by_label("Follow-up").count() == 0  # a batch is no conversation
    page.get_by_text("Not grounded.").wait_for()
    page.locator("#viewer .page-text").wait_for()
    assert "p. 42" in page.locator("#viewer-title").inner_text()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Excel").click()
    assert saved.value.suggested_filename == "6_pasted_questions.answers.xlsx"
    saved.value.save_as(tmp_path / "a.xlsx")
    book = openpyxl.load_workbook(tmp_path / "a.xlsx")
    assert len(list(book["answers"].values)) == 7
    assert page.evaluate("window.pwned") is None
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Delete").click()
    page.locator("#batch").wait_for(state="hidden")
    page.locator(".batch-item").wait_for(state="detached")


def test_a_dropped_table_and_one_that_cannot_be_used(visit: Visit, url: str) -> None:
    page = visit(url)
    drop(page, "notes.pdf", b"%PDF")
    page.get_by_role("alert").filter(has_text="'notes.pdf': a file of questions ends in").wait_for()
    drop(page, "panel.csv", "Firma;Thema\nMüller;Umsatz\n".encode("cp1252"))
    state(page, "failed")
    page.get_by_role("alert").filter(has_text="name it by question_column").wait_for()
    page.locator("summary").click()
    page.get_by_label("Column of questions").fill("Thema")
    drop(page, "panel.csv", "Firma;Thema\nMüller;Umsatz\n".encode("cp1252"))
    state(page, "1 of 1 questions, done")
    page.get_by_text("Windows-1252").wait_for()
    drop(page, "notes.txt", b"One?\r\n\r\nTwo, or three?\r\n")
    state(page, "2 of 2 questions, done")
    assert page.locator(".batch-item").count() == 3


def test_an_answer_opens_beside_the_picture_of_its_page(
    visit: Visit, real_url: str, pdf_question: dict[str, Any], html_question: dict[str, Any]
) -> None:
    page = visit(real_url)
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for row in (("Panel of Ana",), ("Nr", "Question"), (1, pdf_question["question"]), (2, html_question["question"])):
        sheet.append(row)
    content = io.BytesIO()
    book.save(content)
    drop(page, "panel.xlsx", content.getvalue())
    state(page, "2 of 2 questions, done")
    page.get_by_role("button", name=pdf_question["question"]).click()
    page.locator(".sheet").wait_for()
    assert page.locator("#viewer-title").inner_text().endswith(f"p. {pdf_question['evidence'][0]['page'] + 1}")
    assert page.locator("tr.shown").count() == 1
    assert page.evaluate("document.activeElement.id") == "answer-title"


def test_a_key_is_asked_for_and_a_phone_has_room(
    visit: Visit,
    decided: DecidedWithPages,
    web_key: tuple[str, str],
    local_settings: Settings,
    tmp_path: Path,
    listen: Callable[[Any], str],
) -> None:
    batches = Batches(str(tmp_path / "locked"), decided, local_settings)
    app = create_app(decided, local_settings.serving, KeyRing(web_key[0], 0.0), batches=batches)
    page = visit(listen(app) + "/batches.html", width=360, height=740)
    page.get_by_label("API key").fill(web_key[1])
    page.get_by_role("button", name="Use this key").click()
    page.get_by_label("Questions, one a line").fill("one?")
    page.get_by_role("button", name="Ask them").click()
    state(page, "1 of 1 questions, done")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
